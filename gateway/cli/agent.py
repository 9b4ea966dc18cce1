"""`countersign agent`: the agent in a terminal, with no browser."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.cli.serve import TOOL_FILE, bring_model
from gateway.core.effects import escape
from gateway.core.errors import LedgerLocked, Misconfigured, ModelUnavailable
from gateway.settings import Settings
from gateway.settings_reading import load_settings

if TYPE_CHECKING:
    from gateway.agent.retries import TurnLimits
    from gateway.cli.terminal.agent import Terminal
    from gateway.cli.terminal.dialogue import ExitCode
    from gateway.cli.terminal.listeners import LoopListener
    from gateway.cli.terminal.trajectories import TrajectoryKeeper

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)
_QUESTION = click.types.StringParamType()
"""Not the type of other texts: a question that is no UTF-8 is asked as far as it is."""


@click.command()
@click.argument("model")
@click.option("--tools", "tool_files", multiple=True, type=TOOL_FILE, metavar="FILE", help="JSON file with programs as tools.")
@click.option(
    "--builtin-tools/--no-builtin-tools", default=None, help="Whether to offer the built-in tools.  [default: without --tools]"
)
@click.option("--single", type=_QUESTION, metavar="TEXT", help="Ask this, print the answer, and end.")
@click.option(
    "--output-schema",
    "schema_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="With --single: print the answer as JSON that fits this JSON Schema, and nothing else.",
)
@click.option(
    "--image",
    "images",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Attach an image, for a model that sees; may be repeated.",
)
@click.option("--json-out", is_flag=True, help="Print every event as one JSON object a line, and nothing else.")
@click.option("--transcript", type=FILE, metavar="FILE", help="Append every event, call and result to a file of JSON lines.")
@click.option("--trajectory-dir", type=FOLDER, metavar="DIR", help="Keep the conversation, with token ids, for training.")
@click.option("--trajectory-task", metavar="NAME", help="What several rollouts have in common.")
@click.option("--chat-template", "model_template", type=FILE, metavar="FILE", help="Chat template for a local model, as Jinja.")
@click.option("--prompt-cache-dir", "prompt_cache", type=FOLDER, metavar="DIR", help="Keep the evaluated system prompt here.")
@click.option("--max-steps", type=click.IntRange(1, 64), default=8, show_default=True, help="Tool rounds of one turn.")
@click.option(
    "--max-tokens",
    type=click.IntRange(8, 4096),
    help="Tokens of one step, and nothing longer.  [default: 256, and more for what is longer]",
)
@click.option("--tool-timeout", type=click.FloatRange(0.1, 3600), help="Seconds that a program may run.  [default: 30]")
@click.option("--confirm-tools", is_flag=True, help="Ask before every call, also those that the policy lets run.")
@click.option(
    "--kv-preallocate/--no-kv-preallocate",
    "model_preallocate",
    default=None,
    help="Take the memory of the whole context at once, or as it is needed.  [default: as needed]",
)
@click.option("--resume", metavar="ID", help="Go on with a conversation; `last` is the one used last.")
@click.option("--as", "name", metavar="NAME", help="Which operator you are, where several are enrolled.")
@click.option("--model-name", metavar="NAME", help="Model to ask for, where MODEL is a URL.")
@click.option("--state", type=FOLDER, help="Folder of database and keys.")
@click.option("--workspace", type=FOLDER, help="Folder the tools work in.")
@click.option("--policy", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the policy.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the console; a free one if it is taken.  [default: 8765]")
def agent(
    model: str,
    *,
    tool_files: tuple[Path, ...],
    builtin_tools: bool | None,
    single: str | None,
    schema_file: Path | None,
    images: tuple[Path, ...],
    json_out: bool,
    transcript: Path | None,
    trajectory_dir: Path | None,
    trajectory_task: str | None,
    max_steps: int,
    max_tokens: int | None,
    confirm_tools: bool,
    resume: str | None,
    name: str | None,
    **options: object,
) -> None:
    """Talk to an agent here, in the terminal.

    MODEL is a GGUF file, a name of the catalogue (`countersign models list`), a model of a server with a name (`ollama/NAME`, see
    `countersign models presets`) or the URL of an OpenAI-compatible server. Every call goes through the same gate, ledger and log
    as in the web shell. With --single, what is piped in is read with the
    question. Exit status: 0 answered, 1 failed, 2 wrong usage or settings, 3 a call needed a person and nobody was there, 130
    interrupted.
    """
    from gateway.adapters.inference.output_schema import OutputSchema
    from gateway.adapters.storage.trajectories import TrajectoryFolder
    from gateway.agent.retries import TurnLimits
    from gateway.cli.terminal.agent import Terminal
    from gateway.cli.terminal.images import UnusableImageFile, read_image
    from gateway.cli.terminal.keyboard import Keyboard
    from gateway.cli.terminal.log_handler import ScreenLogHandler
    from gateway.cli.terminal.piped_input import read_piped
    from gateway.cli.terminal.records import EventRecorder, Transcript
    from gateway.cli.terminal.screen import standard_screen
    from gateway.cli.terminal.trajectories import TrajectoryKeeper

    if single is not None and not single.strip():
        raise click.UsageError("--single needs something to ask.")
    if trajectory_task is not None and trajectory_dir is None:
        raise click.UsageError("--trajectory-task needs --trajectory-dir.")
    if schema_file is not None and single is None:
        raise click.UsageError("--output-schema needs --single.")
    schema = None if schema_file is None else OutputSchema(schema_file)
    try:
        for image in images:
            read_image(image)
    except UnusableImageFile as error:
        raise click.UsageError(f"--image: {error}.") from error
    settings = load_settings(
        **model_options(model),
        tool_files=tool_files or None,
        builtin_tools=not tool_files if builtin_tools is None else builtin_tools,
        **options,
    )
    piped = None
    if single is not None:
        # The shell passes bytes on; what is no UTF-8 is replaced, as it is in what is typed.
        single, piped = os.fsencode(single).decode(errors="replace"), read_piped(sys.stdin)
    screen = standard_screen(only_json=json_out or schema is not None)
    # Without both there is nobody who could see a question and answer it.
    keyboard = Keyboard(sys.stdin) if sys.stdin.isatty() and sys.stderr.isatty() else None
    logging.basicConfig(handlers=[ScreenLogHandler(screen)], level=logging.WARNING)
    terminal = Terminal(screen, keyboard, is_conversation=single is None, only_once=confirm_tools, output_schema=schema)
    with ExitStack() as held:
        listeners: list[LoopListener] = []
        kept = None
        if transcript is not None:
            kept = Transcript(transcript)
            held.callback(kept.close)
        if json_out or kept is not None:
            recorder = EventRecorder(screen.stream if json_out else None, None if kept is None else kept.keep, time.monotonic)
            listeners.append(recorder)
        rollout = None if trajectory_dir is None else TrajectoryKeeper(TrajectoryFolder(trajectory_dir), trajectory_task or "")
        try:
            bring_model(settings)
        except ModelUnavailable as error:
            click.echo(f"countersign: {error.message}", err=True)
            sys.exit(1)
        limits = TurnLimits(max_steps, max_tokens)
        # From here on until something is asked for: keys litter neither an answer nor a line that waits for the console.
        held.enter_context(Keyboard(sys.stdin).quiet())
        code = asyncio.run(
            _run(
                settings,
                terminal,
                single,
                piped,
                name,
                listeners,
                rollout,
                limits,
                resume,
                images,
                confirm=confirm_tools,
                is_stream=json_out,
            )
        )
        faults = [each.fault for each in (screen, kept, rollout) if each is not None and each.fault is not None]
        for fault in faults:
            click.echo(f"countersign: {fault}", err=True)
        if faults:
            sys.exit(1)
    sys.exit(int(code))


def model_options(model: str) -> dict[str, str]:
    """MODEL as settings. Raises Misconfigured for what cannot be one."""
    if model.startswith(("http://", "https://")):
        return {"model_url": model}
    why = _why_not(model)
    if why is not None:
        kinds = "a GGUF file, a model of `countersign models list`, one of a server like `ollama/NAME`, or a URL"
        raise Misconfigured(f"{why}; name {kinds} (see docs/MODELS_BYO.md)")
    return {"model": model, "model_url": ""}


def _why_not(model: str) -> str | None:
    """What is wrong with a MODEL that is no URL; None for a file that is there, and for what may be a name of the catalogue."""
    from gateway.adapters.inference.catalog import expand
    from gateway.adapters.inference.factory import NO_MODEL
    from gateway.adapters.inference.presets import preset_of

    if preset_of(model):
        return None
    path = expand(model)
    if model in ("", NO_MODEL):
        return "an agent needs a model"
    if path.is_dir():
        return f"`{escape(model)}` is a folder"
    if model.lower().endswith(".gguf"):
        return None if path.exists() else f"there is no file `{escape(model)}`"
    return f"`{escape(model)}` is neither a GGUF file nor an http URL" if "/" in model else None


async def _run(
    settings: Settings,
    terminal: Terminal,
    single: str | None,
    piped: str | None,
    name: str | None,
    listeners: Sequence[LoopListener],
    rollout: TrajectoryKeeper | None,
    limits: TurnLimits,
    resume: str | None,
    images: Sequence[Path],
    *,
    confirm: bool,
    is_stream: bool,
) -> ExitCode:
    from gateway.bootstrap import keep_policy
    from gateway.cli.terminal.agent import open_agent
    from gateway.cli.terminal.completer import Completer
    from gateway.cli.terminal.confirm_every_call import ConfirmEveryCall
    from gateway.cli.terminal.dialogue import Dialogue, ExitCode
    from gateway.cli.terminal.history import PromptHistory
    from gateway.cli.terminal.keyboard import Keyboard
    from gateway.cli.terminal.sign_in import find_operator, sign_in
    from gateway.cli.terminal.source_connections import wait_for_sources
    from gateway.cli.terminal.warm_up import WarmUpReport
    from gateway.serving import open_application

    warming = WarmUpReport()
    policy_wrapper = ConfirmEveryCall if confirm else keep_policy
    try:
        async with open_application(settings, policy_wrapper, warming.warmed) as (application, app):
            take_tokens = (lambda: None) if rollout is None else await rollout.begin(application)
            person, because = await find_operator(application, name)
            async with sign_in(application, person, because) as presence:
                agent = await open_agent(
                    application,
                    app,
                    presence,
                    terminal,
                    limits,
                    lambda: application.offer_enrolment(person.name, person.profile),
                    listeners if rollout is None else [*listeners, rollout],
                    take_tokens,
                    resume,
                )
                if settings.prompt_cache is not None:
                    await warming.report(terminal.screen)
                await wait_for_sources(application.sources, terminal.screen)
                talk = Dialogue(agent, terminal.screen, images, piped)
                try:
                    if single is not None:
                        # In the event stream it stands already, as the answer of the last turn.
                        return await talk.ask(single, (lambda _: None) if is_stream else terminal.screen.stream)
                    return await talk.converse(
                        terminal.keyboard or Keyboard(sys.stdin), PromptHistory(settings.state), Completer(settings.workspace)
                    )
                finally:
                    await agent.close()
    except ModelUnavailable as error:
        # Told out here: what is left as an error leaves no folder behind that was only made for it.
        click.echo(f"countersign: {error.message}", err=True)
        return ExitCode.FAILED
    except LedgerLocked:
        raise Misconfigured(
            "a gateway is running on this state folder already; talk to it in its web shell, or name another folder with --state"
        ) from None
