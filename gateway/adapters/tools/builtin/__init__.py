"""The tools that come with the gateway.

workspace     files of one folder, the machine's figures, the caller's own calls
web           one GET of a public page
paths         paths as models write them; beneath: opening one that cannot leave the folder
files         listing, reading, writing and deleting; searching: finding in them
status        the machine's own figures
egress        which addresses may be reached, decided once and pinned
fetching      one GET through that guard, with every quantity capped; reading: HTML as text
"""
