"""An independent client of the gateway, written against docs/PROTOCOL.md and nothing else, and the gateway as a child process."""
