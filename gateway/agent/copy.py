"""Every sentence the loop says by itself: calm, and true whatever the model did. The words stand in loop/copy.json."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from gateway.agent.browser import trim
from gateway.agent.messages import Result
from gateway.agent.ports import ChatFailure, ChatFailureKind, CutReason
from gateway.agent.render import fill
from gateway.agent.turn_progress import StuckReason
from gateway.core.errors import GatewayError, NotFound, NotSignedIn

_ENDS_A_SENTENCE = re.compile(r"[.!?]$")


class Copy:
    """The sentences. `words` is copy.json."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        self._says: Mapping[str, str] = words["says"]
        self._outcomes: Mapping[str, Mapping[str, str]] = words["outcomes"]

    def say(self, name: str, **values: str) -> str:
        """A sentence by its name."""
        return fill(self._says[name], values.get)

    def explain_outcome(self, tool: str, result: Result) -> str:
        """What became of a call that gave no result, as a sentence about the tool. Unknown reasons fall back to the outcome."""
        sentences = self._outcomes[result["outcome"]]
        sentence = sentences.get(result.get("reason") or "otherwise") or sentences["otherwise"]
        return fill(sentence, {"tool": f"`{tool}`", "why": _why(result)}.get)

    def explain_stuck(self, why: StuckReason, *, has_work: bool) -> str:
        """Why a turn ends without an answer, depending on whether anything of it is done."""
        match why:
            case StuckReason.UNREADABLE:
                return self.say("keptWork" if has_work else "rephrase")
            case StuckReason.PLANNING:
                return self.say("keptWork" if has_work else "planned")
            case StuckReason.REPEATED:
                return self.say("keptWork")
            case StuckReason.LOOPING:
                return self.say("looped")
            case StuckReason.CUT:
                return self.say("cutCall")
            case StuckReason.FILTERED:
                return self.say("heldBack")
            case StuckReason.CAPPED:
                return self.say("capped")
            case _:
                assert_never(why)

    def explain_cut(self, why: CutReason) -> str:
        """What is missing from a reply that is taken as it is."""
        match why:
            case CutReason.LENGTH:
                return self.say("cutShort")
            case CutReason.FILTERED:
                return self.say("restHeldBack")
            case CutReason.CALLS:
                return self.say("callsLeftOut")
            case _:
                assert_never(why)

    def name_the_rest(self, actions: Sequence[str]) -> str:
        """What was asked for and is left undone, said at the end of a turn."""
        named = ["`{}`".format(action.replace("`", "'")) for action in actions]
        return self.say("notDone", rest=", ".join(named))

    def explain_failure(self, error: Exception) -> str:
        """A failure of the gateway or of asking the model, in words for the person."""
        match error:
            case NotSignedIn():
                return self.say("sessionOver")
            case NotFound():
                return self.say("notThere")
            case GatewayError():
                return f"{self.say('gatewayFailed')} ({error.message})"
            case ChatFailure(fault=ChatFailureKind.MODEL_UNAVAILABLE):
                return f"{self.say('noModel')} ({error.message})"
            case ChatFailure(fault=ChatFailureKind.FAILED):
                return f"{self.say('modelFailed')} ({error.message})"
            case ChatFailure(fault=ChatFailureKind.REFUSED):
                return f"{self.say('modelRefused')} ({error.message})"
            case ChatFailure(fault=ChatFailureKind.BROKE_OFF):
                return self.say("modelBrokeOff")
            case ChatFailure():
                return self.say("modelSilent")
            case _:
                return self.say("gatewayFailed")


def _why(result: Result) -> str:
    """The gateway's own words, which begin in lower case and end without a stop, as the rest of a sentence."""
    words = trim(result.get("error") or "")
    if not words:
        return "."
    return f": {words}" if _ENDS_A_SENTENCE.search(words) else f": {words}."
