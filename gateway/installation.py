"""The folders that come with the program as paths of the file system: migrations, policy, web apps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gateway.core.errors import Misconfigured
from gateway.shipped import shipped_folder

APPS: Final = ("shell", "console", "verifier")
"""What is built for browsers, each in a folder: the two web apps, and the page that checks receipts and exported logs."""

VERIFIER: Final = Path("verifier") / "index.html"
"""That page, which is one file."""


def installed_folder(name: str) -> Path:
    """The folder of that name. Raises Misconfigured."""
    return Path(os.path.normpath(str(shipped_folder(name))))


def shipped_web() -> Path:
    """The folder of the built web apps. A checkout may not have built them yet; see `require_web`."""
    return installed_folder("web") / "dist"


def require_web(web: Path) -> Path:
    """The same folder, if all of them are in it. Raises Misconfigured."""
    if not all((web / app / "index.html").is_file() for app in APPS):
        raise Misconfigured("the web apps are not built; run `make web/dist/ready`")
    return web
