"""The policy: reads the operator's documents, refuses what could be misread, and decides by Cedar.

`documents` reads, `profiles` and `rules` check, `cedar` decides, `cases` checks the policy against its decision table.
Nothing outside this package knows which engine it is.
"""
