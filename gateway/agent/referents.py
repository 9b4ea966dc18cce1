"""What "it" and "them" are in a wish that is to stand by itself: what the wish beside it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.agent.acts import ACTS
from gateway.agent.clauses import Clause
from gateway.agent.leads import Order
from gateway.agent.objects import head_of
from gateway.agent.tokens import Token, Tokens, added, moved
from gateway.agent.vocabulary import VOCABULARY
from gateway.agent.wish_verbs import WishVerbs
from gateway.agent.wish_words import WISH_WORDS

_BEINGS: Final = frozenset(WISH_WORDS.beings)
_COLLECTIVE: Final = frozenset(WISH_WORDS.collective)
_BACKWARDS: Final = frozenset((*WISH_WORDS.backwards, *WISH_WORDS.pronouns))
_DETERMINERS: Final = frozenset(WISH_WORDS.determiners)
_PREPOSITIONS: Final = frozenset(WISH_WORDS.prepositions)
_PRONOUNS: Final = frozenset(WISH_WORDS.pronouns)
_READING: Final = frozenset(WISH_WORDS.reading_verbs)
_NOUNS: Final = frozenset(VOCABULARY.document_nouns)
_PICKS: Final = frozenset(word for words in VOCABULARY.picks.values() for word in words)
_TARGETS: Final = frozenset(WISH_WORDS.targets)
_RESULTS: Final = frozenset(WISH_WORDS.results)
_TEXT_VERBS: Final = frozenset(WISH_WORDS.text_verbs)
_WRITING: Final = frozenset(ACTS["write"]["verbs"])
_CARRYING: Final = _WRITING.union(WISH_WORDS.composing_verbs, ACTS["send"]["verbs"])
_MAKING: Final = frozenset({"make", "create"})
_FOLDERS: Final = frozenset(VOCABULARY.folder_nouns)
_CALLED: Final = frozenset(VOCABULARY.named_by)
_MOVING: Final = frozenset(ACTS["move"]["verbs"])
_PLACING: Final = _MOVING.union(VOCABULARY.placing_verbs)
_OUT_OF: Final = frozenset({"from", "in", "inside"})
_INSIDE: Final = frozenset({"in", "with", "of"})
_POSSESSIVES: Final = frozenset(WISH_WORDS.possessives)
_TARGET: Final = frozenset({"to", "into", "in"})
_OFF: Final = frozenset({*WISH_WORDS.prepositions, "off"})
_ENTERED: Final = frozenset(VOCABULARY.entry_links)
_MOST_WORDS: Final = 3


def with_referents(clauses: Sequence[Clause], verbs: WishVerbs) -> list[Clause] | None:
    """The clauses with names in the place of pronouns; None where it is not clear what one means, or where it means what another
    wish comes to."""
    made: list[Clause] = []
    for clause in clauses:
        # "Before deleting it, show me a.txt": only there a pronoun stands before what it means.
        ahead = clauses[1 : 1 if clause.order is Order.AS_SAID else 2]
        beside = next(iter(made[-1:] or ahead), None)
        tokens = clause.tokens
        if leans(tokens):
            tokens = None if beside is None else _named(tokens, beside.tokens, verbs)
        if tokens is None:
            return None
        made.append(replace(clause, tokens=tokens))
    return made


def leans(tokens: Tokens) -> bool:
    """Whether a clause goes back to another one: by a pronoun, or by what that one comes to."""
    return any(_points(tokens, at) for at in range(len(tokens)))


def _points(tokens: Tokens, at: int) -> bool:
    token, before = tokens[at], tokens[at - 1].bare if at else ""
    after = tokens[at + 1].bare if at + 1 < len(tokens) else ""
    follows = after if token.mark == "" else ""
    is_empty = token.bare == "it" and before in _BEINGS and follows != ""
    is_inside = before in _INSIDE and token.bare != "there"
    is_own = (is_inside or _is_joined(tokens[:at])) and any(each.is_name for each in tokens[:at])
    is_pair = token.bare == "both" and follows != ""
    if token.is_quoted or token.is_name or is_empty or is_own or is_pair:
        return False
    if token.bare in _BACKWARDS:
        is_determiner = follows != "" and token.bare in _DETERMINERS and token.bare not in _POSSESSIVES
        return not is_determiner or follows in _RESULTS
    if token.bare == "you" or _picks(tokens, at):
        return True
    is_told = after in _PREPOSITIONS and after not in _TARGET
    is_given = before == "the" or tokens[0].bare in _CARRYING
    return is_given and token.bare in _RESULTS and not is_told


def _is_joined(tokens: Tokens) -> bool:
    """Whether two clauses were put together in these words."""
    return any(token.bare == "and" and token.at < 0 for token in tokens)


def _picks(tokens: Tokens, at: int) -> bool:
    """Whether a word means one of several files by how it stands among them: "the oldest letter"."""
    is_named = any(token.is_name for token in tokens)
    return tokens[at].bare in _PICKS and not is_named and any(token.bare in _NOUNS for token in tokens[at + 1 : at + 3])


def _named(tokens: Tokens, beside: Tokens, verbs: WishVerbs) -> Tokens | None:
    """A clause with what "it" or "them" means in its place."""
    places = [at for at in range(len(tokens)) if _points(tokens, at)]
    is_placed = tokens[0].bare in _PLACING and any(token.is_name for token in tokens)
    if len(places) == 1 and tokens[places[0]].bare == "there" and is_placed and tokens[places[0] - 1].bare != "from":
        return _moved_there(tokens, places[0], beside)
    if len(places) == 1 and tokens[places[0]].bare == "there" and tokens[places[0] - 1].bare in _OUT_OF:
        return _named_there(tokens, places[0], beside)
    is_place = bool(places) and tokens[places[0] - 1].bare in _OFF and beside[0].bare in _TEXT_VERBS
    place_of = _place_of(beside) if is_place else None
    meant = _meant(beside, verbs) if place_of is None else [place_of]
    # A text that is said is what is written, so that "it" is only where it goes: "add milk to it".
    at = places[0] if places else 0
    is_given = any(token.is_quoted for token in tokens[:at]) or (at > 2 and tokens[at - 1].bare in _ENTERED)
    is_carried = tokens[0].bare in _CARRYING and beside[0].bare in _READING and not is_given
    is_joint = any(token.bare in _COLLECTIVE for token in tokens)
    if is_joint or len(places) != 1 or not meant or is_carried or tokens[places[0]].bare not in _PRONOUNS:
        return None
    place = places[0]
    is_many = tokens[place].bare != "it"
    if is_many != (len(meant) > 1):
        return None
    joined: list[Token] = []
    for number, each in enumerate(meant):
        joined += [added("and")] if number else []
        joined += map(moved, each)
    joined[-1] = replace(joined[-1], mark=tokens[place].mark, gap=tokens[place].gap)
    return [*tokens[:place], *joined, *tokens[place + 1 :]]


def _moved_there(tokens: Tokens, at: int, beside: Tokens) -> Tokens | None:
    """A move to the folder that the clause beside it makes or names: "make a folder new/, move a.txt there"."""
    named = [token for token in beside if token.is_name]
    folder = _made_folder(beside) or (named[0] if len(named) == 1 and named[0].text.endswith("/") else None)
    if folder is None:
        return None
    place = replace(moved(folder), mark=tokens[at].mark, gap=tokens[at].gap)
    start = at - 1 if tokens[at - 1].bare in _PREPOSITIONS else at
    return [*tokens[:start], added("into"), place, *tokens[at + 1 :]]


def _named_there(tokens: Tokens, at: int, beside: Tokens) -> Tokens | None:
    """A file of the folder that the clause beside it names: "list old/ and show me a.txt from there"."""
    named = [place for place, token in enumerate(tokens) if token.is_name]
    folders = [token.text for token in beside if token.is_name]
    if len(named) != 1 or len(folders) != 1 or not folders[0].endswith("/") or "/" in tokens[named[0]].text:
        return None
    token = tokens[named[0]]
    path = replace(moved(token), text=f"{folders[0]}{token.text}", bare=f"{folders[0]}{token.text}".lower())
    return [*tokens[: named[0]], path, *tokens[named[0] + 1 : at - 1], *tokens[at + 1 :]]


def _meant(beside: Tokens, verbs: WishVerbs) -> Sequence[Tokens]:
    """What a clause is about: the names in it, or its plain object. Of a move it is where the thing is then."""
    names = [[token] for token in beside if token.is_name]
    if names and not _is_object(beside):
        return []
    if names:
        listed = _listed(beside)
        if len(listed) > 1:
            return [[token] for token in listed]
        return names[-1:] if beside[0].bare in _MOVING else names[:1]
    if (folder := _made_folder(beside)) is not None:
        return [[folder]]
    head = head_of(beside, verbs)
    if head == 0 or beside[0].bare in _TEXT_VERBS:
        return []
    place = next((at for at in range(head, len(beside)) if beside[at].bare in _PREPOSITIONS), len(beside))
    thing = beside[head:place]
    if thing and thing[-1].bare == "off":
        thing = thing[:-1]
    is_plain = 0 < len(thing) <= _MOST_WORDS and not any(token.bare == "and" or token.is_quoted for token in thing)
    return [thing] if is_plain else []


def _made_folder(beside: Tokens) -> Token | None:
    """The name of a folder that is made, without a slash: "make a folder archive", "create a folder called archive"."""
    at = next((at for at, token in enumerate(beside) if token.bare in _FOLDERS), len(beside))
    name = [token for token in beside[at + 1 :] if token.bare not in _CALLED]
    return replace(name[0], mark="", gap=" ") if len(name) == 1 and beside[0].bare in _MAKING else None


def _is_object(beside: Tokens) -> bool:
    """Whether the first name of a clause is what something is done to, and not the place where something is."""
    at = next(at for at, token in enumerate(beside) if token.is_name)
    before = beside[at - 1].bare
    return before not in _PREPOSITIONS or before in _TARGETS or beside[0].bare in _WRITING


def _place_of(beside: Tokens) -> Tokens | None:
    """Where a clause puts something: "take it off the list" goes back to "add it to the list"."""
    places = [at for at, token in enumerate(beside) if token.bare in _PREPOSITIONS]
    place = beside[places[0] + 1 :] if places else None
    return place if place and len(place) <= _MOST_WORDS and place[0].bare in _DETERMINERS else None


def _listed(tokens: Tokens) -> list[Token]:
    """The names of a list at the first name of a clause."""
    start = next(at for at, token in enumerate(tokens) if token.is_name)
    listed: list[Token] = []
    for at in range(start, len(tokens)):
        if tokens[at].is_name:
            listed.append(tokens[at])
        if tokens[at].bare != "and" and not (tokens[at].is_name and (tokens[at].mark == "," or _joins(tokens, at + 1))):
            break
    return listed


def _joins(tokens: Tokens, at: int) -> bool:
    return at < len(tokens) and tokens[at].bare == "and"
