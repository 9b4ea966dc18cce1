"""Which loop a model gets: a property of its weights, which the gateway has found out by trying them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.agent.chained_lane import chained_lane
from gateway.agent.chained_prompt import chained_prefix
from gateway.agent.json_lane import json_lane
from gateway.agent.kept import without_attaching, without_reader
from gateway.agent.lane import Lane
from gateway.agent.messages import Tool
from gateway.agent.native_lane import native_lane
from gateway.agent.plain_calls import said_tools
from gateway.agent.ports import ChatMessage
from gateway.agent.prompts import Words, action_prefix
from gateway.core.vocabulary import Tier

_LANES: Final[Mapping[Tier, Lane]] = {Tier.NATIVE: native_lane, Tier.CHAINED: chained_lane, Tier.SINGLE: json_lane}


def tier_of(model: Mapping[str, Any]) -> Tier:
    """The tier of a `ModelInfo`. One that does not say is taken at what it always said: whether it takes declared tools."""
    tier = model.get("tier")
    if tier is not None:
        return Tier(tier)
    return Tier.NATIVE if model["supportsTools"] else Tier.SINGLE


def prefix_for(tier: Tier | None, tools: Sequence[Tool], words: Words) -> list[ChatMessage]:
    """What every conversation of this tier begins with, for a model server to read in advance: without the tools that a small
    model is only shown where a wish has a word for them."""
    tools = without_attaching(tools)
    if tier is Tier.CHAINED:
        return chained_prefix(said_tools("", tools, words), words)
    return action_prefix(said_tools("", without_reader(tools), words), words)


def lane_for(model: Mapping[str, Any]) -> Lane:
    """The lane of its tier."""
    return _LANES[tier_of(model)]
