"""What the schemas of different versions of the program know, so that a policy on record is asked as it was."""

from __future__ import annotations

from typing import Final, NamedTuple

from gateway.core.moment import MomentFact


class SchemaGeneration(NamedTuple):
    """What the schema of a version knows beside what all of them know: facts of the moment, and the trust of tools."""

    moment: frozenset[MomentFact]
    trust: bool


GENERATIONS: Final = (
    SchemaGeneration(frozenset(MomentFact), trust=True),
    SchemaGeneration(frozenset(MomentFact) - {MomentFact.ARGUMENTS_FROM_UNTRUSTED}, trust=True),
    SchemaGeneration(frozenset(), trust=False),
)
"""The newest first. Policies of earlier versions keep their schema, in their folder and on record, and are asked no more than it
knows."""
