"""Web push: messages that only one browser can read, carried by its vendor's service.

RFC 8291 encrypts, RFC 8292 says who sends, RFC 8030 is the request. How it leaves the machine is given by whoever wires this.
"""
