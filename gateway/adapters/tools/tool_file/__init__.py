"""Programs as tools, described in a JSON file (docs/TOOLS.md).

document    reading such a file, whole or not at all
command     how a call's arguments become a program's, and how that reads to a person
programs    running one in the sandbox, and what it wrote as a result
source      the file as a ToolSource
"""
