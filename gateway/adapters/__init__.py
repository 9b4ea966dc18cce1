"""The implementations of the ports: one package per family of ports, and no family imports another.

`storage` keeps the ledger, `policy` decides, `tools` run tools, `inference` asks models, `identity` verifies people, `system`
has the clock and randomness. Each implements ports of `gateway.runtime.ports`; only the composition root names them.
"""
