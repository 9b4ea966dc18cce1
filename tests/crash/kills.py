"""Kill a working gateway at random moments, again and again, and count what its tools did.

    python -m tests.crash.kills [--kills N] [--callers N] [--seed N]

Each round starts the gateway on the same state, lets callers call, kills it with SIGKILL after a random number of answers, and
starts it again. An effect is doubled when one call id has two, silent when no call on record stands for it, and an answer is
lost when a caller had it and the record says something else. None of the three may ever happen.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.harness.socket import RpcError, Socket
from tests.harness.unlimited import copy_policy_without_quotas
from tests.scenarios.conftest import make_gateway

MOST_ANSWERS = 60
"""A round ends after so many answers at the latest; a session may make more calls than that in one turn of each caller."""


@dataclass
class Tally:
    """What was found. The three lists are empty as long as the promise holds."""

    kills: int = 0
    calls: int = 0
    effects: int = 0
    unknown: int = 0
    doubled: list[str] = field(default_factory=list[str])
    silent: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])

    @property
    def holds(self) -> bool:
        """Whether nothing was doubled, silent or lost."""
        return not (self.doubled or self.silent or self.lost)

    def line(self) -> str:
        """One line for a person."""
        return (
            f"{self.kills} kills, {self.calls} calls on record, {self.effects} effects: {len(self.doubled)} doubled,"
            f" {len(self.silent)} silent, {len(self.lost)} answers lost, {self.unknown} honestly unknown"
        )


@dataclass
class Rounds:
    """One gateway's state through all its deaths."""

    gateway: GatewayProcess
    chance: random.Random
    callers: int
    tally: Tally = field(default_factory=Tally)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    conversations: list[str] = field(default_factory=list[str])

    async def run(self, kills: int) -> Tally:
        """All of it, then the count."""
        await self.gateway.start()
        person = await Person.at(self.gateway).arrive()
        for number in range(kills):
            await self._live_until_killed(person, number)
            await self.gateway.start()
            shell = await person.agent()
            await self._count(shell, self.conversations[-self.callers :])
            await shell.close()
        await person.leave()
        assert await self.gateway.stop() == 0, self.gateway.output
        code, output = await self.gateway.run("audit", "verify")
        assert code == 0, output
        return self.tally

    async def _live_until_killed(self, person: Person, number: int) -> None:
        shell = await person.agent()
        turns = [await Turn.begin(shell) for _ in range(self.callers)]
        self.conversations += [turn.conversation_id for turn in turns]
        left, die = self.chance.randrange(MOST_ANSWERS), asyncio.Event()

        async def call(turn: Turn) -> None:
            nonlocal left
            step = 0
            try:
                while not die.is_set():
                    step += 1
                    call_id = f"kill-{number}-{step}"
                    self.answers[f"{turn.conversation_id} {call_id}"] = await turn.invoke("peek", {"what": "x"}, call_id)
                    left -= 1
                    if left <= 0:
                        die.set()
            except (ConnectionError, RpcError, OSError):
                return

        calling = [asyncio.create_task(call(turn)) for turn in turns]
        await die.wait()
        await self.gateway.kill()
        await asyncio.gather(*calling)
        self.tally.kills += 1

    async def _count(self, shell: Socket, conversations: list[str]) -> None:
        """Compare the effects of these conversations with their calls on record, and both with the answers."""
        path = self.gateway.home / "effects"
        effects = Counter(re.findall(r"^(\S+ \S+) peek", path.read_text() if path.exists() else "", re.MULTILINE))
        tally = self.tally
        for conversation in conversations:
            listed = await shell.call("tools/list-calls", {"conversationId": conversation})
            on_record = {f"{conversation} {view['call']['id']}": view for view in listed["calls"]}
            own = {call: count for call, count in effects.items() if call.startswith(f"{conversation} ")}
            tally.calls += len(on_record)
            tally.effects += sum(own.values())
            tally.doubled += [call for call, count in own.items() if count > 1]
            tally.silent += [call for call in own if call not in on_record or on_record[call]["state"] != "closed"]
            for call, answer in self.answers.items():
                if call.startswith(f"{conversation} "):
                    kept = on_record.get(call, {}).get("result", {})
                    if (kept.get("outcome"), kept.get("content")) != (answer["outcome"], answer["content"]):
                        tally.lost.append(call)
            tally.unknown += sum(view.get("result", {}).get("reason") == "outcomeUnknown" for view in on_record.values())


async def kill_at_random(home: Path, *, kills: int, callers: int, seed: int) -> Tally:
    """Run it in a folder of its own. Fails with the output when a gateway does not come back."""
    gateway = make_gateway(home, COUNTERSIGN_POLICY=str(copy_policy_without_quotas(home / "policy")))
    return await Rounds(gateway, random.Random(seed), callers).run(kills)


def main() -> None:
    """From the command line. Exit status 1 when the promise does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.kills", description="Kill a working gateway again and again.")
    parser.add_argument("--kills", type=int, default=200, help="how often (default 200; a kill takes some 2 seconds)")
    parser.add_argument("--callers", type=int, default=8, help="callers at once (default 8)")
    parser.add_argument("--seed", type=int, default=1, help="what decides when to kill (default 1)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        tally = asyncio.run(kill_at_random(Path(home), kills=asked.kills, callers=asked.callers, seed=asked.seed))
    click.echo(tally.line())
    for name, calls in (("doubled", tally.doubled), ("silent", tally.silent), ("lost", tally.lost)):
        for call in calls:
            click.echo(f"  {name}: {call}")
    sys.exit(0 if tally.holds else 1)


if __name__ == "__main__":
    main()
