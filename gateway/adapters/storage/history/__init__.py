"""The calls of the audit log in a database of their own, made from the log and made again whenever it does not fit."""
