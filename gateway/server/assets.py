"""The two web apps, each read into memory once, at the start; files that are added later are not served.

What the build compressed is held compressed alone: every browser takes that, and for who does not it is unpacked.

A lookup is by exact name in a mapping, so no path can leave the app's folder, and neither app can serve the other's files.
"""

from __future__ import annotations

import gzip
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
    """`body` is the whole file, or what gzip made of it."""

    body: bytes
    gzipped: bool
    media_type: str


_NO_WEIGHT = re.compile(r"q=0(\.0{0,3})?")

PAGES_FILE = "pages.json"
"""The paths of an app's pages, as the build writes them from the app's route table: `["/", "/approvals/:id"]`."""

PRELOADS_FILE = "preloads.json"
"""By such a path the files that its page is loaded with, beside those that the app's page names."""

_LISTS = (PAGES_FILE, PRELOADS_FILE)


class WebApp:
    """One built app: its page, its hashed assets, and the few files beside them.

    `paths` are the addresses that show the page, as route patterns.
    """

    def __init__(self, files: Mapping[str, _File], paths: tuple[str, ...], links: Mapping[str, str]) -> None:
        self._files = files
        self.paths = paths
        self._links = links

    @classmethod
    def load(cls, folder: Path) -> WebApp:
        """Read a build; for an absent folder, an app that answers that it is not built."""
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
        names = {path.relative_to(folder).as_posix(): path for path in found}
        return cls(
            {
                name: _File(
                    names.get(f"{name}.gz", path).read_bytes(),
                    f"{name}.gz" in names,
                    _MEDIA_TYPES.get(path.suffix, "application/octet-stream"),
                )
                for name, path in names.items()
                if path.suffix != ".gz" and name not in _LISTS and not any(part.startswith(".") for part in name.split("/"))
            },
            _read_paths(folder / PAGES_FILE),
            _read_links(folder / PRELOADS_FILE),
        )

    def page(self, request: Request) -> Response:
        """The app's one page; its script reads the address. What that will load is named in a header, so that it comes meanwhile
        and not one file after the other."""
        file = self._files.get("index.html")
        links = self._links.get(request.url.path)
        return refuse(NOT_BUILT) if file is None else _respond(request, file, {} if links is None else {"link": links})

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


def _read_links(file: Path) -> Mapping[str, str]:
    """The `Link` header (RFC 8288) of each address without parameters: the others are opened from a page that is there."""
    if not file.is_file():
        return {}
    preloads: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    return {path: ", ".join(map(_link, names)) for path, names in preloads.items() if names}


def _link(name: str) -> str:
    # Asked for as the app asks for it, or it would be fetched twice.
    return f"</{name}>; rel=preload; as=style; crossorigin" if name.endswith(".css") else f"</{name}>; rel=modulepreload"


def _respond(request: Request, file: _File, headers: Mapping[str, str]) -> Response:
    told = {**headers, "content-type": file.media_type}
    if not file.gzipped:
        return Response(file.body, headers=told)
    told["vary"] = "accept-encoding"
    if not _takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(gzip.decompress(file.body), headers=told)
    return Response(file.body, headers={**told, "content-encoding": "gzip"})


def _takes_gzip(accepted: str) -> bool:
    """RFC 9110, section 12.5.3; a weight of 0 is a refusal."""
    return any(
        coding.strip() == "gzip" and _NO_WEIGHT.fullmatch(weight.strip()) is None
        for coding, _, weight in (part.partition(";") for part in accepted.split(","))
    )
