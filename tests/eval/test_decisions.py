"""What code decides of a message by its words alone, over all development cases: a rule for one class of sentences must not take
the first step of another. No model answers here; where the loop would ask one, a case is left open."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Final

from eval import loop
from eval.cases import Case, Kind, Lookups, Split, load_cases
from eval.chat import RequestRefused
from eval.contenders import ALL_GUARDS
from eval.workspaces import CaseWorkspace
from gateway.adapters.inference.scripted import SCRIPTED
from gateway.agent.asked import is_asked_for
from gateway.agent.candidates import examples_in
from gateway.agent.withheld import withheld
from gateway.runtime.ports import InferenceStream, ModelInfo, ModelPhase, ModelState
from gateway.shipped import read_loop_file
from tests.eval.test_cases import make_arguments

CASES: Final = [case for case in load_cases() if case.split is Split.DEV]
SEVERAL: Final = (Kind.TWO, Kind.THREE, Kind.PLAIN_TWO, Kind.PLAIN_THREE, Kind.MANY_TOOLS)
CHOSEN: Final = [case for case in CASES if case.kind not in (Kind.DEPENDENT, Kind.OUTCOME)]
"""Cases whose calls a model may choose. What goes on from a find is put together by code, and needs no reason of its own."""

WRONG_FIRST: Final = {"nothing-13-who-painted-the-mona-lisa"}
"""Cases whose words lead to another first call than the one that is expected, or to a call where none is. A name with "the" may
be one's own: it is looked for, and where no file has it, a model answers. One that is mended leaves the list."""


class _NoModel:
    """The InferenceBackend port without a model: whoever asks it has decided nothing by code."""

    async def models(self) -> Sequence[ModelInfo]:
        return [SCRIPTED]

    def state(self) -> ModelState:
        return ModelState(ModelPhase.ABSENT, "")

    @contextlib.asynccontextmanager
    async def ask(self, path: str, body: bytes) -> AsyncGenerator[InferenceStream]:
        raise RequestRefused("no model", ModelPhase.ABSENT)
        yield


async def is_wrong_first(case: Case, folder: Path) -> bool:
    """Whether code begins with a call that is not the expected one, or answers where a call is expected."""
    attempt = await loop.play(case, CaseWorkspace(case.tools, folder), _NoModel(), ALL_GUARDS)
    expected = [name for name, _ in case.expect]
    first = next(iter(attempt.proposals), None)
    if first is None:
        return attempt.steps == 0 and bool(expected)
    is_free = case.lookups is Lookups.FREE and first.looks
    return not is_free and first.tool not in (expected if case.kind in SEVERAL else expected[:1])


def is_held_back(case: Case, folder: Path) -> bool:
    """Whether an expected call would not be made if the model chose it."""
    world, examples = CaseWorkspace(case.tools, folder), examples_in(read_loop_file("prompts"))
    for name, checks in case.expect:
        spec, arguments = world.catalog.find(name), make_arguments(checks)
        assert spec is not None
        tool = {"name": name, "description": spec.description, "category": spec.category, "paramSchema": spec.param_schema}
        own = examples.get(name, ())
        has_called = any(turn.calls for turn in case.before) or len(case.expect) > 1
        if not is_asked_for(arguments, tool, case.say, examples=own, has_called=has_called) or withheld(
            arguments, tool, case.say
        ):
            return True
    return False


async def test_code_begins_no_case_with_another_call_than_the_one_that_is_expected(tmp_path: Path) -> None:
    wrong = {case.id for case in CASES if await is_wrong_first(case, _folder(tmp_path, case))}
    assert wrong == WRONG_FIRST


def test_every_expected_call_has_its_reason_in_the_words(tmp_path: Path) -> None:
    assert {case.id for case in CHOSEN if is_held_back(case, _folder(tmp_path, case))} == set()


def _folder(parent: Path, case: Case) -> Path:
    folder = parent / case.id
    folder.mkdir()
    return folder
