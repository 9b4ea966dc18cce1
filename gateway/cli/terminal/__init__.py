"""The agent at a terminal: screen and keyboard for the loop, with a gateway in the same process.

It bypasses no check. The loop calls the gateway's own methods over a connection of its own, its model requests pass the same
`/v1`, and consent goes through the same approvals as on the console, against a challenge.
"""
