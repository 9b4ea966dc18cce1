"""The fixtures of the scenarios: a running gateway and a signed-in person."""

from __future__ import annotations

from tests.scenarios.conftest import ada, gateway, scene

__all__ = ["ada", "gateway", "scene"]
