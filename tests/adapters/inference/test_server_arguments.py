"""What may be added to the command of a llama-server: where weights go, never what else it does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateway.adapters.inference.engine import BinaryEngine, find_engine
from gateway.adapters.inference.server_arguments import check_arguments
from gateway.core.errors import Misconfigured


@pytest.mark.parametrize(
    "given",
    [
        ["--n-gpu-layers", "99"],
        ["--n-gpu-layers", "-1", "--flash-attn", "auto", "--no-mmap"],
        ["--device", "CUDA0,CUDA1", "--tensor-split", "3,1", "--split-mode", "row", "--main-gpu", "0"],
        ["--cpu-moe"],
        [],
    ],
)
def test_where_the_weights_go_is_the_operators_to_say(given: list[str]) -> None:
    assert check_arguments(given) == tuple(given)


@pytest.mark.parametrize(
    "given",
    [
        *(
            ["--tools", "all"],
            ["--agent"],
            ["--mcp-servers-config", "x"],
            ["--ui-mcp-proxy"],
            ["--host", "0.0.0.0"],
            ["-ngl", "9"],
        ),
        *(["--api-key", "x"], ["--model", "/x"], ["--port", "1"], ["--slots"], ["--lora", "/x"], ["--log-file", "/x"], ["99"]),
        *(["--n-gpu-layers=99"], ["--n-gpu-layers", "--tools"], ["--n-gpu-layers"], ["--n-gpu-layers", "99 --tools"]),
        *(
            ["--device", "CUDA0;x"],
            ["--device", "../x"],
            ["--tensor-split", "a"],
            ["--mlock", "--tools"],
            ["--cpu-moe", "1"],
            [""],
        ),
        *(["--n-gpu-layers", "99\n"], ["--N-GPU-LAYERS", "1"]),
    ],
    ids=" ".join,
)
def test_whatever_else_is_refused(given: list[str]) -> None:
    with pytest.raises(ValueError, match=r"should be followed|not among"):
        check_arguments(given)


def server(folder: Path, flags: str) -> str:
    binary = folder / "llama-server"
    binary.write_text(f"#!{sys.executable} -I\nprint({flags!r})\n")
    binary.chmod(0o755)
    return str(binary)


NEEDED = "--api-key-file --ctx-size --slot-save-path"


def test_they_end_up_at_the_end_of_the_command_and_in_the_name_of_the_build(tmp_path: Path) -> None:
    engine = find_engine(server(tmp_path, f"{NEEDED} --n-gpu-layers"), arguments=["--n-gpu-layers", "99"])
    assert isinstance(engine, BinaryEngine)
    assert engine.arguments == ("--n-gpu-layers", "99")
    assert engine.build.endswith("--n-gpu-layers 99"), "what was saved without a card is not read with one"


def test_a_binary_that_does_not_know_them_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="does not know --n-gpu-layers"):
        find_engine(server(tmp_path, NEEDED), arguments=["--n-gpu-layers", "99"])


def test_they_need_a_binary_of_ones_own(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="COUNTERSIGN_LLAMA_SERVER"):
        find_engine("", str(tmp_path), arguments=["--n-gpu-layers", "99"])
