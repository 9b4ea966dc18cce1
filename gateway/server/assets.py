"""The two web apps, each read into memory once, at the start; files that are added later are not served.

A lookup is by exact name in a mapping, so no path can leave the app's folder, and neither app can serve the other's files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from gateway.server.responses import NOT_FOUND, HttpError, refuse

_MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Listed here, because `mimetypes` reads the machine's own tables, and the answers forbid browsers to guess (nosniff)."""

FOREVER = "public, max-age=31536000, immutable"
"""For names that contain a hash of the file's content."""

NOT_BUILT = HttpError(503, "web_app_missing", "the web app is not built; run `make web/dist/ready` and start again")


@dataclass(frozen=True, slots=True)
class _File:
    plain: bytes
    gzipped: bytes | None
    media_type: str


PAGES_FILE = "pages.json"
"""The paths of an app's pages, as the build writes them from the app's route table: `["/", "/approvals/:id"]`."""


class WebApp:
    """One built app: its page, its hashed assets, and the few files beside them.

    `paths` are the addresses that show the page, as route patterns.
    """

    def __init__(self, files: Mapping[str, _File], paths: tuple[str, ...]) -> None:
        self._files = files
        self.paths = paths

    @classmethod
    def load(cls, folder: Path) -> WebApp:
        """Read a build; for an absent folder, an app that answers that it is not built."""
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
        names = {path.relative_to(folder).as_posix(): path for path in found}
        return cls(
            {
                name: _File(
                    path.read_bytes(),
                    names[f"{name}.gz"].read_bytes() if f"{name}.gz" in names else None,
                    _MEDIA_TYPES.get(path.suffix, "application/octet-stream"),
                )
                for name, path in names.items()
                if path.suffix != ".gz" and name != PAGES_FILE and not any(part.startswith(".") for part in name.split("/"))
            },
            _read_paths(folder / PAGES_FILE),
        )

    def page(self, request: Request) -> Response:
        """The app's one page; its script reads the address."""
        file = self._files.get("index.html")
        return refuse(NOT_BUILT) if file is None else _respond(request, file, {})

    def asset(self, request: Request, name: str) -> Response:
        """`/assets/{name}`."""
        file = self._files.get(f"assets/{name}")
        return refuse(NOT_FOUND) if file is None else _respond(request, file, {"cache-control": FOREVER})

    def beside(self, request: Request, name: str) -> Response | None:
        """A file next to the page, such as its icon; None where there is none."""
        file = None if name == "index.html" or "/" in name else self._files.get(name)
        return None if file is None else _respond(request, file, {})


def _read_paths(file: Path) -> tuple[str, ...]:
    """Without a build there is one address, which answers that the app is not built."""
    if not file.is_file():
        return ("/",)
    paths: list[str] = json.loads(file.read_text(encoding="utf-8"))
    return tuple(re.sub(r":(\w+)", r"{\1}", path) for path in paths)


def _respond(request: Request, file: _File, headers: Mapping[str, str]) -> Response:
    if file.gzipped is None:
        return Response(file.plain, headers={**headers, "content-type": file.media_type})
    offered = {part.partition(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
    if "gzip" not in offered:
        return Response(file.plain, headers={**headers, "content-type": file.media_type, "vary": "accept-encoding"})
    return Response(
        file.gzipped,
        headers={**headers, "content-type": file.media_type, "content-encoding": "gzip", "vary": "accept-encoding"},
    )
