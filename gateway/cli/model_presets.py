"""`countersign models presets`: the model servers that have a name here, and whether they answer."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from gateway.adapters.inference.presets import PRESETS, Preset, keys_of
from gateway.core.effects import escape
from gateway.runtime.ports import ModelPhase


@click.command()
@click.argument("name", required=False, type=click.Choice(list(PRESETS)))
def presets(name: str | None) -> None:
    """Ask the model servers that have a name: do they answer, do they take the key, which models are there?

    Use one as COUNTERSIGN_MODEL=NAME/MODEL. Without NAME, a server elsewhere is asked only if its key is set. Exit status 1 when
    NAME cannot be used.
    """
    keys = keys_of(os.environ)
    chosen = {name: PRESETS[name]} if name else PRESETS
    lines = asyncio.run(_ask_all(chosen, keys, is_named=name is not None))
    width = max(map(len, PRESETS))
    for each, (ready, said) in zip(chosen, lines, strict=True):
        preset = chosen[each]
        click.echo(f"{each:<{width}}  {preset.url}  key {preset.key_variable}{'' if preset.needs_key else ' if it wants one'}")
        click.echo(f"{'':<{width}}  {'ready: ' if ready else ''}{said}")
    if name and not lines[0][0]:
        sys.exit(1)


async def _ask_all(chosen: dict[str, Preset], keys: dict[str, str], *, is_named: bool) -> list[tuple[bool, str]]:
    return list(await asyncio.gather(*(_ask(preset, keys.get(each, ""), is_named=is_named) for each, preset in chosen.items())))


async def _ask(preset: Preset, key: str, *, is_named: bool) -> tuple[bool, str]:
    """Whether it can be used, and what there is or what to do."""
    from gateway.adapters.inference.reach import list_names, reach

    if not (is_named or preset.is_here or key):
        return False, f"not asked; set {preset.key_variable}"
    reached = await reach(preset, key=key)
    if reached.phase is not ModelPhase.READY:
        return False, escape(reached.detail)
    return True, escape(list_names(list(reached.offers)))
