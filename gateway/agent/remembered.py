"""What a small model says to a question that no file answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gateway.agent.action_schema import action_schema
from gateway.agent.acts import ACTS, READING, asked_acts, is_thing
from gateway.agent.affairs import doubtful_query, may_be_own, own_queries, phrases_in
from gateway.agent.browser import trim
from gateway.agent.choosing import choose, offered
from gateway.agent.claims import record_of, without_false_claims
from gateway.agent.copied import NOTHING_SAID
from gateway.agent.further import query_that_found, searcher_among
from gateway.agent.general import asks_how, asks_live, asks_what
from gateway.agent.kept import without_reader
from gateway.agent.lane import AnswerStep, LaneInput, ProposedCall
from gateway.agent.messages import ToolMessage, UserMessage
from gateway.agent.named import named_thing, record_query, tells_figure
from gateway.agent.names import Slot, slot_of
from gateway.agent.passages import invents_number
from gateway.agent.ports import ChatMessage
from gateway.agent.prompts import abilities_of, action_prefix
from gateway.agent.provenance import neutralise
from gateway.agent.ranking import stem, terms_in
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_verbs import wish_verbs
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import words_of

_LEADING: Final = frozenset((*VOCABULARY.fillers, *WISH_WORDS.fillers))
_ORDERS: Final = frozenset(WISH_WORDS.imperatives) - {*VOCABULARY.spoken_verbs, *VOCABULARY.explaining_verbs, *WISH_WORDS.telling}
_ON_FILES: Final = frozenset({READING, "delete", "move"})
"""Acts of which a model can tell nothing by itself: "show the groceries". A poem it can write."""

_WORLD: Final = frozenset((*VOCABULARY.world_nouns, *VOCABULARY.world_verbs))
_OWN_ASKED: Final = re.compile(
    rf"(?:{any_of(VOCABULARY.plan_questions)}|what)(?:['’]s| (?:{any_of(VOCABULARY.classifying_words)})) ",
    re.IGNORECASE | re.ASCII,
)
_WORDED: Final = frozenset((*WISH_WORDS.telling, *VOCABULARY.explaining_verbs, *VOCABULARY.comparing_verbs))
"""Orders that words alone do: "count to five"."""

_COMPOSING: Final = frozenset(VOCABULARY.composing_orders)
_COMPOSED: Final = frozenset(VOCABULARY.composed_texts)
_MANY: Final = frozenset(word for word, number in VOCABULARY.number_words.items() if number > 1)
_KEPT: Final = frozenset(
    (
        *VOCABULARY.document_nouns,
        *(noun for kind, nouns in VOCABULARY.counted_nouns.items() if kind != "word" for noun in nouns),
    )
)
"""What stands in files, and no model knows: "list three invoices"."""

_LIGHT: Final = frozenset(map(stem, (*VOCABULARY.light_words, *WISH_WORDS.possessives)))
_SELF: Final = frozenset({stem("name"), "s"})
"""Terms of "what's my name?", which is told by "I'm Ana" as well."""

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*", re.ASCII)
_UNSURE: Final = re.compile(r"\?|\b(?:or|not|never)\b|n['’]t\b", re.IGNORECASE | re.ASCII)
_ASKING: Final = frozenset((*WISH_WORDS.imperatives, *VOCABULARY.modals, *VOCABULARY.question_words))
"""First words of an order or a question, which tell nothing: "call Jonas", "which files mention Jonas"."""

_NAME_HAS: Final = re.compile(r"^(?:Has|has) [A-Z]", re.ASCII)
_LEANING: Final = 3
"""Words of a question that goes on with the one before it: "since when?"."""

_NAMED: Final = 2
"""Words by which a thing is looked for."""

_LONGEST_REFUSAL: Final = 100
"""Characters. What is longer says something beside the refusal."""


def out_of_memory(lane: LaneInput, wish: str, said: str) -> str:
    """What it says to a question that some file may answer and that it has looked in no file for, and that it has not, or to one
    for what changes from day to day; in the place of a refusal what it can do; empty for any other question."""
    if _is_told(lane, wish, said):
        return ""
    kept = record_query(wish)
    if not kept and asks_live(wish) and not trim(said).endswith("?"):
        return lane.copy.say("notLive")
    made_up = _made_up_of(wish, said)
    query = (kept or made_up or doubtful_query(wish)) if (kept or trim(said)) and searcher_among(offered(lane.tools)) else ""
    if not query:
        return _able(lane) if _declines(said) else ""
    looked = lane.copy.say("notLooked", query=query)
    # What only a record tells, a model makes up.
    return looked if kept or made_up else f"{said}\n\n{looked}"


def _made_up_of(wish: str, said: str) -> str:
    """The thing of somebody's own, told apart by "the", "my" or a name, of which an answer without a look has a number or a day
    that nobody said; empty for any other answer."""
    words = words_of(wish)
    is_figure = trim(wish).endswith("?") and tells_figure(said) and invents_number(said, [wish])
    # What "my" name is, or who "our" landlord is, no model knows; what "our" solar system is, or "Newton's" law, it does.
    is_own = _OWN_ASKED.match(trim(wish)) is not None and trim(said) != "" and not trim(said).endswith("?")
    is_ours = any(word.bare == "our" for word in words)
    phrases = [each for each in phrases_in(wish, words) if each.words and not each.of_world]
    things = [
        each.words
        for each in phrases
        if is_figure
        or (is_own and each.owned and not each.name and not (is_ours and any(word.bare in _WORLD for word in each.words)))
    ]
    return " ".join(word.bare for word in things[0][:_NAMED]) if things else ""


def without_call(lane: LaneInput, wish: str, said: str, call: ProposedCall) -> str:
    """What it says in the place of a call that nobody asked for, and what it can do instead. Its words are held against the
    record by themselves: beside ours they are long enough for a draft."""
    if _is_told(lane, wish, said):
        return said
    if (unseen := _unseen(lane, wish, said, call)) is not None:
        return unseen
    is_any = any(word.bare in ("a", "an") for word in words_of(wish))
    is_order = not is_any and any(each.act in _ON_FILES for each in asked_acts(wish))
    is_spoken = _is_spoken(wish)
    is_asked = not is_spoken and (is_order or _is_errand(wish))
    if (is_asked or may_be_own(wish) or record_query(wish)) and not trim(said).endswith("?"):
        # Of what it was to look at, or to do, it knows nothing without the call; a question of its own stands.
        said = ""
    if not is_spoken and _claims_order(lane, wish, said):
        said = ""
    if lane.quotes and trim(wish).endswith("?"):
        # Nor does it know what it was asked.
        said = ""
    said = without_false_claims(said, record_of(lane.messages, lane.turn_id, lane.tools, lane.actions))
    if doubted := out_of_memory(lane, wish, said):
        return doubted
    return f"{said}\n\n{_able(lane)}" if trim(said) else _able(lane)


def _unseen(lane: LaneInput, wish: str, said: str, call: ProposedCall) -> str | None:
    """What is said where it answers a question for which it wanted to look, and has not looked; None where its words may stand:
    it knows what something is, why, and what is of the world."""
    looks = any(tool["name"] == call.name and tool["category"] == "read" for tool in lane.tools)
    is_question = trim(wish).endswith("?") and not trim(said).endswith("?")
    is_known = (
        not _is_about_own(wish)
        or asks_what(wish)
        or asks_how(wish)
        or not _WORLD.isdisjoint(word.bare for word in words_of(wish))
    )
    if not looks or not is_question or is_known:
        return None
    words = {word.bare for word in words_of(wish)}
    queries = [value for name, value in call.arguments.items() if slot_of(name) is Slot.QUERY and isinstance(value, str)]
    told = [each for each in queries if words_of(each) and words.issuperset(word.bare for word in words_of(each))]
    return lane.copy.say("notLooked", query=told[0]) if told else _able(lane)


def _is_about_own(wish: str) -> bool:
    """Whether a question may be about the person's own affairs: "has Theo paid?", and not "are you sure?"."""
    words = [word.bare for word in words_of(wish)]
    first = next(iter(words), "")
    if "you" in words or first in VOCABULARY.advice_modals:
        return False
    leans = first in VOCABULARY.leading_prepositions and len(words) <= _LEANING
    return leans or _NAME_HAS.match(wish) is not None or may_be_own(wish) or own_queries(wish) != []


def _is_told(lane: LaneInput, wish: str, said: str) -> bool:
    """Whether the person said before what answers the question: "my name is Ana"."""
    asked = set(terms_in(wish)) - _LIGHT
    answer = set(terms_in(said)) - set(terms_in(wish)) - _LIGHT
    earlier = [each.content for each in lane.messages if isinstance(each, UserMessage) and each.turn_id != lane.turn_id]
    known = [set(terms_in(_told_in(each))) for each in earlier]
    told = any(answer <= terms and (asked <= _SELF or not asked.isdisjoint(terms)) for terms in known)
    return trim(wish).endswith("?") and answer != set() and told


def _told_in(text: str) -> str:
    """The sentences of a text that tell something: no question, no order, and nothing that is denied or left open."""
    return " ".join(each for each in _SENTENCE.findall(text) if _UNSURE.search(each) is None and _first_of(each) not in _ASKING)


def _first_of(sentence: str) -> str:
    return next((word.bare for word in words_of(sentence) if word.bare not in WISH_WORDS.fillers), "")


def _is_spoken(wish: str) -> bool:
    """Whether words alone do what is ordered, and none of somebody's own things are in it: a poem, "count to five", "list three
    fruits"."""
    words = [word.bare for word in words_of(wish) if word.bare not in _LEADING]
    phrases = phrases_in(wish, words_of(wish))
    if any(each.words and not each.of_world for each in phrases) or any(map(is_thing, wish.split())):
        return False
    first, second = (*words, "", "")[:2]
    is_many = second in _MANY or second.isdecimal()
    is_list = first in ACTS[READING]["verbs"] and is_many and _KEPT.isdisjoint(words[1:])
    return first in _WORDED or is_list or (first in _COMPOSING and not _COMPOSED.isdisjoint(words))


def _claims_order(lane: LaneInput, wish: str, said: str) -> bool:
    """Whether it says that what is ordered is done, or that it can do it: "the rows are sorted"."""
    first = next((word.bare for word in words_of(wish) if word.bare not in _LEADING), "")
    verbs = wish_verbs(offered(lane.tools))
    words = [word.bare for word in words_of(said)]
    is_done = any(verbs.forms.get(word) == first for word in words)
    is_able = any(after == first and lead in VOCABULARY.modals for lead, after in pairwise(words))
    return first in verbs.all and (is_done or is_able)


def _able(lane: LaneInput) -> str:
    return lane.copy.say("notAskedFor", abilities=abilities_of(without_reader(offered(lane.tools)), lane.words))


def _declines(said: str) -> bool:
    """Whether it says no more than that it cannot help, as small models do about a long tale."""
    plain = trim(said).lower().replace("’", "'")
    return len(plain) <= _LONGEST_REFUSAL and any(words in plain for words in VOCABULARY.help_refusals)


def _is_errand(wish: str) -> bool:
    """Whether a wish orders something that words alone do not do: "call the plumber", and not one for a text."""
    first = next((word.bare for word in words_of(wish) if word.bare not in _LEADING), "")
    return first in _ORDERS


async def from_memory(lane: LaneInput, wish: str, calls: Sequence[ToolMessage]) -> str:
    """It, told to be out of its memory."""
    query = query_that_found(calls).strip("*")
    if record_query(wish) or lane.quotes:
        # What only a record tells, a model makes up; and whatever it says to somebody who speaks no English.
        return lane.copy.say("notFound", query=query)
    prompt: list[ChatMessage] = [*action_prefix([], lane.words), {"role": "user", "content": neutralise(wish)}]
    said = await choose(lane, prompt, action_schema([], NOTHING_SAID, lane.words), can_call=False)
    remembered = trim(said.text) if isinstance(said, AnswerStep) else ""
    if named_thing(wish) and tells_figure(remembered):
        # Of somebody's own things it can have no number and no day.
        remembered = ""
    looked = lane.copy.say("notInFiles" if remembered else "notFound", query=query)
    return f"{looked}\n\n{remembered}" if remembered else looked
