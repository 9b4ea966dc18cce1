"""Where tools run that are programs of their own.

    cage          what a job, its limits and its end are; the one interface of both mechanisms
    choice        which mechanism this machine has, or why it has none
    bubblewrap    the cage of namespaces
    landlock      the cage without them, for machines that allow none
    seccomp       the filter over system calls that both have; syscalls: their numbers
    visible       what of the machine a job may read
    limits        what a job may take
    ordinary      who a job runs as when the gateway is root
    running       a job from its folder to its end; attendance: staying with it meanwhile

and on the other side of the start, of the standard library alone:

    launcher      the program that becomes the job
    kernel        system calls that Python has no function for
    tree          a process and all that came of it
"""
