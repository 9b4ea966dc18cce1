"""The program that asks one SQLite file one thing, in a process of its own:  python -I -S sqlite_process.py < order

It reads an order as JSON and writes the answer as JSON. Statements are hostile, and SQLite has no limit of memory or of disk
that would hold for one connection alone; a process has both, and can be ended. It imports nothing of the gateway, so that it
starts in 40 ms. What is here holds by itself, whatever was judged before: the file is opened for reading, `query_only` is on,
and an authorizer denies everything but reading the tables and calling the functions that the order names.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import resource
import sys
import time
from importlib import import_module
from typing import Any

MEMORY = 512 * 1024 * 1024
"""Bytes of address space; Python and SQLite begin with some 60 MB."""

HEAP = 192 * 1024 * 1024
"""Bytes that SQLite may hold, so that it runs out before Python does and can still say so."""

DISK = 512 * 1024 * 1024
"""Bytes by which a file may grow: what a large sort writes beside the database."""

EXACT = 2**53

OPERATIONS_BETWEEN_LOOKS = 2_000
"""Some tenths of a millisecond."""


class Failed(Exception):
    """`kind` is `failed`, `late`, `away` or `gone`."""

    def __init__(self, message: str, kind: str = "failed") -> None:
        super().__init__(message)
        self.kind = kind


def main() -> None:
    """Answer the order on standard input."""
    order = json.loads(sys.stdin.buffer.read())
    sys.path[:0] = order["packages"]
    try:
        answer = {"value": Asked(order).answer()}
    except Failed as failed:
        answer = {"error": str(failed), "kind": failed.kind}
    except MemoryError:
        answer = {"error": "this statement needs more memory than it may have", "kind": "failed"}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()
    # The connection is not closed: with a large temporary file that takes a while, and the process ends anyway.
    os._exit(0)


class Asked:
    """One order on one connection."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.until = time.monotonic() + order["seconds"]
        self.sqlite = load_driver()
        self.changing = order["task"] == "change"
        self.denied = ""
        self.target = str(order.get("target") or "")
        self.own_code: set[str] = set()
        self.followers: dict[str, set[str]] = {}
        self.connection = self.open()

    def open(self) -> Any:
        """The connection, held to what the order allows."""
        path = self.order["path"]
        limit_process(path, self.order["seconds"])
        mode = "rw" if self.changing else "ro"
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        try:
            connection = self.sqlite.connect(
                f"file:{quoted}?mode={mode}", uri=True, isolation_level=None, timeout=self.order["wait"], check_same_thread=False
            )
            connection.text_factory = read_text
            for pragma in (
                f"hard_heap_limit={HEAP}",
                "trusted_schema=OFF",
                "cell_size_check=ON",
                "mmap_size=0",
                "temp_store=FILE",
                "foreign_keys=ON",
                f"query_only={'OFF' if self.changing else 'ON'}",
            ):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except self.sqlite.Error as error:
            raise Failed(f"the file cannot be read as a database ({say(error)})", "away") from None
        facts = os.stat(path)
        if [facts.st_dev, facts.st_ino] != self.order["file"]:
            raise Failed("the file was exchanged for another one", "away")
        connection.set_progress_handler(lambda: time.monotonic() > self.until, OPERATIONS_BETWEEN_LOOKS)
        if self.order["task"] != "look":
            connection.set_authorizer(self.authorize)
        return connection

    def answer(self) -> Any:
        """What the task gives."""
        try:
            match self.order["task"]:
                case "look":
                    return self.look()
                case "query":
                    cursor = self.connection.execute(self.order["sql"], self.order["values"])
                    return self.take(cursor, self.order["rows"], self.order["bytes"])
                case _:
                    return self.change()
        except MemoryError:
            raise Failed("this statement needs more memory than it may have") from None
        except (self.sqlite.Error, self.sqlite.Warning, OverflowError) as error:
            raise self.read_failure(error) from None

    def read_failure(self, error: Exception) -> Failed:
        """What went wrong, in words."""
        text = say(error)
        if text == "interrupted" or time.monotonic() > self.until:
            return Failed("", "late")
        if self.denied and ("not authorized" in text or "prohibited" in text):
            return Failed(f"the database does not let this statement {self.denied}")
        if "locked" in text or "busy" in text:
            return Failed("the database is locked by somebody else; try again", "locked")
        if "disk is full" in text or "disk I/O" in text:
            return Failed("this statement needs more room on the disk than it may have")
        return Failed(f"the database says: {text}")

    # ── what a statement may do ──

    def authorize(self, action: int, one: str | None, two: str | None, schema: str | None, inner: str | None) -> int:
        """SQLite asks for each thing that a statement does, while it is prepared."""
        allowed = self.is_allowed(action, one, two, schema, inner)
        if not allowed and not self.denied:
            self.denied = " ".join(filter(None, ("do that:", self.words.get(action, f"action {action}"), one, two)))
        return self.sqlite.SQLITE_OK if allowed else self.sqlite.SQLITE_DENY

    def is_allowed(self, action: int, one: str | None, two: str | None, schema: str | None, inner: str | None) -> bool:
        """Whether one thing is; `inner` is the trigger or view that does it."""
        sqlite = self.sqlite
        if action in (sqlite.SQLITE_SELECT, sqlite.SQLITE_RECURSIVE):
            return True
        if action == sqlite.SQLITE_FUNCTION:
            return fold(two) in self.order["functions"] or (self.changing and inner in self.own_code)
        if action == sqlite.SQLITE_READ:
            return self.may_read(fold(one), two or "", inner)
        if not self.changing:
            return False
        if action in (sqlite.SQLITE_TRANSACTION, sqlite.SQLITE_SAVEPOINT):
            return self.order.get("bounds", False)
        if action in (sqlite.SQLITE_INSERT, sqlite.SQLITE_UPDATE, sqlite.SQLITE_DELETE):
            # A trigger that the operator's database has is the operator's; the statement itself changes its one table.
            if inner in self.own_code or fold(one) == fold(self.target):
                return not fold(one).startswith("sqlite_")
            return action != sqlite.SQLITE_INSERT and fold(one) in self.followers
        return False

    def may_read(self, table: str, column: str, inner: str | None) -> bool:
        """`inner` may be a view's name, or whatever a statement calls one of its own subqueries: the names of views may not be
        given to those (statements.py)."""
        tables = self.order["tables"]
        if table in ("json_each", "json_tree") or (column == "" and table.startswith("with ")):
            # SQLite asks for the rows of what WITH gives too, by the name that it is sent as (statements.py).
            return True
        if table in tables:
            columns = tables[table]
            if columns is None or column == "" or fold(column) in columns:
                return True
        if self.changing and (inner in self.own_code or fold(column) in self.followers.get(table, ())):
            return True
        return inner is not None and fold(inner) in self.order["views"]

    @property
    def words(self) -> dict[int, str]:
        """Actions in words, for messages."""
        names = ("READ", "INSERT", "UPDATE", "DELETE", "PRAGMA", "ATTACH", "DETACH", "FUNCTION", "TRANSACTION", "SAVEPOINT")
        return {getattr(self.sqlite, f"SQLITE_{name}"): name.lower() for name in names}

    # ── tasks ──

    def look(self) -> list[dict[str, Any]]:
        """Tables and views with their columns; those of SQLite itself are left out."""
        found = self.connection.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            " ORDER BY name"
        ).fetchmany(2_000)
        tables: list[dict[str, Any]] = []
        for name, kind in found:
            try:
                columns = self.connection.execute('SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)', (name,))
                read = [[*row[:4]] for row in columns.fetchall() if row[4] != 1]
            except self.sqlite.Error:
                # A view over something that is gone, or a module that this SQLite lacks.
                continue
            tables.append({"name": name, "view": kind == "view", "columns": read})
        return tables

    def take(self, cursor: Any, most_rows: int, most_bytes: int) -> dict[str, Any]:
        """As many rows as there may be, as JSON."""
        columns = [str(each[0]) for each in cursor.description or ()]
        rows: list[list[Any]] = []
        size, cut, short = sum(map(len, columns)), "", 0
        while True:
            (row,) = cursor.fetchmany(1) or (None,)
            if row is None:
                break
            if len(rows) == most_rows:
                cut = "rows"
                break
            taken: list[Any] = []
            for value in row:
                shown, was_cut = as_json(value, self.order["cell"])
                taken.append(shown)
                short += was_cut
            size += len(json.dumps(taken))
            if size > most_bytes:
                cut = "bytes"
                break
            rows.append(taken)
        return {"columns": columns, "rows": rows, "cut": cut, "cut_cells": short}

    def change(self) -> dict[str, Any]:
        """Run the change, and keep it or not. The first rows are read before and after."""
        names = self.run_unbound("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')")
        self.own_code = {name for (name,) in names}
        self.followers = self.find_followers()
        self.bound("BEGIN IMMEDIATE")
        before = self.read_sample()
        total = self.connection.total_changes
        cursor = self.connection.execute(self.order["sql"], self.order["values"])
        returned = self.take(cursor, self.order["rows"], self.order["bytes"]) if self.order["returns"] else None
        # All is changed with the first step; closing ends the statement, and only then its rows are counted.
        rows = max(cursor.rowcount, 0)
        cursor.close()
        if returned is not None:
            ((rows,),) = self.run_unbound("SELECT changes()")
        elsewhere = self.connection.total_changes - total - rows
        self.check_number(rows)
        answer = {"rows": rows, "elsewhere": max(elsewhere, 0), "before": before, "after": self.read_after(before)}
        answer["returned"] = returned if self.order["keep"] else None
        self.bound("COMMIT" if self.order["keep"] else "ROLLBACK")
        return answer

    def find_followers(self) -> dict[str, set[str]]:
        """The tables that foreign keys change along with the target, and the columns that these look at."""
        keys: list[tuple[str, str, str]] = self.run_unbound(
            'SELECT lower(m.name), lower(f."table"), lower(f."from") FROM sqlite_master AS m,'
            " pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'"
        )
        found: dict[str, set[str]] = {}
        parents = {fold(self.target)}
        while parents:
            following = [(child, column) for child, parent, column in keys if parent in parents]
            parents = {child for child, _ in following} - set(found)
            for child, column in following:
                found.setdefault(child, set()).add(column)
        return found

    def check_number(self, rows: int) -> None:
        """Refuse a change of too many rows, or of another number than was foretold."""
        expected = self.order["expected"]
        if expected is not None and rows != expected:
            raise Failed(f"nothing was changed: {rows} rows would change now, and `expected_rows` says {expected}")
        if rows > self.order["rows"]:
            raise Failed(f"nothing was changed: {rows} rows would change, and at most {self.order['rows']} may at once")

    def bound(self, statement: str) -> None:
        """Begin or end the transaction, which no other statement may."""
        self.order["bounds"] = True
        try:
            self.connection.execute(statement)
        finally:
            self.order["bounds"] = False

    def run_unbound(self, sql: str) -> list[Any]:
        """Run a statement of this program's own."""
        self.connection.set_authorizer(None)
        try:
            return self.connection.execute(sql).fetchall()
        finally:
            self.connection.set_authorizer(self.authorize)

    def read_sample(self) -> list[list[Any]]:
        """A few of the rows that will change."""
        if self.order["before"] is None or self.order["keep"]:
            return []
        cursor = self.connection.execute(self.order["before"], self.order["values"])
        return [[as_json(value, 200)[0] for value in row] for row in cursor.fetchmany(self.order["sample"])]

    def read_after(self, before: list[list[Any]]) -> list[list[Any] | None]:
        """The same rows by their keys, afterwards; None for those that are gone."""
        if self.order["after"] is None:
            return [None for _ in before]
        found: list[list[Any] | None] = []
        for row in before:
            after = self.connection.execute(self.order["after"], row[: self.order["keys"]]).fetchone()
            found.append(None if after is None else [as_json(value, 200)[0] for value in after])
        return found


def load_driver() -> Any:
    """The SQLite that the gateway uses; Python's own where there is no such wheel (gateway/adapters/storage/sqlite.py)."""
    try:
        return import_module("pysqlite3.dbapi2")
    except ImportError:
        return import_module("sqlite3")


def limit_process(path: str, seconds: float) -> None:
    """Bound what this process can use, whatever SQLite does."""
    size = os.stat(path).st_size
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, size + DISK),
        (resource.RLIMIT_CPU, math.ceil(seconds) + 2),
        (resource.RLIMIT_CORE, 0),
    ):
        # macOS refuses some of them; the others still hold there.
        try:
            resource.setrlimit(what, (most, most))
        except (OSError, ValueError):
            continue


def as_json(value: Any, longest: int) -> tuple[Any, bool]:
    """A value as every reader of JSON has it, and whether it was shortened."""
    match value:
        case bytes():
            return {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}, False
        case str() if len(value) > longest:
            return f"{value[:longest]}… ({len(value)} characters)", True
        case int() if not -EXACT < value < EXACT:
            return str(value), False
        case float() if not math.isfinite(value):
            return str(value), False
        case _:
            return value, False


def read_text(text: bytes) -> str:
    """Text as UTF-8, with a mark for what is none and for U+0000, which JSON readers stumble over."""
    return text.decode("utf-8", "replace").replace("\0", "\ufffd")


def fold(name: str | None) -> str:
    """As SQLite folds the case of a name."""
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in name or "")


def say(error: Exception) -> str:
    """An error's own words, on one line."""
    return " ".join(str(error).split())[:300]


if __name__ == "__main__":
    main()
