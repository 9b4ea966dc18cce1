"""From trajectories to training data: rows for supervised fine-tuning, and pairs for preference training.

Rows hold the conversation in words, for trainers that tokenise for themselves, and the ids as they were fed and sampled, for
those that must not. Where the server told no ids a row says `absent` instead. Member names are those that TRL reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.agent.trajectory import TokenIds, Trajectory, TrajectoryRole, TrajectoryStep
from gateway.core.canonical import Json


class TraceFormat(StrEnum):
    """What the rows are for."""

    SFT = "sft"
    DPO = "dpo"


@dataclass(frozen=True, slots=True)
class _Generation:
    """One reply with all that led to it. `tokens` is None where ids are absent."""

    index: int
    prompt: Sequence[Json]
    step: TrajectoryStep
    tokens: TokenIds | None

    @property
    def completion(self) -> list[Json]:
        return [_message(self.step)]


def sft_rows(trajectory: Trajectory, *, min_reward: float | None = None, ids_only: bool = False) -> Iterator[dict[str, Json]]:
    """One row per reply that was used. With `min_reward`, only of rollouts that were scored that high.

    `completion_mask` is 1 on what the model wrote, which is what a trainer should learn.
    """
    score = trajectory.reward
    if min_reward is not None and (score is None or score < min_reward):
        return
    for reply in _generations(trajectory):
        if reply.step.fault is not None or (ids_only and reply.tokens is None):
            continue
        if reply.tokens is None and not reply.step.content and reply.step.tool_call is None:
            # Broken off before there was a word.
            continue
        row: dict[str, Json] = {
            "task": trajectory.task,
            "rollout": trajectory.id,
            "step": reply.index,
            "prompt": reply.prompt,
            "completion": reply.completion,
            "reward": score if reply.step.reward is None else reply.step.reward,
        }
        if reply.tokens is None:
            yield row | _ABSENT
        else:
            fed, sampled = reply.tokens.fed, reply.tokens.sampled
            yield row | {"input_ids": [*fed, *sampled], "completion_mask": [0] * len(fed) + [1] * len(sampled)}


def dpo_rows(trajectories: Iterable[Trajectory], *, ids_only: bool = False) -> Iterator[dict[str, Json]]:
    """One row per two rollouts of the same task and model with different scores, at the reply where they part.

    Up to there both were fed the same, which is what makes the two replies comparable; rollouts that were fed different
    prompts before they part give no row. Nothing is paired twice.
    """
    groups: defaultdict[tuple[str, str], list[tuple[float, Trajectory]]] = defaultdict(list)
    for each in trajectories:
        if each.reward is not None:
            groups[each.task, each.model].append((each.reward, each))
    for group in groups.values():
        # Each is replayed once, however many it is compared with.
        ranked = [(score, each, tuple(_generations(each))) for score, each in sorted(group, key=_by_score)]
        seen: set[tuple[Json, ...]] = set()
        for place, (best, chosen, good) in enumerate(ranked):
            for worst, rejected, bad in ranked[place + 1 :]:
                parted = _part(good, bad) if worst < best else None
                if parted is None or (ids_only and (parted[0].tokens is None or parted[1].tokens is None)):
                    continue
                row = _pair(*parted)
                mark = (repr(row["prompt"]), repr(row["chosen"]), repr(row["rejected"]))
                if mark not in seen:
                    seen.add(mark)
                    named = {"task": chosen.task, "chosen_rollout": chosen.id, "rejected_rollout": rejected.id}
                    yield named | row | {"chosen_reward": best, "rejected_reward": worst}


_ABSENT: Final[dict[str, Json]] = {"absent": True}


def _by_score(scored: tuple[float, Trajectory]) -> tuple[float, str]:
    return -scored[0], scored[1].id


def _generations(trajectory: Trajectory) -> Iterator[_Generation]:
    told = [_message(step) for step in trajectory.steps]
    for index, tokens in trajectory.generations():
        # Another system prompt is another beginning: what was said under the one before was not said to this one.
        begin = max((place for place in range(index) if trajectory.steps[place].role is TrajectoryRole.SYSTEM), default=0)
        yield _Generation(index, told[begin:index], trajectory.steps[index], tokens)


def _message(step: TrajectoryStep) -> Json:
    message: dict[str, Json] = {"role": step.role.value, "content": step.content}
    if step.role is TrajectoryRole.ASSISTANT and step.tool_call is not None and not step.content:
        # Said in the runtime's own form, which leaves no words; trainers have a member for it.
        function = {"name": step.tool_call.name, "arguments": step.tool_call.arguments_json}
        message["tool_calls"] = [{"type": "function", "function": function}]
    return message


def _part(good: Sequence[_Generation], bad: Sequence[_Generation]) -> tuple[_Generation, _Generation] | None:
    """The first two replies that differ, if what led to them does not."""
    for chosen, rejected in zip(good, bad, strict=False):
        if chosen.tokens is not None and rejected.tokens is not None:
            fed_alike, wrote_alike = chosen.tokens.fed == rejected.tokens.fed, chosen.tokens.sampled == rejected.tokens.sampled
        else:
            fed_alike, wrote_alike = chosen.prompt == rejected.prompt, chosen.completion == rejected.completion
        if not fed_alike:
            return None
        if not wrote_alike:
            return chosen, rejected
    return None


def _pair(chosen: _Generation, rejected: _Generation) -> dict[str, Json]:
    row: dict[str, Json] = {
        "step": chosen.index,
        "prompt": chosen.prompt,
        "chosen": chosen.completion,
        "rejected": rejected.completion,
    }
    if chosen.tokens is None or rejected.tokens is None:
        return row | _ABSENT
    return row | {
        "prompt_input_ids": list(chosen.tokens.fed),
        "chosen_input_ids": list(chosen.tokens.sampled),
        "rejected_input_ids": list(rejected.tokens.sampled),
    }
