"""A pytest plugin for copies of the checkout: nothing runs unless the gateway that is imported is the copy's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gateway


def pytest_configure(config: pytest.Config) -> None:
    """Ask in this process and in a child, as tests start gateways."""
    asked = [sys.executable, "-c", "import gateway; print(gateway.__file__)"]
    child = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    for found in (gateway.__file__, child):
        if not Path(found).is_relative_to(config.rootpath):
            raise pytest.UsageError(f"{found} is not the gateway of {config.rootpath}")
