"""An independent client of the gateway, written against protocol.md and nothing else, and the process it talks to."""
