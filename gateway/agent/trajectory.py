"""What a conversation was made of, to the token: the form in which a rollout is kept for training.

Token ids are the model server's own. Text that is tokenised again can come out in other pieces than the model wrote it in, line
breaks and letters beyond ASCII above all, and whoever trains on those trains on something that no model said. So nothing here
tokenises: what the server did not tell is absent, and said to be.

    {"format": "countersign-trajectory", "version": 1, "id", "task", "model", "started_at", "absent", "steps": [STEP, …]}

    STEP    role, content                the words, without the chat template's wrappers
            kept, input_ids              what was fed: the sequence so far, cut to `kept` tokens, then these
            output_ids                   what the model then sampled, its end-of-turn token included
            absent                       ids belong here, and the server gave none
            fault                        why the model was asked again instead of taking this at its word
            tool_call                    {"name", "arguments_json"}
            tool_result                  {"name", "stdout", "stderr", "exit_code", "duration_sec"}
            reward                       a number, once somebody has scored the rollout

Written as ASCII with keys in one order, so that reading a file and writing it again gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from gateway.core.canonical import MAX_INTEGER, Json
from gateway.core.errors import MalformedTrajectory

FORMAT: Final = "countersign-trajectory"
VERSION: Final = 1

MAX_TOKEN: Final = 2**31 - 1
"""llama.cpp's `llama_token` has 32 bits, and negative ones stand for none."""

_Value = TypeVar("_Value")


class TrajectoryRole(StrEnum):
    """Whose words a step holds."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TokenIds:
    """One generation as the server counts it: the whole prompt it was fed, and what it sampled."""

    fed: tuple[int, ...]
    sampled: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TrajectoryCall:
    """A call that the model proposed; `arguments_json` is its text as it was sent on."""

    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class TrajectoryResult:
    """What came of a call. `exit_code` is None for what never ran, or was no process and failed."""

    name: str
    stdout: str
    stderr: str
    exit_code: int | None
    duration_sec: float


@dataclass(frozen=True, slots=True)
class TrajectoryStep:
    """One turn of one speaker."""

    role: TrajectoryRole
    content: str
    input_ids: tuple[int, ...] = ()
    output_ids: tuple[int, ...] = ()
    kept: int = 0
    absent: bool = False
    fault: str | None = None
    tool_call: TrajectoryCall | None = None
    tool_result: TrajectoryResult | None = None
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A rollout. `task` names what several rollouts have in common, `started_at` is epoch milliseconds."""

    id: str
    task: str
    model: str
    started_at: int
    steps: tuple[TrajectoryStep, ...] = ()

    @property
    def absent(self) -> bool:
        """Whether ids are missing anywhere."""
        return any(step.absent for step in self.steps)

    @property
    def reward(self) -> float | None:
        """The score of the rollout: that of the last step that has one."""
        return next((step.reward for step in reversed(self.steps) if step.reward is not None), None)

    def rewarded(self, reward: float) -> Trajectory:
        """The same rollout with this score on its last step. Raises MalformedTrajectory when there is nothing to score."""
        if not self.steps:
            raise MalformedTrajectory("there is no step that a score could belong to")
        *before, last = self.steps
        return replace(self, steps=(*before, replace(last, reward=_number(reward, "reward"))))

    def generations(self) -> Iterator[tuple[int, TokenIds | None]]:
        """Index and tokens of each step that the model wrote; None where they are absent.

        A call that no reply of its own stands for, the second of one reply, is a step without ids and is not among them.
        """
        sequence: tuple[int, ...] = ()
        for index, step in enumerate(self.steps):
            if step.input_ids:
                sequence = sequence[: step.kept] + step.input_ids
            if step.role is TrajectoryRole.ASSISTANT and (step.absent or step.output_ids):
                yield index, None if step.absent else TokenIds(sequence, step.output_ids)
                sequence += step.output_ids


def to_json(trajectory: Trajectory) -> bytes:
    """The file of a trajectory, with a line break at its end."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "id": trajectory.id,
        "task": trajectory.task,
        "model": trajectory.model,
        "started_at": trajectory.started_at,
        "absent": trajectory.absent,
        "steps": [_write_step(step) for step in trajectory.steps],
    }
    # Not orjson: it refuses lone surrogates, which a careless model can write and a record has to keep.
    return json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def from_json(raw: bytes) -> Trajectory:
    """The trajectory in a file. Raises MalformedTrajectory with the place that is wrong."""
    try:
        document: Json = json.loads(raw, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError:
        raise MalformedTrajectory("nested too deeply") from None
    except ValueError:
        raise MalformedTrajectory("not JSON") from None
    head = _members(document, "the file", ("format", "version", "id", "task", "model", "started_at", "absent", "steps"))
    if (head["format"], head["version"]) != (FORMAT, VERSION):
        raise MalformedTrajectory(f"not a {FORMAT} of version {VERSION}")
    trajectory = Trajectory(
        id=_typed(head["id"], str, "id"),
        task=_typed(head["task"], str, "task"),
        model=_typed(head["model"], str, "model"),
        started_at=_count(head["started_at"], MAX_INTEGER, "started_at"),
        steps=_read_steps(_list(head["steps"], "steps")),
    )
    if _typed(head["absent"], bool, "absent") != trajectory.absent:
        raise MalformedTrajectory("`absent` does not say what the steps say")
    return trajectory


def _write_step(step: TrajectoryStep) -> dict[str, Json]:
    written: dict[str, Json] = {"role": step.role.value, "content": step.content}
    if step.kept:
        written["kept"] = step.kept
    written |= {"input_ids": list(step.input_ids), "output_ids": list(step.output_ids)}
    if step.absent:
        written["absent"] = True
    if step.fault is not None:
        written["fault"] = step.fault
    if (call := step.tool_call) is not None:
        written["tool_call"] = {"name": call.name, "arguments_json": call.arguments_json}
    if (result := step.tool_result) is not None:
        written["tool_result"] = {
            "name": result.name,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "exit_code": result.exit_code,
            "duration_sec": result.duration_sec,
        }
    if step.reward is not None:
        written["reward"] = step.reward
    return written


_STEP: Final = ("role", "content", "input_ids", "output_ids")
_STEP_OPTIONAL: Final = ("kept", "absent", "fault", "tool_call", "tool_result", "reward")


def _read_steps(found: list[Json]) -> tuple[TrajectoryStep, ...]:
    steps: list[TrajectoryStep] = []
    length = 0
    for index, each in enumerate(found):
        step = _read_step(each, f"step {index}")
        if step.kept > length:
            raise MalformedTrajectory(f"step {index}: `kept` is more than there is")
        if step.input_ids:
            length = step.kept + len(step.input_ids)
        length += len(step.output_ids)
        steps.append(step)
    return tuple(steps)


def _read_step(found: Json, where: str) -> TrajectoryStep:
    told = _members(found, where, _STEP, _STEP_OPTIONAL)
    try:
        role = TrajectoryRole(told["role"])
    except ValueError:
        raise MalformedTrajectory(f"{where}: `role` is none of {', '.join(TrajectoryRole)}") from None
    call, result, reward, fault = (told.get(name) for name in ("tool_call", "tool_result", "reward", "fault"))
    return TrajectoryStep(
        role=role,
        content=_typed(told["content"], str, f"{where}: content"),
        input_ids=_ids(told["input_ids"], f"{where}: input_ids"),
        output_ids=_ids(told["output_ids"], f"{where}: output_ids"),
        kept=_count(told.get("kept", 0), MAX_INTEGER, f"{where}: kept"),
        absent=_typed(told.get("absent", False), bool, f"{where}: absent"),
        fault=None if fault is None else _typed(fault, str, f"{where}: fault"),
        tool_call=None if call is None else _read_call(call, f"{where}: tool_call"),
        tool_result=None if result is None else _read_result(result, f"{where}: tool_result"),
        reward=None if reward is None else _number(reward, f"{where}: reward"),
    )


def _read_call(found: Json, where: str) -> TrajectoryCall:
    told = _members(found, where, ("name", "arguments_json"))
    return TrajectoryCall(
        _typed(told["name"], str, f"{where}.name"), _typed(told["arguments_json"], str, f"{where}.arguments_json")
    )


def _read_result(found: Json, where: str) -> TrajectoryResult:
    told = _members(found, where, ("name", "stdout", "stderr", "exit_code", "duration_sec"))
    code = told["exit_code"]
    return TrajectoryResult(
        name=_typed(told["name"], str, f"{where}.name"),
        stdout=_typed(told["stdout"], str, f"{where}.stdout"),
        stderr=_typed(told["stderr"], str, f"{where}.stderr"),
        exit_code=None if code is None else _typed(code, int, f"{where}.exit_code"),
        duration_sec=_number(told["duration_sec"], f"{where}.duration_sec"),
    )


def _members(found: Json, where: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Json]:
    if not isinstance(found, dict):
        raise MalformedTrajectory(f"{where} is not an object")
    told = cast("Mapping[str, Json]", found)
    for name in needed:
        if name not in told:
            raise MalformedTrajectory(f"{where} has no `{name}`")
    for name in told:
        # What is not understood would be lost by the next writer.
        if name not in needed and name not in optional:
            raise MalformedTrajectory(f"{where} has a member `{name[:64]}` that version {VERSION} does not know")
    return told


def _typed(found: Json, kind: type[_Value], where: str) -> _Value:
    # Not isinstance: True would pass for a number.
    if type(cast("object", found)) is not kind:
        raise MalformedTrajectory(f"{where} is not {_KINDS[kind]}")
    return cast("_Value", found)


_KINDS: Final[Mapping[type[Any], str]] = {str: "text", bool: "true or false", int: "a whole number"}


def _list(found: Json, where: str) -> list[Json]:
    if not isinstance(found, list):
        raise MalformedTrajectory(f"{where} is not a list")
    return cast("list[Json]", found)


def _count(found: Json, most: int, where: str) -> int:
    number = _typed(found, int, where)
    if not 0 <= number <= most:
        raise MalformedTrajectory(f"{where} is out of range")
    return number


def _number(found: Json, where: str) -> float:
    if type(cast("object", found)) not in (int, float) or not -MAX_INTEGER <= found <= MAX_INTEGER:
        raise MalformedTrajectory(f"{where} is not a number within range")
    return cast("float", found)


def _ids(found: Json, where: str) -> tuple[int, ...]:
    return tuple(_count(each, MAX_TOKEN, where) for each in _list(found, where))


def _refuse_constant(name: str) -> Json:
    raise MalformedTrajectory(f"`{name}` is not JSON")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedTrajectory("a name stands twice in one object")
    return members
