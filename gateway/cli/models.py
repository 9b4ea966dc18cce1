"""`countersign models`: which models there are by name, and how they get here."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click

from gateway.adapters.inference.catalog import ModelEntry, PublisherSource, load_catalog, models_folder
from gateway.adapters.inference.diagnosis import free_disk
from gateway.adapters.inference.fetch import SPARE_BYTES, Report, fetch_model, is_present, weights_path
from gateway.adapters.inference.machine_memory import total_memory
from gateway.adapters.inference.profiles import ProfileStore
from gateway.adapters.inference.recommend import Machine, Objection, Recommendation, memory_wanted, recommend, with_profile
from gateway.adapters.inference.sentence_file import NAME as SENTENCES
from gateway.adapters.inference.sentence_source import fetch_sentence_model
from gateway.cli.model_check import check
from gateway.cli.model_presets import presets
from gateway.settings_reading import load_settings

_MIB = 1 << 20
_USE = {True: "commercial use allowed", False: "no commercial use", None: "commercial use unknown"}
_NAME = click.argument("name", default="default")


@click.group()
def models() -> None:
    """List, fetch and show the local models.

    They are kept in $COUNTERSIGN_MODELS, else in countersign/models in the XDG data home.
    """


models.add_command(presets)
models.add_command(check)


@models.command("list")
def list_models() -> None:
    """All models of the catalogue; `*` marks the default, `here` the ones on this machine."""
    folder = models_folder(os.environ)
    catalog = load_catalog(folder)
    width = max(len(entry.name) for entry in catalog.models)
    for entry in catalog.models:
        mark = "*" if entry.name == catalog.default else " "
        here = "here" if weights_path(entry, folder).exists() else "    "
        size = f"{entry.bytes // _MIB:>6} MiB"
        click.echo(f"{mark} {entry.name:<{width}}  {size}  {here}  {entry.quantisation:<7} {entry.licence}  {entry.title}")


@models.command()
@_NAME
def fetch(name: str) -> None:
    """Bring a model here, from the first source that has it; an interrupted download resumes where it stopped.

    `embeddings` is the sentence model (83 MB, Apache-2.0) with which `semantic_search` finds passages by what they are about.
    """
    folder = models_folder(os.environ)
    if name == SENTENCES:
        click.echo(asyncio.run(fetch_sentence_model(folder)))
        return
    click.echo(bring(load_catalog(folder).find(name), folder))


def bring(entry: ModelEntry, folder: Path) -> Path:
    """The entry's file, fetched with a progress bar if it is not there. Raises ModelUnavailable, Misconfigured."""
    show, finish = _progress(entry)
    try:
        path = asyncio.run(fetch_model(entry, folder, show))
    finally:
        finish()
    click.echo(f"{entry.title} is here, digest {entry.sha256[:16]}… is right", err=True)
    return path


@models.command()
@_NAME
def show(name: str) -> None:
    """All that the catalogue says about a model."""
    folder = models_folder(os.environ)
    entry = load_catalog(folder).find(name)
    rows = {
        "name": entry.name,
        "title": entry.title,
        "licence": f"{entry.licence}, {_USE[entry.commercial_use]}",
        "size": f"{entry.bytes} bytes",
        "sha256": entry.sha256,
        "id": entry.id,
        "arch": entry.arch,
        "quantisation": entry.quantisation,
        "context": f"{entry.context_tokens} tokens",
        "output": f"{entry.output_tokens} tokens",
        "tier": "not tried; the first start does" if entry.tier is None else entry.tier.value,
        "template": ", ".join(f"{name}={value}".lower() for name, value in entry.template_flags.items()) or "as it is",
        "tool calls": "not measured" if entry.tool_call_rank is None else f"{entry.tool_call_rank} % right",
        "memory": _size_of(entry.approx_peak_ram_bytes),
        "machine": _size_of(memory_wanted(entry)),
        "here": "yes, digest checked" if is_present(entry, folder) else "no",
    }
    for title, value in rows.items():
        click.echo(f"{title:<13} {value}")
    for source in entry.sources:
        where = source.url if isinstance(source, PublisherSource) else f"{len(source.parts)} wheels, {source.parts[0].package} …"
        click.echo(f"{'source':<13} {where}")


@models.command()
@_NAME
def path(name: str) -> None:
    """Print where a model's file is; exit status 1 when it is not here or not right."""
    folder = models_folder(os.environ)
    entry = load_catalog(folder).find(name)
    if not is_present(entry, folder):
        click.echo(f"countersign: {entry.title} is not here; run `countersign models fetch {entry.name}`", err=True)
        sys.exit(1)
    click.echo(weights_path(entry, folder))


@models.command("recommend")
@click.option("--private-use", is_flag=True, help="Also consider licences that allow no commercial use.")
@click.option("--state", type=click.Path(path_type=Path, file_okay=False), help="State folder with what `models check` measured.")
def recommend_model(private_use: bool, state: Path | None) -> None:
    """Say which model calls tools best here: allowed by its licence, measured, and within this machine's memory and disk.

    Measured is what the catalogue has a rank for, or what `countersign models check` has run all cases with. Exit status 1 when
    there is none.
    """
    folder = models_folder(os.environ)
    profiles = ProfileStore(load_settings(state=state).state)
    entries = [with_profile(entry, profiles.read(entry.id)) for entry in load_catalog(folder).models]
    machine = Machine(total_memory(), free_disk(folder))
    here = [entry.name for entry in entries if is_present(entry, folder)]
    chosen = recommend(entries, machine, here=here, commercial=not private_use)
    if (best := chosen.best) is not None:
        click.echo(f"{best.name}: {best.title}")
        click.echo(f"  calls tools best of those that fit: {best.tool_call_rank} % of the measured cases complete")
        click.echo(f"  licence {best.licence}, {_USE[best.commercial_use]}")
        click.echo(f"  wants a machine with {_size_of(memory_wanted(best))} of memory; this one has {_size_of(machine.memory)}")
    for entry, objection in chosen.others:
        click.echo(f"not {entry.name}: {_explain(entry, objection, machine, chosen)}")
    if best is None:
        click.echo("countersign: no model of the catalogue will do here; see docs/MODELS_BYO.md for one of your own", err=True)
        sys.exit(1)
    if best.name not in here:
        click.echo(f"fetch it: countersign models fetch {best.name}")
    click.echo(f"use it: COUNTERSIGN_MODEL={best.name}")


def _explain(entry: ModelEntry, objection: Objection, machine: Machine, chosen: Recommendation) -> str:
    match objection:
        case Objection.LICENCE:
            return f"its licence is {entry.licence}, {_USE[entry.commercial_use]}"
        case Objection.UNMEASURED:
            return "nobody has measured how well it calls tools; `countersign models check` does"
        case Objection.MEMORY:
            return f"it wants a machine with {_size_of(memory_wanted(entry))} of memory, this one has {_size_of(machine.memory)}"
        case Objection.DISK:
            return f"it needs {_size_of(entry.bytes + SPARE_BYTES)} of disk, {_size_of(machine.disk)} are free"
        case Objection.WORSE:
            better = chosen.best.title if chosen.best is not None else "another"
            return (
                f"it completes {entry.tool_call_rank} % of the measured cases; {better} does better, or as well with less memory"
            )


def _size_of(count: int | None) -> str:
    return "not measured" if count is None else f"{count // _MIB} MiB"


def _progress(entry: ModelEntry) -> tuple[Report, Callable[[], None]]:
    """How to show progress on standard error, and how to end it: a bar for a person, a line per 10 % for a log."""
    if not sys.stderr.isatty():
        return _report_tenths(entry), lambda: None
    bar = click.progressbar(length=entry.bytes, label=entry.title, file=sys.stderr, item_show_func=_as_it_is)
    bar.render_progress()

    def show_bar(what: str, have: int, _total: int) -> None:
        # It counts forward only; a source that starts over sets it back.
        if have < bar.pos:
            bar.pos = have
        bar.update(have - bar.pos, what)

    return show_bar, bar.render_finish


def _as_it_is(item: str | None) -> str | None:
    return item


def _report_tenths(entry: ModelEntry) -> Report:
    shown = -1

    def report(what: str, have: int, total: int) -> None:
        nonlocal shown
        tenth = have * 10 // total
        if tenth != shown:
            shown = tenth
            click.echo(f"{entry.title}: {tenth * 10} % ({what})", err=True)

    return report
