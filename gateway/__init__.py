"""Countersign's gateway: it publishes tools, checks each call, asks a person, runs the tool once, and keeps the proof."""

__version__ = "0.1.0"
