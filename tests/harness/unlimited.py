"""The policy that comes with the gateway, without what a person may use up in a day: for loads that no person makes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

_POLICY = Path(__file__).parents[2] / "policy"
_QUOTA = re.compile(r"^(calls_\w+|stored_megabytes_per_session) = [\d_]+$", re.MULTILINE)


def copy_policy_without_quotas(folder: Path) -> Path:
    """A copy at `folder`, for COUNTERSIGN_POLICY."""
    shutil.copytree(_POLICY, folder)
    profiles = folder / "profiles.toml"
    profiles.write_text(_QUOTA.sub(r"\1 = 100_000_000", profiles.read_text()))
    return folder
