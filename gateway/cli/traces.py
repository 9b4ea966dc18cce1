"""`countersign traces-to-data`: training data from recorded trajectories."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import orjson

from gateway.adapters.storage.trajectories import read_trajectories, write_whole
from gateway.agent.traces import TraceFormat, dpo_rows, sft_rows
from gateway.agent.trajectory import Trajectory
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.errors import MalformedTrajectory, Misconfigured

STDOUT = Path("-")


@click.command("traces-to-data")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--format",
    "wanted",
    type=click.Choice([each.value for each in TraceFormat]),
    required=True,
    help="sft: a row for each reply. dpo: a row for two rollouts of one task with different rewards, where they part.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), required=True, help="JSONL file, or -.")
@click.option("--min-reward", type=float, help="sft: only rollouts with at least this reward.")
@click.option("--ids-only", is_flag=True, help="Leave out rows for which the model server reported no token ids.")
def traces_to_data(folder: Path, wanted: str, out: Path, min_reward: float | None, *, ids_only: bool) -> None:
    """Make training data of the trajectories (.atraj) in DIR, with the token ids that were really fed and sampled.

    A file that is damaged is named and left out. Exit status: 0 when all were read, 1 when some were not, 2 when nothing
    could be done.
    """
    form = TraceFormat(wanted)
    if min_reward is not None and form is not TraceFormat.SFT:
        raise click.UsageError("--min-reward is for --format sft; pairs are made of rewards as they are")
    reader = _Reader(folder)
    match form:
        case TraceFormat.SFT:
            rows = (row for each in reader for row in sft_rows(each, min_reward=min_reward, ids_only=ids_only))
        case TraceFormat.DPO:
            rows = dpo_rows(reader, ids_only=ids_only)
    writer = _Writer(rows)
    writer.write(out)
    summary = f"{_count(writer.written, 'row')} from {_count(reader.read, 'rollout')}"
    summary += f", {writer.absent} of them without token ids" if writer.absent else ""
    click.echo(f"{summary}; {_count(reader.skipped, 'file')} skipped" if reader.skipped else summary, err=True)
    if reader.skipped:
        sys.exit(1)


def _count(number: int, thing: str) -> str:
    """As people say it."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


class _Reader:
    """The trajectories of a folder, in order; names those that do not read on standard error, and counts both."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.read = 0
        self.skipped = 0

    def __iter__(self) -> Iterator[Trajectory]:
        for path, found in read_trajectories(self._folder):
            if isinstance(found, MalformedTrajectory):
                self.skipped += 1
                click.echo(f"countersign: skipped {escape(path.name)}: {escape(found.message)}", err=True)
            else:
                self.read += 1
                yield found


class _Writer:
    """Rows as lines, counted on their way."""

    def __init__(self, rows: Iterable[dict[str, Json]]) -> None:
        self._rows = rows
        self.written = 0
        self.absent = 0

    def __iter__(self) -> Iterator[bytes]:
        for row in self._rows:
            self.written += 1
            self.absent += "absent" in row
            yield _line(row)

    def write(self, out: Path) -> None:
        """Raises Misconfigured."""
        if out == STDOUT:
            sys.stdout.buffer.writelines(self)
            return
        try:
            write_whole(out, self)
        except OSError as error:
            raise Misconfigured(f"`{out.name}` cannot be written: {error.strerror}") from None


def _line(row: dict[str, Json]) -> bytes:
    try:
        return orjson.dumps(row) + b"\n"
    except orjson.JSONEncodeError:
        # Half a character in somebody's words. Other readers may refuse it as well, but nothing is changed here.
        import json

        return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"
