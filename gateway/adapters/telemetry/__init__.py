"""Metrics for monitoring. Lossy on purpose; the audit log is the record."""
