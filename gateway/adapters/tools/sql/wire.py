"""A connection to PostgreSQL that can be ended from outside, and reads no row that is larger than it may be.

One connection serves one statement. The socket is made here, so that another thread can shut it down whatever it waits for.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

from sqlalchemy.engine import URL

from gateway.adapters.tools.sql.engine import SqlAway, SqlFailed
from gateway.core.errors import Misconfigured

CONNECT_SECONDS: Final = 5.0

_MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes that one statement may answer. PostgreSQL would send a gigabyte for one row, and pg8000 keeps all that it is sent."""

_SSL_REQUEST: Final = struct.pack("!ii", 8, 80877103)
_CANCEL_CODE: Final = 80877102
"""PostgreSQL's protocol, section 55.2.10 and 55.2.8."""

_BAD_LOGIN: Final = ("28P01", "28000", "3D000")
"""SQLSTATE: invalid password, invalid authorization, no such database."""


class RowTooLarge(Exception):
    """A row is larger than may be read."""


class _LimitedFile:
    """A socket's file for pg8000, which asks for a whole message at once. `left` is how many bytes may still be read."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.left = _MOST_BYTES

    def read(self, size: int) -> bytes:
        self.left -= size
        if self.left < 0:
            raise RowTooLarge
        return self._file.read(size)

    def write(self, data: bytes) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


class _LimitedSocket:
    """What pg8000 needs of a socket."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self.file = _LimitedFile(inner.makefile(mode="rwb"))

    def makefile(self, mode: str) -> _LimitedFile:
        assert mode == "rwb", "the one file of this socket"
        return self.file

    def close(self) -> None:
        self._inner.close()


@dataclass(frozen=True, slots=True)
class PgAnswer:
    """What one statement gave. Values are texts as PostgreSQL writes them, None for NULL; `types` are the columns' OIDs."""

    columns: tuple[str, ...]
    types: tuple[int, ...]
    rows: Sequence[Sequence[str | None]]
    count: int


class PgConnection:
    """One connection, used by one thread. `stop` may be called by any, at any time, and does not block."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._core: Any = None
        self._stopped = False
        self._file: Any = None
        self._errors: Any = import_module("pg8000.exceptions")

    def open(self, password: str | None, seconds: float) -> None:
        """Connect and sign in. Raises SqlAway, and Misconfigured where the server refuses user or database."""
        try:
            connected = self._connect(min(CONNECT_SECONDS, seconds))
            with self._lock:
                if self._stopped:
                    connected.close()
                    raise SqlFailed("it was stopped before it began", late=True)
                self._socket = connected
            connected.settimeout(min(CONNECT_SECONDS, seconds))
            limited = _LimitedSocket(connected)
            self._file = limited.file
            core = import_module("pg8000.core").CoreConnection(
                self._url.username,
                database=self._url.database,
                password=password,
                ssl_context=False,
                sock=limited,
                application_name="countersign",
            )
            connected.settimeout(seconds)
        except ssl.SSLError as error:
            raise SqlAway(f"the database server's certificate is not trusted ({error.reason or 'TLS failed'})") from None
        except OSError as error:
            raise SqlAway(f"the database server cannot be reached ({error.strerror or 'it does not answer'})") from None
        except self._errors.DatabaseError as error:
            raise _read_refusal(error) from None
        except (self._errors.InterfaceError, struct.error, AttributeError, KeyError, UnicodeDecodeError):
            # pg8000 stumbles in many ways over a server that speaks something else or hangs up.
            raise SqlAway("the database server did not let this connection in, or is no PostgreSQL server") from None
        # Every type as the text that PostgreSQL writes: what it means is read in one place, postgresql.py.
        core.pg_types.clear()
        core.pg_types.default_factory = lambda: str
        self._core = core

    def run(self, sql: str, values: Sequence[object] = ()) -> PgAnswer:
        """Run one statement; the extended protocol takes no two. Raises pg8000's DatabaseError, OSError and RowTooLarge."""
        self._file.left = _MOST_BYTES
        return _read_context(self._core.execute_unnamed(sql, vals=values, oids=tuple(map(_find_type, values))))

    def run_own(self, sql: str) -> PgAnswer:
        """Run statements of this program's own, which hold nothing of anybody else's, in one exchange."""
        self._file.left = _MOST_BYTES
        return _read_context(self._core.execute_simple(sql))

    def stop(self) -> None:
        """End what runs: the server is told by a connection of its own, and this one is shut down."""
        with self._lock:
            self._stopped = True
            running = self._socket
            core = self._core
        if running is None:
            return
        key = getattr(core, "_backend_key_data", None)
        if key is not None:
            threading.Thread(target=self._cancel, args=(key,), name="sql-cancel", daemon=True).start()
        with suppress(OSError):
            running.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection; whatever transaction is open ends without being kept."""
        core, self._core = self._core, None
        with suppress(Exception):
            if core is not None:
                core.close()
        with self._lock:
            running, self._socket = self._socket, None
        if running is not None:
            running.close()

    def _connect(self, seconds: float) -> socket.socket:
        options = self._url.query
        if path := options.get("unix_sock"):
            local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            local.settimeout(seconds)
            try:
                local.connect(str(path))
            except OSError:
                local.close()
                raise
            return local
        host = self._url.host or ""
        mode = options.get("sslmode") or ("disable" if is_this_machine(host) else "verify-full")
        plain = socket.create_connection((host, self._url.port or 5432), seconds)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if mode == "disable":
            return plain
        try:
            return _encrypt(plain, host, verified=mode == "verify-full", authorities=options.get("sslrootcert"))
        except BaseException:
            plain.close()
            raise

    def _cancel(self, key: bytes) -> None:
        with suppress(OSError), self._connect(CONNECT_SECONDS) as other:
            other.sendall(struct.pack("!ii", 16, _CANCEL_CODE) + key)
            other.recv(1)


def is_this_machine(host: str) -> bool:
    """Whether what is sent there leaves this machine."""
    return host in ("localhost", "127.0.0.1", "::1")


def _encrypt(plain: socket.socket, host: str, *, verified: bool, authorities: object) -> socket.socket:
    plain.sendall(_SSL_REQUEST)
    if plain.recv(1) != b"S":
        raise SqlAway("the database server offers no encryption; `?sslmode=disable` in the URL goes without")
    try:
        context = ssl.create_default_context(cafile=str(authorities) if authorities else None)
    except OSError:
        raise Misconfigured("`sslrootcert` in the URL names no file of certificates") from None
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(plain, server_hostname=host)


def _read_refusal(error: Exception) -> Exception:
    said: Any = error.args[0] if error.args else {}
    code = cast(dict[str, str], said).get("C", "") if isinstance(said, dict) else ""
    if code in _BAD_LOGIN:
        return Misconfigured("the database server does not know this user, password or database")
    return SqlAway(f"the database server lets nobody in now ({code or 'it says nothing more'})")


def _read_context(context: Any) -> PgAnswer:
    columns = context.columns or ()
    return PgAnswer(
        tuple(column["name"] for column in columns),
        tuple(column["type_oid"] for column in columns),
        context.rows or (),
        context.row_count,
    )


def _find_type(value: object) -> int:
    """The OID of a value: those of numbers and truth values are said, and what a text stands for is found by the server."""
    match value:
        case bool():
            return 16
        case int():
            return 20
        case float():
            return 701
        case _:
            return 0
