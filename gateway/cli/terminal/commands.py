"""The commands of the prompt: what this conversation has, asked of the gateway as the web shell asks it."""

from __future__ import annotations

import contextlib
from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson

from gateway.adapters.inference.factory import ChosenBackend
from gateway.agent.lane import ProposedCall
from gateway.agent.ports import GatewayLink
from gateway.agent.runner import TurnRunner
from gateway.cli.terminal.images import UnusableImageFile, read_image, why_unseen
from gateway.cli.terminal.model_names import find_models
from gateway.cli.terminal.results import RecentResults
from gateway.cli.terminal.screen import Screen
from gateway.cli.terminal.slash import (
    USAGES,
    CallCommand,
    Command,
    CommandMistake,
    ImageCommand,
    InspectCommand,
    ModelCommand,
    PlainCommand,
    ResultCommand,
    ToolsCommand,
)
from gateway.cli.terminal.tool_list import ToolPages
from gateway.core.effects import show
from gateway.core.errors import GatewayError
from gateway.core.local_tools import ATTACHMENT

_TITLE: Final = 80
"""Characters."""


def describe_model(model: Mapping[str, Any]) -> str:
    """One line about a `ModelInfo`."""
    # `remote:HOST:NAME`: whose server it is nobody here knows, and it may well run on this machine.
    server = str(model["id"]).removeprefix("remote:").removesuffix(f":{model['displayName']}")
    where = "on this machine" if model["local"] else f"served by {server}"
    return f"{model['displayName']}, {where}, {model['contextTokens']:,} tokens of context"


def local_time(instant: str) -> str:
    """An instant of the wire as a clock on this machine's wall shows it: `2026-11-21 10:57`."""
    return datetime.fromisoformat(instant).astimezone().strftime("%Y-%m-%d %H:%M")


class ConversationCommands:
    """Answers commands of one conversation. `model` is a `ModelInfo`."""

    def __init__(
        self,
        link: GatewayLink,
        conversation_id: str,
        runner: TurnRunner,
        model: Mapping[str, Any],
        screen: Screen,
        results: RecentResults,
        *,
        is_named: bool,
        models: ChosenBackend | None = None,
    ) -> None:
        self._link = link
        self._conversation_id = conversation_id
        self._runner = runner
        self.model = model
        self._models = models
        """The one that answers."""
        self._screen = screen
        self._results = results
        self._is_named = is_named
        self._pages = ToolPages((), ())

    async def name_after(self, text: str) -> None:
        """Give the conversation the first thing that was said in it for a title, to be found again by."""
        if not self._is_named:
            self._is_named = True
            # A title that cannot be one is none; the conversation goes on without.
            with contextlib.suppress(GatewayError):
                # What was piped in stands below the question.
                title = " ".join(text.split("\n\n", maxsplit=1)[0].split())[:_TITLE]
                await self._link.call("conversations/rename", {"conversationId": self._conversation_id, "title": title})

    async def run(self, command: Command, typed: str) -> None:
        """Show what was asked for. `/exit` is for the caller."""
        try:
            match command:
                case PlainCommand(word):
                    await self._show(word)
                case ToolsCommand(words):
                    self._pages = ToolPages(*await self._described(), words)
                    self._show_page()
                case InspectCommand(name):
                    await self._inspect(name)
                case CallCommand(name, arguments):
                    await self._runner.call(typed, ProposedCall(name, arguments))
                case ImageCommand(path):
                    await self.attach(Path(path))
                case ModelCommand(name):
                    await self._choose_model(name)
                case ResultCommand(number):
                    text = self._results.get(number)
                    if text is None:
                        self._screen.say("There is no such result any more." if number else "There is no result yet.")
                    else:
                        self._screen.block(text.expandtabs(4))
                case CommandMistake(why):
                    self._screen.say(why)
        except GatewayError as error:
            self._screen.say(f"! {error.message}")

    async def attach(self, path: Path) -> bool:
        """Have an image taken in, for a model that sees. Whether it came in; why it did not, is said."""
        if why := why_unseen(self.model):
            self._screen.say(f"! {why}")
            return False
        try:
            image = read_image(path)
        except UnusableImageFile as error:
            self._screen.say(f"! {error}")
            return False
        return await self._attach(image.name, image.data)

    async def attach_text(self, name: str, text: str) -> bool | None:
        """Have a text taken in. Whether it came in; why it did not, is said. None where there is no tool for it."""
        tools, _ = await self._described()
        if all(tool["name"] != ATTACHMENT for tool in tools):
            return None
        return await self._attach(name, b2a_base64(text.encode(), newline=False).decode())

    async def _attach(self, name: str, data: str) -> bool:
        # A call of the person's own in a turn of its own.
        try:
            await self._runner.call(f"Attached {name}", ProposedCall(ATTACHMENT, {"name": name, "data": data}))
            calls = (await self._link.call("tools/list-calls", {"conversationId": self._conversation_id}))["calls"]
        except GatewayError as error:
            self._screen.say(f"! {error.message}")
            return False
        return bool(calls) and calls[-1].get("result", {}).get("outcome") == "ok"

    async def _show(self, word: str) -> None:
        match word:
            case "more":
                if self._pages.has_more:
                    self._show_page()
                else:
                    self._screen.say("There is nothing more. `/tools` shows the tools from their beginning.")
            case "grants":
                await self._show_grants()
            case "conversations":
                await self._show_conversations()
            case _:
                width = max(len(usage) for usage, _ in USAGES)
                for usage, what in USAGES:
                    self._screen.row(f"{usage.ljust(width)}  {what}")
                self._screen.row(f"{'also …'.ljust(width)}  typed while the agent works: taken in before its next step")

    async def _choose_model(self, name: str | None) -> None:
        models = (await self._link.call("session/describe", {}))["models"]
        if name is not None:
            found = find_models(models, name)
            if not found and (why := dict(await self._missing()).get(name)):
                self._screen.say(f"`{name}` is not available: {why}")
                return
            if not found:
                self._screen.say(f"There is no model `{name}` here. `/model` shows which there are.")
                return
            if len(found) > 1:
                meant = ", ".join(f"`{each['displayName']}`" for each in found)
                self._screen.say(f"Which one is meant with `{name}`: {meant}? Its id tells it from all others.")
                return
            models = await self._ready(models, found[0]["id"])
            self.model = next((each for each in models if each["id"] == found[0]["id"]), found[0])
        for each in models:
            mark = "answers" if each["id"] == self.model["id"] else "       "
            self._screen.row(f"{mark}  {describe_model(each)}")
            self._screen.row(f"         {each['id']}")
            if trouble := each.get("trouble"):
                self._screen.row(f"         would not answer now: {trouble}")
        for missing, why in await self._missing():
            self._screen.row(f"not available  {missing}: {why}")

    async def _missing(self) -> Sequence[tuple[str, str]]:
        return () if self._models is None else await self._models.missing()

    async def _ready(self, models: Sequence[Mapping[str, Any]], model_id: str) -> Sequence[Mapping[str, Any]]:
        """The models as they are once the chosen one has been tried, if it had to be."""
        if self._models is None:
            return models
        try:
            await self._models.choose(model_id)
        except GatewayError as error:
            self._screen.say(f"! {error.message}")
            return models
        return (await self._link.call("session/describe", {}))["models"]

    async def tool_names(self) -> Sequence[str]:
        """Of the tools that there are now; none where that cannot be told."""
        try:
            return [tool["name"] for tool in await self._tools()]
        except GatewayError:
            return ()

    async def model_names(self) -> Sequence[str]:
        """Of the models that can be chosen, each by the shortest name that tells it from the others."""
        try:
            models = (await self._link.call("session/describe", {}))["models"]
        except GatewayError:
            return ()
        titles = [each["displayName"] for each in models]
        return [each["displayName"] if titles.count(each["displayName"]) == 1 else each["id"] for each in models]

    async def _tools(self) -> list[Mapping[str, Any]]:
        return (await self._described())[0]

    async def _described(self) -> tuple[list[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
        """The tools, and why some of them cannot be called."""
        described = await self._link.call("tools/describe", {"conversationId": self._conversation_id})
        return [tool for tool in described["tools"] if not tool.get("local")], described.get("obstacles") or ()

    def _show_page(self) -> None:
        for line in self._pages.next():
            self._screen.row(line)

    async def _inspect(self, name: str) -> None:
        tools, obstacles = await self._described()
        tool = next((each for each in tools if each["name"] == name), None)
        if tool is None:
            self._screen.say(f"There is no tool called `{name}` here.")
            return
        self._screen.row(f"{name} {ToolPages((tool,), obstacles).needs(tool)}")
        self._screen.block(str(tool["description"]).strip())
        self._screen.block(orjson.dumps(tool["paramSchema"], option=orjson.OPT_INDENT_2).decode())

    async def _show_grants(self) -> None:
        grants = (await self._link.call("grants/list", {}))["grants"]
        for grant in grants:
            pins = ", ".join(f"{name}: {show(value)}" for name, value in grant["pins"].items())
            until = local_time(grant["expiresAt"])
            self._screen.row(f"{grant['tool']}({pins}): {grant['uses']} of {grant['maxUses']} uses, until {until}")
        if not grants:
            self._screen.say("No permission holds for more than one call.")

    async def _show_conversations(self) -> None:
        for conversation in (await self._link.call("conversations/list", {}))["conversations"]:
            self._screen.row(f"{conversation['id']}  {local_time(conversation['updatedAt'])}  {conversation['title']}")
