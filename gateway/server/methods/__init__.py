"""The methods of a socket: one table per origin, one handler per row.

Handlers are thin: parameters are validated already, the runtime decides, and `views` converts its result to wire types. No
method of the agent's table can approve a call.
"""
