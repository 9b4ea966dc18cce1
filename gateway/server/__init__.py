"""HTTP and WebSocket: two origins on one port, distinguished by Host, which share only the process.

`routes.py` is the table of all endpoints; a request that has no row is not found. `access.py` identifies and authorizes the
caller before a handler runs. Handlers are thin: they read a body that was validated already, call the runtime and write its
result as a response.
"""
