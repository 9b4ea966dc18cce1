"""HTTP and WebSocket: two origins on one port, told apart by Host, with nothing shared but the process.

`routes.py` is the table of everything that can be asked for; a request without a row does not exist. `access.py` decides
who asks and whether they may before a handler runs. Handlers are thin: they read a body that was checked already, call
the runtime and word its answer.
"""
