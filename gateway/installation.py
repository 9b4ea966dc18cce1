"""The folders that come with the program as paths of the file system: migrations, policy, web apps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from gateway.core.errors import Misconfigured
from gateway.shipped import shipped_folder

APPS: Final = ("shell", "console")
"""The two web apps, each a folder of the built ones."""


def installed_folder(name: str) -> Path:
    """The folder of that name. Raises Misconfigured."""
    return Path(os.path.normpath(str(shipped_folder(name))))


def shipped_web() -> Path:
    """The folder of the built web apps. A checkout may not have built them yet; see `require_web`."""
    return installed_folder("web") / "dist"


def require_web(web: Path) -> Path:
    """The same folder, if both web apps are in it. Raises Misconfigured."""
    if not all((web / app / "index.html").is_file() for app in APPS):
        raise Misconfigured("the web apps are not built; run `make web/dist/ready`")
    return web
