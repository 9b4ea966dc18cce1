"""Attempts at getting out of a sandbox, as a program that runs without one and in each.

Its targets come as JSON on stdin, and what came of each attempt goes to stdout. Each attempt runs in a process of its own: it
comes to `reached`, or to the name of the error that stopped it. Run without a sandbox first, all of them must be able to reach
what they are after; only then does it say something that they do not inside.

    attempts    how an attempt is declared and makes system calls
    files, network, processes, system_calls    the attempts
    run         the program, started by `START` in the folder that holds this package; of the standard library alone
"""

START = "import sys; sys.path.insert(0, '.'); from probes.run import main; main()"
