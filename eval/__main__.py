"""`python -m eval [--models …] [--guards …] [--sample N] [--quick] [--write]`: run the cases against real local models.

Standard error tells how far it is; standard output gets the tables. Outcomes go to a file as they come, and a run that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from eval import few_shot, loop, plain
from eval.cases import Case, Split, load_cases, pick_quick, pick_sample
from eval.contenders import FEW_SHOT, SAMPLED, WHOLE, Contender, choose
from eval.machine import describe, memory_of_servers
from eval.records import ROOT, Record, Records
from eval.replies import Remembering, Replies
from eval.scoring import Attempt, judge
from eval.tables import Measured, idle_rows, rank_of, replace_between_marks, write_tables
from eval.workspaces import CaseWorkspace
from gateway.adapters.inference.catalog import CATALOG_FILE, ModelEntry, load_catalog, models_folder
from gateway.adapters.inference.embedder import LocalEmbedder, build_embedder, close_embedder
from gateway.adapters.inference.factory import ModelChoice
from gateway.adapters.inference.fetch import is_present
from gateway.adapters.inference.local import LocalBackend
from gateway.adapters.inference.sentence_file import find_sentence_model
from gateway.adapters.system.clock import SystemClock
from gateway.core.errors import GatewayError, ModelUnavailable
from gateway.core.times import rfc3339
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import ModelPhase
from gateway.sandbox.job import SandboxPreference

RESULTS: Final = ROOT / "tests" / "eval" / ".results" / "outcomes.jsonl"
DOCUMENT: Final = ROOT / "docs" / "MODELS.md"
CATALOG: Final = ROOT / "gateway" / "adapters" / "inference" / CATALOG_FILE

CASE_SECONDS: Final = 300.0
"""Then the case is given up and counts as one with nothing done."""


def main() -> None:
    """Run what is missing, print the tables, and with `--write` put them where they belong."""
    asked = _parse()
    folder = models_folder(os.environ)
    catalog = load_catalog(folder)
    entries = [catalog.find(name) for name in asked.models] or [each for each in catalog.models if is_present(each, folder)]
    if missing := [entry.name for entry in entries if not is_present(entry, folder)]:
        sys.exit(f"not here: {', '.join(missing)}; run `countersign models fetch {missing[0]}`")
    if not entries:
        sys.exit("no model is here; run `countersign models fetch`")
    cases = load_cases(by_meaning=find_sentence_model(folder) is not None)
    cases = pick_quick(cases) if asked.quick else cases
    cases = pick_sample(cases, asked.sample) if asked.sample else cases
    cases = [case for case in cases if not asked.kinds or case.kind in asked.kinds]
    cases = [case for case in cases if not asked.dev or case.split is Split.DEV]
    records = Records(asked.results)
    measured: list[Measured] = []
    for entry in entries:
        contenders = choose(asked.guards)
        sample = pick_sample(cases, asked.rows_sample)
        asyncio.run(_run_model(entry, folder, _pairs_of(contenders, cases, sample), records))
        measured.append(_gather(entry, contenders, cases, sample, records))
    sys.stdout.write(write_tables(measured, describe()) + "\n")
    if asked.write:
        replace_between_marks(DOCUMENT, write_tables(measured, describe()))
        for entry, model in zip(entries, measured, strict=True):
            _record_rank(entry, rank_of(model.outcomes[WHOLE.name]))
    idle = [f"{model.title}: {name}" for model in measured for name in idle_rows(model)]
    if idle and not (asked.quick or asked.dev or asked.kinds):
        sys.exit(f"rows that tell nothing, since the guard that they leave away changed no case: {'; '.join(idle)}")


def _pairs_of(contenders: Sequence[Contender], cases: Sequence[Case], sample: Sequence[Case]) -> list[tuple[Contender, Case]]:
    """What to run: a row that is sampled only over the sample."""
    return [(each, case) for each in contenders for case in (sample if each in SAMPLED else cases)]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m eval", description="Measure how well local models call tools.")
    parser.add_argument("--models", nargs="*", default=[], help="catalogue names (default: all that are on this machine)")
    parser.add_argument("--guards", default="", help="all, none, loop, plain, or guards to leave away")
    parser.add_argument("--kinds", nargs="*", default=[], help="only cases of these kinds")
    parser.add_argument("--dev", action="store_true", help="only the half that prompts may be tuned on")
    parser.add_argument("--quick", action="store_true", help="a few cases of every kind, to see that it works")
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="N cases of every kind, half of either half, always the same"
    )
    parser.add_argument(
        "--rows-sample",
        type=int,
        default=4,
        metavar="N",
        help="the rows that leave a guard away, and those of the tiers, are run over N cases of every kind (default 4)",
    )
    parser.add_argument("--write", action="store_true", help="write the tables to docs/MODELS.md and the ranks to the catalogue")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where outcomes are kept")
    asked = parser.parse_args()
    if asked.write and (
        asked.quick or asked.sample or asked.dev or asked.kinds or asked.guards in ("loop", "tiers", "plain", "few-shot")
    ):
        parser.error("only a whole run is written down: the loop and the baselines, all cases")
    try:
        choose(asked.guards)
    except ValueError as error:
        parser.error(str(error))
    return asked


async def _run_model(entry: ModelEntry, folder: Path, pairs: Sequence[tuple[Contender, Case]], records: Records) -> None:
    missing = [(each, case) for each, case in pairs if records.find(entry.sha256, each, case) is None]
    if not missing:
        _say(f"{entry.name}: all {len(pairs)} outcomes are there")
        return
    replies = Replies(records.path.with_name("replies.jsonl"))
    async with _serve(entry, folder) as server, _embed(folder) as embedder:
        backend = Remembering(server, entry.sha256, replies)
        began = time.monotonic()
        for done, (contender, case) in enumerate(missing):
            attempt = await _play(contender, case, backend, entry, embedder)
            on, memory = rfc3339(SystemClock().now())[:10], memory_of_servers()
            stamp = records.digests.of(contender, case)
            records.add(Record(entry.sha256, contender.name, case.id, stamp, on, memory, attempt))
            spent = time.monotonic() - began
            left = spent / (done + 1) * (len(missing) - done - 1)
            mark = "ok " if judge(case, attempt).complete else "-- "
            _say(f"{entry.name} {done + 1}/{len(missing)} {_minutes(left)} left  {mark} {contender.name}: {case.id}")


@asynccontextmanager
async def _serve(entry: ModelEntry, folder: Path):
    with tempfile.TemporaryDirectory(prefix="countersign-eval-") as state:
        backend = LocalBackend(
            entry.name,
            models=folder,
            state=Path(state),
            context_tokens=4096,
            threads=None,
            llama_server="",
            origins=(),
            clock=SystemClock(),
            sandbox=SandboxPreference.AUTO,
        )
        await backend.start()
        try:
            if (reached := await backend.settle()).phase is not ModelPhase.READY:
                raise ModelUnavailable(reached.detail, reached.phase)
            yield backend
        finally:
            await backend.stop()


@asynccontextmanager
async def _embed(folder: Path) -> AsyncGenerator[LocalEmbedder | None]:
    """The sentence model, where it was fetched."""
    with tempfile.TemporaryDirectory(prefix="countersign-eval-") as state:
        embedder = build_embedder(ModelChoice("none", models=folder, state=Path(state)), SystemClock())
        try:
            yield embedder
        finally:
            await close_embedder(embedder)


async def _play(
    contender: Contender, case: Case, backend: Remembering, entry: ModelEntry, embedder: LocalEmbedder | None
) -> Attempt:
    with tempfile.TemporaryDirectory(prefix="countersign-case-") as folder:
        world = CaseWorkspace(case.tools, Path(folder), embedder)
        before = backend.seconds
        try:
            async with asyncio.timeout(CASE_SECONDS):
                if contender == FEW_SHOT:
                    attempt = await few_shot.play(case, world, backend)
                elif contender.guards is None:
                    attempt = await plain.play(case, world, backend)
                else:
                    attempt = await loop.play(case, world, backend, contender.guards, contender.tier or entry.tier or Tier.SINGLE)
        except TimeoutError:
            attempt = Attempt((), malformed=1, said="given up")
        return replace(attempt, seconds=backend.seconds - before)


def _gather(
    entry: ModelEntry, contenders: Sequence[Contender], cases: Sequence[Case], sample: Sequence[Case], records: Records
) -> Measured:
    def outcomes_of(rows: Iterable[Contender], among: Sequence[Case]) -> dict[str, list[tuple[Case, Record]]]:
        return {each.name: records.all(entry.sha256, each, among) for each in rows}

    sampled = [each for each in contenders if each in SAMPLED]
    found = outcomes_of((each for each in contenders if each not in SAMPLED), cases)
    beside = [each for each in contenders if each == WHOLE]
    over_sample = outcomes_of((*beside, *sampled), sample) if sampled else {}
    every = [record for pairs in (*found.values(), *over_sample.values()) for _, record in pairs]
    return Measured(
        title=entry.title,
        outcomes={name: [(case, record.attempt) for case, record in pairs] for name, pairs in found.items()},
        memory=max(record.memory for record in every),
        on=max(record.on for record in every),
        sampled={name: [(case, record.attempt) for case, record in pairs] for name, pairs in over_sample.items()},
    )


def _record_rank(entry: ModelEntry, rank: int) -> None:
    """Put the rank into the shipped catalogue. A model that an operator added has its entry elsewhere."""
    head, name, rest = CATALOG.read_text(encoding="utf-8").partition(f'name = "{entry.name}"\n')
    lines = rest.split("\n")
    for place, line in enumerate(lines):
        if line.startswith("[["):
            break
        if line.startswith("tool_call_rank = "):
            lines[place] = f"tool_call_rank = {rank}"
            CATALOG.write_text(head + name + "\n".join(lines), encoding="utf-8")
            return


def _minutes(seconds: float) -> str:
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except GatewayError as error:
        sys.exit(error.message)
