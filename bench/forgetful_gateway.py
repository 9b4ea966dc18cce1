"""The real gateway, but its commits do not wait for the disk: what durability costs is the difference. Run as a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from gateway.adapters.storage import store
from gateway.adapters.storage.sqlite import open_for_writing
from gateway.serving import run
from gateway.settings_reading import load_settings


def open_without_waiting(path: Path) -> Engine:
    """The gateway's own engine with `synchronous=OFF`."""
    engine = open_for_writing(path)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        connection.execute("PRAGMA synchronous = OFF")

    return engine


if __name__ == "__main__":
    store.open_for_writing = open_without_waiting
    run(load_settings())
