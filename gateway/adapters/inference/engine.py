"""What to start as the sidecar, and with which settings: llama.cpp's server as a binary, or as the `xllamacpp` wheel.

Flags and their reasons: batches of 256 so that a cancelled prompt is noticed soon, one slot because a second would share two
cores, a bounded prompt cache because the default is 8 GiB, `--offline` and no web UI because the sidecar has no business on
the network or in a browser. One thread writes and two read prompts: with more, any other busy process on a small machine
makes it ten times slower.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gateway.adapters.inference.catalog import expand
from gateway.adapters.inference.server_arguments import check_arguments, flags_of
from gateway.core.canonical import Json
from gateway.core.errors import Misconfigured

BATCH: Final = 256
CACHE_RAM_MIB: Final = 256
SLEEP_IDLE_SECONDS: Final = 300
"""Then the server gives its memory back, and loads again by itself on the next request."""

HELP_SECONDS: Final = 20.0


def scrubbed_environment(home: Path) -> dict[str, str]:
    """All that the sidecar inherits. llama.cpp takes every flag from `LLAMA_ARG_*` too, tools of its own included."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "OMP_WAIT_POLICY": "passive"}


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads that write tokens, and threads that read prompts."""

    decode: int
    batch: int


def default_threads() -> Threads:
    """One core stays for the gateway and the browser while tokens are written; beyond 4 and 8 memory is the limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return Threads(decode=max(1, min(4, cores - 1)), batch=max(1, min(8, cores)))


@dataclass(frozen=True, slots=True)
class Launch:
    """What one run of the sidecar is given. Exactly one of `socket` and `port` is set; `folder` is private to it, and where it
    starts. What is `confined` may write to nothing else, and knows that folder by no other name than `.`.

    Answers name the model by `alias`; without one it would be the path of the weights on this machine.
    """

    weights: Path
    alias: str
    folder: Path
    key: str = field(repr=False)
    socket: Path | None
    port: int | None
    context_tokens: int
    threads: Threads
    repack: bool
    origins: tuple[str, ...]
    confined: bool = False
    embeds: bool = False
    """Whether it makes vectors of texts instead of answering."""
    template: str = field(default="", repr=False)
    """A chat template in place of the weights' own."""

    @property
    def slots(self) -> Path:
        """Where prompt prefixes are saved. Beside the socket where it is confined: the one folder that it cannot replace."""
        return self.folder if self.confined else self.folder / "slots"

    @property
    def home(self) -> Path:
        """An empty home folder."""
        return self.folder / "home"

    @property
    def key_file(self) -> Path:
        """Where a binary reads its key."""
        return self.folder / "api-key"

    @property
    def template_file(self) -> Path:
        """Where a binary reads the chat template."""
        return self.folder / "chat-template.jinja"

    @property
    def batch(self) -> int:
        """Tokens that are read at a time: for a vector, all of them."""
        return self.context_tokens if self.embeds else BATCH

    @property
    def address(self) -> str:
        """What to listen on."""
        return "127.0.0.1" if self.socket is None else self.named(self.socket)

    def named(self, path: Path) -> str:
        """What the server knows a path in its folder by."""
        return os.path.join(".", path.relative_to(self.folder)) if self.confined else str(path)


@dataclass(frozen=True, slots=True)
class WheelEngine:
    """llama.cpp's server as the `xllamacpp` wheel carries it."""

    @property
    def name(self) -> str:
        """For people."""
        return "xllamacpp"

    @property
    def takes_template(self) -> bool:
        """Whether it can be given a chat template in place of the weights' own."""
        return True

    @property
    def build(self) -> str:
        """Which release; what one has saved is for no other."""
        try:
            return f"xllamacpp {version('xllamacpp')}"
        except PackageNotFoundError:
            return "xllamacpp"

    def order(self, launch: Launch) -> dict[str, Json]:
        """The launcher's order, without `parent`."""
        more: dict[str, Json] = {"embedding": True} if launch.embeds else {}
        if launch.template:
            more |= {"chat_template": launch.template, "use_jinja": True}
        return {
            "settings": {
                **more,
                "model.path": str(launch.weights),
                "model_alias": [launch.alias],
                "hostnames": [launch.address],
                "port": launch.port or 0,
                "api_keys": [launch.key],
                "cors_origins": ",".join(launch.origins),
                "cors_origins_explicit": True,
                "cors_credentials": False,
                "n_ctx": launch.context_tokens,
                "n_parallel": 1,
                "n_batch": launch.batch,
                "n_ubatch": launch.batch,
                "cpuparams.n_threads": launch.threads.decode,
                "cpuparams_batch.n_threads": launch.threads.batch,
                "no_extra_bufts": not launch.repack,
                "cache_ram_mib": CACHE_RAM_MIB,
                "sleep_idle_seconds": SLEEP_IDLE_SECONDS,
                # It is joined with file names as it stands.
                "slot_save_path": f"{launch.named(launch.slots)}/",
                "endpoint_metrics": True,
                "offline": True,
                "ui": False,
            }
        }


@dataclass(frozen=True, slots=True)
class BinaryEngine:
    """A llama-server binary of the operator's, and the flags that this build knows."""

    path: Path
    flags: frozenset[str]
    arguments: tuple[str, ...] = ()
    """What the operator adds, checked."""

    @property
    def name(self) -> str:
        """For people."""
        return self.path.name

    @property
    def takes_template(self) -> bool:
        """Whether it can be given a chat template in place of the weights' own."""
        return {"--jinja", "--chat-template-file"} <= self.flags

    @property
    def build(self) -> str:
        """Which binary; what one has saved is for no other."""
        try:
            seen = self.path.stat()
        except OSError:
            return self.name
        return " ".join((f"{self.name} {seen.st_size} {seen.st_mtime_ns}", *self.arguments))

    def order(self, launch: Launch) -> dict[str, Json]:
        """The launcher's order, without `parent`. Writes the key where the server reads it."""
        _write_anew(launch.key_file, launch.key)
        if launch.template:
            _write_anew(launch.template_file, launch.template)
        command = [str(self.path), "--model", str(launch.weights), "--host", launch.address]
        if launch.port is not None:
            command += ["--port", str(launch.port)]
        for flag, *value in (
            ("--alias", launch.alias),
            ("--api-key-file", launch.named(launch.key_file)),
            ("--cors-origins", ",".join(launch.origins)),
            ("--no-cors-credentials",),
            ("--ctx-size", str(launch.context_tokens)),
            ("--parallel", "1"),
            ("--batch-size", str(launch.batch)),
            ("--ubatch-size", str(launch.batch)),
            *((("--embeddings",),) if launch.embeds else ()),
            *((("--jinja",), ("--chat-template-file", launch.named(launch.template_file))) if launch.template else ()),
            ("--threads", str(launch.threads.decode)),
            ("--threads-batch", str(launch.threads.batch)),
            *(() if launch.repack else (("--no-repack",),)),
            ("--cache-ram", str(CACHE_RAM_MIB)),
            ("--sleep-idle-seconds", str(SLEEP_IDLE_SECONDS)),
            ("--slot-save-path", launch.named(launch.slots)),
            ("--metrics",),
            ("--offline",),
            ("--no-ui",),
        ):
            if flag in self.flags:
                command += [flag, *value]
        return {"command": list[Json]([*command, *self.arguments])}


def _write_anew(path: Path, text: str) -> None:
    # An earlier run may have put a link there.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


Engine = WheelEngine | BinaryEngine

_NEEDED: Final = ("--api-key-file", "--ctx-size", "--slot-save-path")


def find_engine(binary: str, search_path: str | None = None, *, arguments: Sequence[str] = ()) -> Engine:
    """The binary named in the settings, else a `llama-server` on `search_path` (None: PATH), else the wheel.

    A binary also gets the operator's `arguments`. Runs its `--help`; call it off the event loop. Raises Misconfigured when there
    is none, one without API keys, or one that does not know the arguments.
    """
    engine = _find(binary, search_path)
    if not arguments:
        return engine
    if isinstance(engine, WheelEngine):
        raise Misconfigured("COUNTERSIGN_LLAMA_SERVER_ARGUMENTS needs a llama-server of yours; set COUNTERSIGN_LLAMA_SERVER")
    try:
        checked = check_arguments(arguments)
    except ValueError as error:
        raise Misconfigured(f"COUNTERSIGN_LLAMA_SERVER_ARGUMENTS cannot be used: {error}") from None
    unknown = [flag for flag in flags_of(checked) if flag not in engine.flags]
    if unknown:
        raise Misconfigured(f"the model server `{engine.name}` does not know {', '.join(unknown)}, which you set")
    return replace(engine, arguments=checked)


def _find(binary: str, search_path: str | None) -> Engine:
    if binary:
        return _probe(expand(binary))
    found = shutil.which("llama-server", path=search_path)
    if found is not None:
        return _probe(Path(found))
    if find_spec("xllamacpp") is None:
        raise Misconfigured("no model server is installed: `pip install xllamacpp`, or set COUNTERSIGN_LLAMA_SERVER to a binary")
    return WheelEngine()


def _probe(path: Path) -> BinaryEngine:
    path = path.absolute()
    try:
        shown = subprocess.run(  # noqa: S603 - the operator's binary
            [str(path), "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=HELP_SECONDS,
            env=scrubbed_environment(Path("/nonexistent")),
            check=False,
        )
    except OSError as error:
        raise Misconfigured(f"the model server `{path.name}` does not start: {error.strerror}") from None
    except ValueError:
        raise Misconfigured("the path of the model server holds a character that no path can hold") from None
    except subprocess.TimeoutExpired:
        raise Misconfigured(f"the model server `{path.name}` does not answer `--help`") from None
    words = (shown.stdout + shown.stderr).decode("utf-8", "replace").replace(",", " ").split()
    flags = frozenset(word for word in words if word.startswith("--"))
    missing = [flag for flag in _NEEDED if flag not in flags]
    if missing:
        raise Misconfigured(f"the model server `{path.name}` does not know {', '.join(missing)}; use a newer build of llama.cpp")
    return BinaryEngine(path, flags)
