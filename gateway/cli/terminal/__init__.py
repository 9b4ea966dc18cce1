"""The agent at a terminal: a person's eyes and keyboard around the loop, beside a gateway in the same process.

It gets no shortcut. The loop speaks to the gateway's own methods over a connection of its own, its model requests pass the
same `/v1`, and consent is given to the same desk as on the console, against a challenge.
"""
