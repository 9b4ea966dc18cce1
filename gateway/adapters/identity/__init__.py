"""Authentication: passkey ceremonies and signed cookie values. Stateless; challenges, rows and times come in as values."""
