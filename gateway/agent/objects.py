"""One verb that is said once for several objects, as one wish for each: "list photos/ and videos/", "X to a and Y to b".

Whatever may be one object with an "and" in it stays one: a text to be written, what is looked for, a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.ranking import stem
from gateway.agent.tokens import Token, Tokens, phrase_at
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_verbs import WishVerbs
from gateway.agent.wish_words import WISH_WORDS

_ASKING: Final = frozenset(WISH_WORDS.asking)
_COLLECTIVE: Final = frozenset(WISH_WORDS.collective)
_DETERMINERS: Final = frozenset(WISH_WORDS.determiners)
_FILLERS: Final = frozenset(WISH_WORDS.fillers)
_JOINERS: Final = frozenset(WISH_WORDS.joiners)
_PARTICLES: Final = frozenset(WISH_WORDS.particles)
_PREPOSITIONS: Final = frozenset(WISH_WORDS.prepositions)
_AFTER_VERB: Final = frozenset((*WISH_WORDS.sharing, *WISH_WORDS.particles))
_TEXT_VERBS: Final = frozenset(WISH_WORDS.text_verbs)
_WRITING: Final = frozenset((*ACTS["write"]["verbs"], *ACTS["send"]["verbs"]))
_JOINT: Final = (_TEXT_VERBS - _WRITING).union(ACTS["send"]["verbs"])
"""Verbs whose things belong together: one mail to two people."""

_MOVING: Final = frozenset(ACTS["move"]["verbs"])
_PUTTING: Final = frozenset(VOCABULARY.putting_verbs)
_FOLDERS: Final = frozenset(VOCABULARY.folder_nouns)
_INTO: Final = frozenset(VOCABULARY.moving_links)
_TARGET: Final = frozenset({"to", "into"})
_DAYS: Final = frozenset(VOCABULARY.near_days)
_SAME: Final = frozenset({"this", "last", "next"})
_NUMBERED: Final = re.compile(r"[A-Za-z][A-Za-z_.-]*[0-9]+", re.ASCII)
_MOST_WORDS: Final = 4
"""Words of an object that is plain. A longer one is a clause."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands between two joins. `is_joined` says that a word stands before it and no mere comma, `is_parted` that it is more
    than "and"."""

    tokens: Tokens
    is_joined: bool
    is_parted: bool


def spread(tokens: Tokens, verbs: WishVerbs) -> list[Tokens]:
    """The wishes of a clause: as many as its verb has objects."""
    parts = _parts_of(tokens)
    if len(parts) == 1 or any(_is_collective(tokens, at) for at in range(len(tokens))):
        return [tokens]
    head = head_of(tokens, verbs) or phrase_at(tokens, 0, WISH_WORDS.statements)
    if tokens[0].bare in _MOVING and any(token.is_name for token in parts[0].tokens[:-1]):
        return _of_moves(parts) or [tokens]
    framed = _of_frames(parts, head or _noun_of(tokens, verbs)) or _of_places(parts, verbs)
    return framed or _of_names(parts, head) or _of_likes(parts, head) or [tokens]


def _is_collective(tokens: Tokens, at: int) -> bool:
    """Whether a word puts things together, and is no place that they go to: "move a.txt and b.txt to archive"."""
    is_place = at > 0 and tokens[at - 1].bare in _TARGET
    return tokens[at].bare in _COLLECTIVE and not tokens[at].is_quoted and not is_place


def head_of(tokens: Tokens, verbs: WishVerbs) -> int:
    """How many words of a clause are its verb, with for whom it is and its particle: "show me", "remind me to call"."""
    words = [token.bare for token in tokens]
    if not words or words[0] not in verbs.all:
        return 0
    end = 1
    while end < len(words) and words[end] in _AFTER_VERB:
        end += 1
    has_verb = words[end : end + 1] == ["to"] and not verbs.all.isdisjoint(words[end + 1 : end + 2])
    return end + 2 if has_verb or words[end : end + 2] == ["rid", "of"] else end


def _noun_of(tokens: Tokens, verbs: WishVerbs) -> int:
    """How many words of a clause without a verb say what is wanted, before where or for whom: "weather in Rome and in Paris"."""
    place = next((at for at, token in enumerate(tokens) if token.bare in _PREPOSITIONS), 0)
    return place if stem(tokens[0].bare) in verbs.nouns else 0


def _parts_of(tokens: Tokens) -> list[_Part]:
    """A clause at its joins. An "and" after "between" is none."""
    parts: list[_Part] = []
    own: list[Token] = []
    is_joined, is_parted, at = False, False, 0
    while at < len(tokens):
        sequel = phrase_at(tokens, at, WISH_WORDS.sequels) if own or parts else 0
        is_range = any(token.bare == "between" for token in own)
        is_join = not tokens[at].is_quoted and (sequel > 0 or (tokens[at].bare in _JOINERS and not is_range))
        if is_join or (own and own[-1].mark == ","):
            if own:
                parts.append(_Part(own, is_joined, is_parted))
                own, is_joined, is_parted = [], False, False
            is_joined, is_parted = is_joined or is_join, is_parted or sequel > 0
        if is_join or (not own and parts and tokens[at].bare in _FILLERS):
            at += sequel or 1
            continue
        if tokens[at].bare != "both" or tokens[at].is_quoted:
            own.append(tokens[at])
        at += 1
    return [part for part in (*parts, _Part(own, is_joined, is_parted)) if part.tokens]


def _of_names(parts: Sequence[_Part], head: int) -> list[Tokens]:
    """One wish for each name of a list: "open a.txt and b.txt", "move a.txt and b.txt into c/"."""
    first, last = parts[0].tokens, parts[-1].tokens
    lead, tail = first[:-1], last[1:]
    names = [first[-1], *(part.tokens[0] for part in parts[1:])]
    is_list = all(map(_is_label, names)) and all(len(part.tokens) == 1 for part in parts[1:-1])
    is_question = first[0].bare in _ASKING
    if not is_list or not lead or (head == 0 and not is_question) or (is_question and lead[-1].bare == "of"):
        return []
    is_target = lead[-1].bare in _PREPOSITIONS
    is_put = first[0].bare in _PUTTING and all(name.is_name for name in names) and _is_folder(tail)
    is_joint = first[0].bare in _JOINT and not is_target and not is_put
    is_other = bool(tail) and (first[0].bare in _WRITING or not (is_question or tail[0].bare in _PREPOSITIONS))
    if is_joint or is_other or (any(token.is_name for token in lead) and not is_target):
        return []
    return [[*lead, name, *tail] for name in names]


def _of_places(parts: Sequence[_Part], verbs: WishVerbs) -> list[Tokens]:
    """One wish for each place that what a tool tells is asked for: "the weather in Rome and Paris"."""
    first, others = parts[0].tokens, [part.tokens for part in parts[1:]]
    names = [first[-1], *(other[-1] for other in others)]
    is_said = any(stem(token.bare) in verbs.nouns for token in first[:-2])
    is_place = len(first) > 1 and first[-2].bare == "in" and all(name.text[:1].isupper() and not name.is_name for name in names)
    is_list = all(len(other) == 1 or (len(other) == 2 and other[0].bare == "in") for other in others)
    return [[*first[:-1], name] for name in names] if is_said and is_place and is_list else []


def _of_moves(parts: Sequence[_Part]) -> list[Tokens]:
    """One wish for each file of "move a.txt to old/ and b.txt": no file goes to two places, so that the second name is that of
    another file. None where it cannot be that."""
    first, others = parts[0].tokens, [part.tokens for part in parts[1:]]
    if all(not _INTO.isdisjoint(token.bare for token in other) for other in others):
        return [first, *([first[0], *other] for other in others)]
    files = [other[0] for other in others if len(other) == 1 and other[0].is_name and not other[0].text.endswith("/")]
    is_into = first[-2].bare in _INTO and first[-1].text.endswith("/")
    return [first, *([first[0], file, *first[-2:]] for file in files)] if is_into and len(files) == len(others) else []


def _is_folder(tail: Tokens) -> bool:
    """Whether what follows a list of files is the folder that they go to: "into old/", "in the folder old"."""
    is_told = tail[-1:] != [] and (tail[-1].text.endswith("/") or not _FOLDERS.isdisjoint(token.bare for token in tail))
    return is_told and tail[0].bare in _INTO


def _of_frames(parts: Sequence[_Part], head: int) -> list[Tokens]:
    """One wish for each pair of things: "X to a and Y to b", "18 at Lidl and 6.50 at Pret"."""
    first = parts[0].tokens
    bodies = [first[head:], *(part.tokens for part in parts[1:])]
    # "The lamp in the hall on and the one in the bath off": what is done stands at the end.
    is_switched = all(body and body[-1].bare in _PARTICLES for body in bodies)
    framed = [body[:-1] for body in bodies] if is_switched else bodies
    joints = [_joints_of(body) for body in framed]
    is_framed = joints[0] != [] and all(each == joints[0] for each in joints) and all(len(body) > 1 for body in framed)
    if not is_framed or (head == 0 and not first[0].bare[:1].isdecimal()):
        return []
    begins = {body[0].bare if body[0].bare in _PREPOSITIONS else "" for body in framed}
    if len(begins) > 1 or any(body[-1].bare in _PREPOSITIONS for body in framed):
        return []
    return [[*first[:head], *body] for body in bodies]


def _of_likes(parts: Sequence[_Part], head: int) -> list[Tokens]:
    """One wish for each of several plain objects: "turn on the lamp and the heater", "show me the week, then the month"."""
    first, others = parts[0].tokens, [part.tokens for part in parts[1:]]
    same = next((at for at, token in enumerate(first) if at and token.bare in _SAME), len(first))
    if all(other[0].bare in _SAME and len(other) <= len(first) - same for other in others):
        return [first, *([*first[:same], *other] for other in others)]
    is_parted = all(part.is_parted for part in parts[1:])
    is_text = first[0].bare in _TEXT_VERBS and not is_parted
    if not 0 < head < len(first) or is_text or not parts[-1].is_joined:
        return []
    place = _place_in(others[-1], first, head)
    bodies = [first[head:], *others[:-1], others[-1][:place]]
    is_long = any(len(body) > _MOST_WORDS for body in bodies[1:])
    if is_long or any(token.is_quoted for body in bodies for token in body) or (not is_parted and _is_title(bodies)):
        return []
    determiner = [first[head]] if first[head].bare in _DETERMINERS else []
    full = [[*determiner, *body] if len(body) == 1 and not _is_full(body) else body for body in bodies]
    is_alike = all(map(_is_full, full)) or all(len(body) == 1 and not body[0].is_name for body in bodies)
    return [[*first[:head], *body, *others[-1][place:]] for body in full] if is_alike or is_parted else []


def _place_in(last: Tokens, first: Tokens, head: int) -> int:
    """Where the words of the last object begin that are said of all: "the lamp and the fan in the kitchen", "… off"."""
    if last[-1].bare in _PARTICLES and first[-1].bare not in _PARTICLES and head == 1:
        return len(last) - 1
    has_place = any(token.bare in _PREPOSITIONS for token in first[head:])
    places = [at for at, token in enumerate(last[:-1]) if at and token.bare in _PREPOSITIONS]
    return len(last) if has_place or not places else places[0]


def _joints_of(body: Tokens) -> list[str]:
    """What holds an object together: its prepositions, and quotes."""
    return ["'" if token.is_quoted else token.bare for token in body if token.is_quoted or token.bare in _PREPOSITIONS]


def _is_label(token: Token) -> bool:
    """Whether a word names one thing, such as a file or `web-1`."""
    return token.is_name or (not token.is_quoted and _NUMBERED.fullmatch(token.text) is not None)


def _is_full(body: Tokens) -> bool:
    return body[0].is_name or body[0].bare in _DETERMINERS or (len(body) == 1 and body[0].bare in _DAYS)


def _is_title(bodies: Sequence[Tokens]) -> bool:
    """Whether two words may be one name: "Marks and Spencer"."""
    return len(bodies) == 2 and all(body[0].text[:1].isupper() and not body[0].is_name for body in bodies)
