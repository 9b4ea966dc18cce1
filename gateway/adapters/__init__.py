"""Where the house meets the world: one folder per family of ports, and no family knows another.

`storage` keeps the ledger, `policy` judges, `tools` act, `inference` asks models, `identity` verifies people, `system` tells
time. Each implements ports of `gateway.runtime.ports`; only the composition root names them.
"""
