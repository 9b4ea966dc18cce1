"""The policy room: reads the operator's documents, refuses what could be misread, and judges calls by Cedar.

`documents` reads, `profiles` and `rules` check, `cedar` judges, `cases` holds the decision table to it. Nothing outside
this room knows which engine it is.
"""
