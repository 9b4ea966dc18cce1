"""MCP servers as sources of tools: one more process for each server, so that nothing that a server sends is read here.

    settings     what the operator writes about one server
    access       the access token that the worker has, and what follows when the server refuses it
    driver       the SourceDriver: what is offered, a call, its end
    connection   the worker process as the gateway sees it: lines both ways, with limits, and their answers
    fork_server  the process that workers are forked from, as the gateway sees it
    launching    starting the worker and, for a server that is a program, the server in its sandbox
    programs     which files a command needs beside those that every program may read
    wire         what gateway and worker say to each other, and how much

    asking       what a server asks the person during a call
    worker/      the other process: the official SDK behind transports with limits; imported by nothing else here

The gateway never imports the SDK: that takes a second and 30 MB.
"""
