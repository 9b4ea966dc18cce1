"""The gateway as a server of the Model Context Protocol: a person's tools for any MCP client, through the same gate.

A client is as little trusted as the browser's tab. Each connection is an agent session of its own, its calls are recorded with
the runner `mcp-client`, and nothing that it sends can answer a question: people do that on the console. The protocol itself is
the SDK's; it is imported with the first client, since that takes a second.
"""
