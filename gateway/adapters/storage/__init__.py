"""Durable state: the ledger, its audit log and everything that is read back, in one SQLite file with one writer."""
