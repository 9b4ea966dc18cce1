"""What can be asked over a socket: one table of methods per origin, one handler per row.

Handlers are thin: parameters are checked already, the runtime decides, and `views` puts its answer into wire types. The
agent's table holds nothing that could approve anything.
"""
