"""How well the local models call tools, measured: `python -m eval`."""
