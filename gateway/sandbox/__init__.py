"""Running a program so that it can touch nothing but what it was given: files, network, processes, memory and time.

This package imports nothing of the gateway: it knows no tools, calls or people. A caller that needs a program confined
describes it as a `Job` and translates a `SandboxError` into an error of its own.

    job             what a job, its limits and its result are; `Sandbox`, the one interface of both mechanisms
    choice          which mechanism this machine has, or why it has none
    bubblewrap      the mechanism that builds namespaces
    landlock        the mechanism without namespaces, for machines that allow none
    seccomp         the filter over system calls that both have; syscalls: their numbers
    machine_paths   which files of the machine a job may read
    monitoring      the limits of a job: those of the kernel, and those that are observed
    uid_pool        the user that a job runs as when this process is root
    opening         opening a path through no link
    running         a job from its folder to its end; supervisor: what happens in between

Imported by a job's launcher, and therefore of the standard library alone:

    launcher        the program that becomes the job
    kernel          system calls that Python has no function for
    process_tree    a process and all its descendants
"""
