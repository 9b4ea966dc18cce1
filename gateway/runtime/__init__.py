"""The driver: one call from proposal to proof, through ports only.

This room is asynchronous and knows no library but the standard one. What it needs from the world stands in `ports/`;
what it decides stands in `gateway.core`.
"""
