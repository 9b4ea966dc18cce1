"""The socket in the state folder that other commands ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.core.errors import Misconfigured
from gateway.server.control import ControlSocket


async def test_what_is_in_the_place_of_the_socket_and_cannot_be_replaced_is_told(tmp_path: Path) -> None:
    (tmp_path / "control.sock").mkdir()
    with pytest.raises(Misconfigured, match=r"`control\.sock` in the state folder is in the way"):
        await ControlSocket(tmp_path / "control.sock", {}).start()
