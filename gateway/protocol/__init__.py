"""The wire: every shape of docs/PROTOCOL.md as a type, and the conversion between bytes and those types.

Sans-I/O: no socket, no clock, no await. Input is untrusted until a model here has accepted it. Output is
built from these models only, so no member outside the contract is ever sent. The browser's TypeScript is generated
from the same models (`schema.py`).
"""
