"""The agent loop, on this side of the wire. Pure: prompts go in as data and come out as messages.

The same design stands in `web/src/agent`; both read the same words and are held to the same golden vectors.
"""
