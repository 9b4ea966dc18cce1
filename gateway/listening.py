"""What a start needs of the machine, checked and opened before anything else, so that a want of it is reported at once."""

from __future__ import annotations

import errno
import resource
import socket
import sys
from typing import Final

from gateway.core.effects import escape
from gateway.core.errors import Misconfigured
from gateway.server.control import SOCKET_NAME
from gateway.settings import Settings

BACKLOG = 1024
"""Connections that may wait to be accepted."""

DESCRIPTORS: Final = 256
"""An idle gateway has some 30 open, each connection one, each program about ten: with fewer, a small crowd shuts all out."""

ENOUGH_DESCRIPTORS: Final = 16_384
"""More than all connections, programs and databases of a gateway take. The limit is raised no further: what a gateway starts
inherits it, and some programs close every descriptor that there could be, one by one."""

LONGEST_SOCKET_PATH: Final = 107 if sys.platform.startswith("linux") else 103
"""Bytes of a Unix socket's path: `sun_path` has 108 on Linux and 104 on macOS, one of them for its end."""


def check_limits(settings: Settings) -> str:
    """What the machine and the state folder allow, in words; this process takes as many open files as it may have.

    Raises Misconfigured where that is too little.
    """
    files = _raise_descriptors()
    if files != resource.RLIM_INFINITY and files < DESCRIPTORS:
        raise Misconfigured(
            f"this process may open {files} files (RLIMIT_NOFILE), and a gateway needs {DESCRIPTORS}; run `ulimit -n 4096` first"
        )
    octets = len(bytes(settings.state / SOCKET_NAME))
    if octets > LONGEST_SOCKET_PATH:
        raise Misconfigured(
            f"the path of `state` is {octets - LONGEST_SOCKET_PATH} bytes too long for a Unix socket in it; it should have "
            f"at most {LONGEST_SOCKET_PATH - len(SOCKET_NAME) - 1}, and a relative path counts as it is written"
        )
    count = "any number of" if files == resource.RLIM_INFINITY else str(files)
    return f"{count} open files; the path of the state folder is short enough"


def _raise_descriptors() -> int:
    """How many files this process may open, once it has taken what it may take by itself. Most machines let a process begin with
    1,024, which are fewer than the connections that a gateway accepts, and raise that to much more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        # macOS has a limit of its own below the hard one.
        return soft
    return wanted


def listen(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say. Raises Misconfigured."""
    try:
        return socket.create_server((settings.host, settings.port), backlog=BACKLOG)
    except UnicodeError:
        raise Misconfigured(_no_address(settings)) from None
    except OSError as error:
        # The errors of `getaddrinfo` are below zero.
        if error.errno == errno.EADDRNOTAVAIL or (error.errno or 0) < 0:
            raise Misconfigured(_no_address(settings)) from None
        raise Misconfigured(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}); stop what uses it or set another --port"
        ) from None


def _no_address(settings: Settings) -> str:
    return f"`host` is `{escape(settings.host)}`; it should be an IPv4 address of this machine, like `127.0.0.1`"


def listen_or_any(settings: Settings) -> socket.socket:
    """The same, on a free port where the wanted one is taken. Raises Misconfigured where public origins name the port."""
    try:
        return listen(settings)
    except Misconfigured:
        if settings.agent_origin:
            raise
        return listen(settings.model_copy(update={"port": 0}))


def port_of(listening: socket.socket) -> int:
    """The port that it really got."""
    return int(listening.getsockname()[1])
