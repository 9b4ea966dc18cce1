"""What a wheel carries beside the Python files, and the refusal to make one without the built web apps.

Nothing of it concerns an editable install, which reads the checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = {
    "eval": "gateway/eval",
    "loop": "gateway/loop",
    "migrations": "gateway/migrations",
    "policy": "gateway/policy",
    "web/dist/shell": "gateway/web/dist/shell",
    "web/dist/console": "gateway/web/dist/console",
    "web/dist/verifier": "gateway/web/dist/verifier",
}
"""From the path in the repository to the path in the wheel, where `gateway/shipped.py` looks."""

PAGES = tuple(f"web/dist/{app}/index.html" for app in ("shell", "console", "verifier"))


class BundleHook(BuildHookInterface[Any]):
    """Called by hatchling before it builds a target."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel. Ends the build where the web apps are missing."""
        if version == "editable":
            return
        root = Path(self.root)
        missing = [page for page in PAGES if not (root / page).is_file()]
        if missing:
            sys.exit(f"countersign: the web apps are not built ({', '.join(missing)}); run `make web/dist/ready` first")
        if self.target_name == "wheel":
            build_data["force_include"].update({str(root / source): target for source, target in BUNDLED.items()})
