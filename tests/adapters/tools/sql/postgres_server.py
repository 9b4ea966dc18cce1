"""A real PostgreSQL for tests: the server that answers at 127.0.0.1:5432, or one that is started in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

ADDRESS = "127.0.0.1"
PATIENCE = 30.0


@dataclass(frozen=True)
class Server:
    """Where a server listens, and as whom databases are made there."""

    port: int
    user: str

    def connect(self, database: str = "postgres", user: str | None = None) -> Any:
        """A connection of pg8000 that keeps each statement at once."""
        connection = import_module("pg8000.dbapi").connect(
            user or self.user, host=ADDRESS, port=self.port, database=database, timeout=PATIENCE
        )
        connection.autocommit = True
        return connection


@contextmanager
def running_server() -> Generator[Server | str]:
    """A server that lets this test in without a password, or why there is none."""
    usual = Server(5432, "postgres")
    if _lets_in(usual):
        yield usual
        return
    programs = _find_programs()
    if programs is None:
        yield "no PostgreSQL answers at 127.0.0.1:5432 without a password, and the package `postgresql` is not installed"
        return
    with _started(programs) as server:
        yield server


def _lets_in(server: Server) -> bool:
    try:
        server.connect().close()
    except Exception:  # noqa: BLE001 # whatever keeps it from working, another server is started
        return False
    return True


def _find_programs() -> Path | None:
    """The folder of `initdb`; Debian keeps it off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: int(each.parts[-3].split(".")[0]))
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return None if named is None else Path(named).resolve().parent


@contextmanager
def _started(programs: Path) -> Generator[Server]:
    """One that runs in a folder of its own. It refuses to be root, so root runs it as `nobody`."""
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        who: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = folder / "data"
        environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        subprocess.run(
            [
                programs / "initdb",
                "--pgdata",
                data,
                "--username",
                "postgres",
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
                "--no-sync",
            ],
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=PATIENCE * 2,
            **who,
        )
        port = _find_port()
        options = ["-h", ADDRESS, "-p", str(port), "-k", str(folder), "-c", "fsync=off"]
        server = subprocess.Popen[bytes](
            [programs / "postgres", "-D", data, *options],
            env=environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **who,
        )
        try:
            _wait_for(server, Server(port, "postgres"), programs)
            yield Server(port, "postgres")
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(PATIENCE)
            server.kill()


def _wait_for(process: subprocess.Popen[bytes], server: Server, programs: Path) -> None:
    asked = [programs / "pg_isready", "-h", ADDRESS, "-p", str(server.port), "-t", "1"]
    for _ in range(2_000):
        if subprocess.run(asked, capture_output=True, timeout=PATIENCE).returncode == 0:
            return
        assert process.poll() is None, "the server ended at once"
    raise AssertionError("the server did not begin to answer")


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]


@dataclass(frozen=True)
class Database:
    """A database of the tests' own with three roles: `owner` made it, the others use it, and nobody is a superuser."""

    server: Server
    name: str
    owner: str
    reader: str
    writer: str
    connections: dict[str, Any] = field(default_factory=dict[str, Any])

    def url(self, user: str) -> str:
        return f"postgresql+pg8000://{user}@{ADDRESS}:{self.server.port}/{self.name}"

    def run(self, sql: str, *, user: str | None = None) -> list[Any]:
        """Run one statement, as the owner or as that user."""
        who = user or self.owner
        if who not in self.connections:
            self.connections[who] = self.server.connect(self.name, who)
        cursor = self.connections[who].cursor()
        cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def made_database(server: Server) -> Generator[Database]:
    """A database and its roles, which are gone afterwards."""
    tag = token_hex(4)
    database = Database(server, f"cs_{tag}", f"cs_{tag}_owner", f"cs_{tag}_reader", f"cs_{tag}_writer")
    roles = (database.owner, database.reader, database.writer)
    admin = server.connect()
    cursor = admin.cursor()
    try:
        for role in roles:
            cursor.execute(f"CREATE ROLE {role} LOGIN")
        cursor.execute(f"CREATE DATABASE {database.name} OWNER {database.owner} ENCODING 'UTF8' TEMPLATE template0")
        yield database
    finally:
        for connection in database.connections.values():
            connection.close()
        cursor.execute(f"DROP DATABASE IF EXISTS {database.name} WITH (FORCE)")
        for role in roles:
            cursor.execute(f"DROP ROLE IF EXISTS {role}")
        admin.close()
