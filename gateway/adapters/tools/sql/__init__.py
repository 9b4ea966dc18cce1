"""A database as a source of tools: what is in it, reading it, and proposing changes to it.

    settings      what the operator says of one database
    driver        the SourceDriver: three tools, and which engine answers them
    dialects      how sqlglot reads either database's SQL, and which functions a statement may call
    statements    one statement as text that may be sent, decided on its syntax tree
    syntax        text to tree and back
    schema        tables and columns, and which of them a statement may reach
    engine        what an engine does: look, query, rehearse, change
    sqlite        an engine: one process for each statement; sqlite_process is that process's program
    postgresql    an engine: one connection for each statement; wire opens it
    rows          rows as JSON and as text

A statement is refused twice: by the syntax tree, before any database sees it, and by the database, which would refuse it too.
"""
