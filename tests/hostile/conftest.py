"""The running gateway of the scenarios, for attackers."""

from __future__ import annotations

from tests.scenarios.conftest import ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]
