"""The wire: every shape of protocol.md as a type, and the way between bytes and those types.

Sans-I/O: no socket, no clock, no await. What comes in is hostile until a model here has accepted it; what goes out is
built from these models only, so a member that is not in the contract cannot leave. The browser's TypeScript is generated
from the same models (`schema.py`).
"""
