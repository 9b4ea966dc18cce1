"""Questions about the person's own affairs, which name no file and which some file may answer: "when is the heating inspected?".

Told by how they refer to what they ask about: "my", "our", somebody's, "we" with what we did, or "the" with a thing that there is
more than one of in the world. A question about the world says "a", nothing, "the capital of Italy" or "the moon". Where the words
leave a doubt it is none: what follows is a search, which is not what somebody wants who asked for a fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gateway.agent.acts import ACTS, is_thing
from gateway.agent.browser import trim
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import Word, words_of

_LEAD: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)})[,!]? )*(?:(?:{any_of(VOCABULARY.asking_phrases)}),? (?:(?:if|whether) )?)?",
    re.IGNORECASE | re.ASCII,
)
_PARTS: Final = re.compile(r"(?<!\b[A-Z][a-z])(?<!\b[0-9])(?<!\b[0-9]{2})[.!?:][\"')]*[ \t]|[!?:] |[;\n]", re.ASCII)
"""Where another sentence begins. "Dr." ends none, nor does "2." before what is the second."""

_PAUSED: Final = re.compile(r"(?:(?<!\b[0-9])(?<!\b[0-9]{2})\.|[,:!?)])[\"'`)]*\Z")
_POSSESSIVE: Final = re.compile(rf"(?:[A-Z][A-Za-z-]*|{any_of(VOCABULARY.relatives)})['’]s")
_ENDING: Final = re.compile(r"['’]s\Z")

_NUMBERED: Final = re.compile(r"(?!(?:19|20)[0-9]{2}(?![0-9]))[0-9]{3,}[?!.,]?\Z")
"""A number that things are told apart by. Most of four digits are years."""

_IDENTIFIER: Final = r"[a-z]+(?:_[a-z0-9]+)+|[a-z]{3,}[A-Z][A-Za-z0-9]*"
_CODED: Final = re.compile(rf"(?:[A-Z]{{1,4}}-?[0-9]{{3,}}[A-Z0-9-]*|v?[0-9]+\.[0-9]+\.[0-9]+|{_IDENTIFIER})[?!.,]?\Z")
_CALLED: Final = frozenset(VOCABULARY.named_by)
_NAMING: Final = frozenset({"which", "what"})
_CUES: Final = frozenset(VOCABULARY.cues)
_ASKING: Final = frozenset((*VOCABULARY.question_openers, *VOCABULARY.yes_no_words))
_OWNERS: Final = frozenset(VOCABULARY.owners)
_KNOWN: Final = frozenset(VOCABULARY.known_words)
_SPEAKERS: Final = frozenset(VOCABULARY.speakers)
_ENDS: Final = frozenset((*VOCABULARY.phrase_ends, *VOCABULARY.link_words))
_PASSING: Final = frozenset(VOCABULARY.passing_words)
_ATTRIBUTES: Final = frozenset(VOCABULARY.attributes)
_WORLD: Final = frozenset((*VOCABULARY.world_nouns, *VOCABULARY.superlatives))
_HOMELY: Final = frozenset(VOCABULARY.homely_nouns)
_WORLD_VERBS: Final = frozenset(VOCABULARY.world_verbs)
_PAST: Final = frozenset(VOCABULARY.past_helpers)
_DEALINGS: Final = frozenset(VOCABULARY.dealings)
_ADVICE: Final = frozenset(VOCABULARY.advice_modals)
_ADDRESSED: Final = frozenset(VOCABULARY.keeping_helpers)
_STATES: Final = frozenset(VOCABULARY.state_words)
_KEPT: Final = frozenset(VOCABULARY.kept_things)
_SETTLED: Final = frozenset(VOCABULARY.settled_words)
_UNSETTLED: Final = frozenset((*VOCABULARY.world_verbs, *VOCABULARY.advice_modals, *VOCABULARY.folder_nouns, "a", "an"))
_NEAR: Final = 3
"""Words before a thing among which the one is that tells which is meant: "the most expensive order"."""

_SPANS: Final = frozenset((*VOCABULARY.unpicked_nouns, "until", "till"))
_BEFORE_SUBJECT: Final = frozenset((*VOCABULARY.yes_no_words, *VOCABULARY.modals, "shall"))
_TURNED_AWAY: Final = frozenset(VOCABULARY.turned_away)
"""Words that go back to something, speak to the model, or ask for files themselves."""

_BEINGS: Final = frozenset({"is", "was"})
TASKS: Final = ("todo", "to-do", "task")
"""What people call the list of what they have to do."""

_TO_DO: Final = frozenset((verb, "to", "do") for verb in ("have", "need", "left", "got"))
_DAYS: Final = frozenset((*VOCABULARY.weekdays, *(name for month in VOCABULARY.months for name in month)))
_NO_THING: Final = frozenset((*VOCABULARY.phrase_ends, *VOCABULARY.link_words, *_DAYS, *VOCABULARY.before_figures))
"""Words before a number that is no thing's own."""

_TELLING_NOTHING: Final = frozenset(
    (
        *VOCABULARY.phrase_ends,
        *VOCABULARY.link_words,
        *VOCABULARY.figure_nouns,
        *VOCABULARY.light_words,
        *VOCABULARY.weak_words,
        *VOCABULARY.fillers,
        *VOCABULARY.asking_words,
        *VOCABULARY.attributes,
        *VOCABULARY.passing_words,
        *VOCABULARY.measures,
        *(word for act in ACTS.values() for word in (*act["verbs"], *act["claims"])),
        *VOCABULARY.vague_words,
    )
)
_MOST_WORDS: Final = 20
_PHRASE_WORDS: Final = 4
_MOST_QUERIES: Final = 3
"""With the read that follows them, these are all calls that one question may lead to."""

_SHORT: Final = 4
"""Letters of an ending-less word that is looked for as it is; a shorter one stands in too many others."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What stands after "my", "the" or a name: its words, and whether somebody owns it."""

    words: Sequence[Word]
    owned: bool
    of_world: bool = False
    name: str = ""


def own_queries(wish: str) -> list[str]:
    """What to look for, the surest first, to answer a question about the person's own affairs; nothing for any other wish."""
    question = question_in(wish)
    words = words_of(question)
    if not is_one_question(words):
        return []
    if _asks_tasks(words):
        return list(TASKS)
    if code := _code_in(question, words):
        return [code]
    phrases = phrases_in(question, words)
    owned = any(each.owned for each in phrases)
    said = {word.bare for word in words}
    if not owned and (_asks_why(words) or _classifies(words) or _asks_use(words) or not said.isdisjoint(_WORLD_VERBS)):
        return []
    if not owned and any(each.of_world for each in phrases):
        return []
    telling = [each for each in phrases if each.name or not _is_plain(each.words) or (each.owned and len(each.words) > 1)]
    if not telling and not _speaks_of_us(words):
        return []
    return _queries_of(question, words, sorted(telling, key=lambda each: not each.owned))


def doubtful_query(wish: str) -> str:
    """What could be looked for to answer a question that may be about the person's own affairs, and as well about the world: a
    name, or a thing that is told apart by "the"; empty for any other wish."""
    question = question_in(wish)
    words = words_of(question)
    if (
        not is_one_question(words)
        or any(word.bare in _WORLD for word in words)
        or _opener([word.bare for word in words]) == "how"
    ):
        return ""
    names = [word for word in words[1:] if question[word.start].isupper() and len(word.bare) > 2 and word.bare not in _DAYS]
    if len(names) == 1 and _asks_of_somebody(words, names[0]):
        return _bare_name(question, names[0])
    # "What is Python?" asks for no more than that.
    others = [word for word in words if word not in names and _ENDING.sub("", word.bare) not in _TELLING_NOTHING]
    things = [each.words for each in phrases_in(question, words) if not each.of_world and not _is_plain(each.words)]
    return _text(question, _run_of(names) or next(iter(things), ())) if others else ""


def apart_query(wish: str) -> str:
    """The one word by which a file may answer what no name, no "the" and no "my" tells apart from the world: "what port does
    tidepool listen on?", "how do we release?". It counts only where something else of the question stands beside it, or in a
    file's own name. Empty for any other wish."""
    question = question_in(wish)
    words = words_of(question)
    bare = [word.bare for word in words]
    if not is_one_question(words) or len(bare) < _SHORT or not _WORLD.isdisjoint(bare) or not _WORLD_VERBS.isdisjoint(bare):
        return ""
    is_ours = bare[0] == "how" and bare[1] in ("do", "did") and bare[2] == "we"
    is_of_one = bare[0] in _NAMING and bare[1] not in _ENDS and bare[2] in ("does", "has")
    word = bare[3] if is_ours or (is_of_one and len(bare) > _SHORT) else ""
    return "" if word in _TELLING_NOTHING or word in _ENDS or len(word) < _SHORT else _root(word)


def kept_query(wish: str) -> str:
    """What to look for to answer a question about what somebody keeps records of, "how much is the order for Kessler?", "which
    errors came up on March 9?": a name of it, else the word for the thing. Only a record tells it, and no memory. Empty for any
    other wish, such as one about the errors of a language."""
    question = question_in(wish)
    words = words_of(question)
    bare = [word.bare for word in words]
    if not is_one_question(words) or not _UNSETTLED.isdisjoint(bare) or _asks_why(words):
        return ""
    # Where a file or a folder is named, that is what to look in: "which orders are in orders/?"
    if any(is_thing(question[word.start : word.end]) for word in words):
        return ""
    thing = next((at for at, word in enumerate(bare) if word in _KEPT and _is_settled(bare, at)), 0)
    names = [word for word in words[1:] if question[word.start].isupper() and len(word.bare) > 2 and word.bare not in _DAYS]
    is_of_world = any(bare[words.index(name) - 1] in ("in", "of") for name in names)
    if thing == 0 or is_of_world or bare[thing + 1 : thing + 2] == ["of"]:
        return ""
    return _text(question, _run_of(names)) or _root(bare[thing])


def _is_settled(bare: Sequence[str], at: int) -> bool:
    """Whether it is said which is meant: "the most expensive order", "what errors", and not "what are logs"."""
    return bare[at - 1 : at] == ["what"] or not _SETTLED.isdisjoint(bare[max(0, at - _NEAR) : at])


def may_be_own(wish: str) -> bool:
    """Whether a question may be about the person's own affairs by "we", by what "I have", or by a state that only somebody's
    things are in: "how many teapots are left?", "are we open on Sundays?". No more than a reason to look where a model would."""
    words = words_of(question_in(wish))
    said = {word.bare for word in words}
    if (
        not is_one_question(words)
        or not said.isdisjoint(_WORLD | _WORLD_VERBS | _ADVICE)
        or _asks_why(words)
        or _classifies(words)
    ):
        return False
    is_state = not said.isdisjoint(_STATES) and said.isdisjoint(_SPANS)
    return is_state or not said.isdisjoint(("we", "us")) or ("i" in said and not said.isdisjoint(_ADDRESSED))


def spends(question: str) -> bool:
    """Whether it asks how much the person paid, which is a sum wherever more than one file has a part of it."""
    words = [word.bare for word in words_of(question)]
    return not {"much", "spend", "spent"}.isdisjoint(words) and not _SPEAKERS.isdisjoint(words)


def question_in(wish: str) -> str:
    """The question without what leads into it; empty where there is more than one sentence."""
    question = _LEAD.sub("", trim(wish))
    return "" if _PARTS.search(question) else question


def is_one_question(words: Sequence[Word]) -> bool:
    bare = [word.bare for word in words]
    # "Which number is it for the car?" goes back to nothing.
    said = [
        word
        for at, word in enumerate(bare)
        if not (word == "it" and bare[at - 1] in _BEINGS and bare[at + 1 : at + 2] == ["for"])
    ]
    if not 2 <= len(bare) <= _MOST_WORDS or not _TURNED_AWAY.isdisjoint(said):
        return False
    is_another = any(word in _CUES and after in _ASKING for word, after in pairwise(bare))
    return not is_another and _opener(bare) in _ASKING


def _opener(bare: Sequence[str]) -> str:
    """The word that asks: of "when's" and "on which day" the one without what clings to it."""
    first = bare[1] if bare[0] in VOCABULARY.leading_prepositions else bare[0]
    return _ENDING.sub("", first)


def _asks_tasks(words: Sequence[Word]) -> bool:
    """Whether it asks what the person has to do: "what do I still have to do this week?"."""
    bare = [word.bare for word in words]
    has_to = any(pair in _TO_DO for pair in zip(bare, bare[1:], bare[2:], strict=False))
    return bare[0] == "what" and bare[1] in ("do", "did") and bare[2] in ("i", "we") and has_to


def _asks_of_somebody(words: Sequence[Word], name: Word) -> bool:
    """Whether it asks who somebody is, or what somebody did, by one name, as one calls those whom one knows: "who is Brandt?"."""
    bare = [word.bare for word in words]
    at = words.index(name)
    is_who = bare[:2] == ["who", "is"] and words[2:] == [name]
    return is_who or (bare[0] != "why" and bare[at - 1] in ("did", "does") and at + 1 < len(bare))


def _asks_why(words: Sequence[Word]) -> bool:
    """Whether it asks for an explanation: "why", or "how" without a measure, where that does not ask for a name."""
    opener = _opener([word.bare for word in words])
    is_plain_how = opener == "how" and words[1].bare not in VOCABULARY.measures
    return opener == "why" or (is_plain_how and words[-1].bare not in _CALLED)


def _asks_use(words: Sequence[Word]) -> bool:
    """Whether it asks what something is for: "what does the grep command do?"."""
    return words[1].bare in ("do", "does") and words[-1].bare == "do"


def _classifies(words: Sequence[Word]) -> bool:
    """Whether it asks what kind of thing something is, or compares: "is the tomato a fruit?"."""
    return words[0].bare in VOCABULARY.classifying_words and any(word.bare in ("a", "an", "than") for word in words)


def _speaks_of_us(words: Sequence[Word]) -> bool:
    """Whether it asks what the person did or is going to do, and not what people do."""
    bare = [word.bare for word in words]
    at = next((place for place, word in enumerate(bare) if word in _SPEAKERS), 0)
    if at == 0 or _asks_why(words):
        return False
    helpers = bare[:at]
    is_named = _opener(bare) == "what" and (
        not _ATTRIBUTES.isdisjoint(helpers) or not _DEALINGS.isdisjoint(bare[at + 1 : at + 2])
    )
    plans = is_named or _opener(bare) in VOCABULARY.plan_questions or "much" in helpers
    return not _PAST.isdisjoint(helpers) or (plans and _ADVICE.isdisjoint(helpers))


def phrases_in(question: str, words: Sequence[Word]) -> list[Phrase]:
    """The things that it refers to as known ones."""
    found: list[Phrase] = []
    for at, word in enumerate(words):
        name = _POSSESSIVE.match(question[word.start : word.end]) if at > 0 else None
        owned = word.bare in _OWNERS or name is not None
        if not owned and word.bare != "the":
            continue
        end = at + 1
        while end < len(words) and end - at <= _PHRASE_WORDS and words[end].bare not in _ENDS:
            end += 1
            if _PAUSED.search(question[words[end - 1].start : words[end - 1].end]):
                break
        lasting = [each for each in words[at + 1 : end] if each.bare not in _PASSING]
        own = _without_verb(lasting, words[at - 1].bare)
        # In "is the car due for inspection" the verb goes on, and not the car.
        goes_on = len(own) == len(lasting) and _goes_on_in_world(question, words, end)
        of_world = not owned and (_is_of_world(question, own) or goes_on)
        found.append(Phrase(own, owned, of_world, name[0][:-2] if name else ""))
    return found


def _code_in(question: str, words: Sequence[Word]) -> str:
    """The number of its own that something has, which is somebody's and not the world's: "order 1043", "E021"; empty where it
    reckons with several."""
    found: list[str] = []
    for before, word in pairwise(words):
        written = question[word.start : word.end]
        is_numbered = _NUMBERED.match(written) is not None and before.bare not in _NO_THING and question[before.start].islower()
        if is_numbered or _CODED.match(written) is not None:
            found.append(_bare_name(question, word))
    return found[0] if len(found) == 1 else ""


def _is_of_world(question: str, own: Sequence[Word]) -> bool:
    """Whether there is one of it in the world: the moon, the largest of all, or what has a name of its own."""
    is_named = bool(own) and question[own[-1].start].isupper()
    head = own[-1].bare if len(own) > 1 else ""
    # "The plant market" is one of many, "the market" is not; "the weather station" is somebody's.
    told = () if head in VOCABULARY.owned_heads else own[:-1] if head in _HOMELY else own
    return is_named or any(word.bare in _WORLD for word in told)


def _goes_on_in_world(question: str, words: Sequence[Word], end: int) -> bool:
    """Whether it is "of", "in" or "for" what nobody here has a word for: "the speed of light", "the recipe for pancakes"."""
    if end + 1 >= len(words) or words[end].bare not in VOCABULARY.general_links:
        return False
    after = words[end + 1]
    is_known = after.bare in _KNOWN or after.bare in _OWNERS or after.bare in _DAYS or after.bare.isdecimal()
    return not is_known and _POSSESSIVE.match(question[after.start : after.end]) is None


def _without_verb(own: Sequence[Word], before: str) -> Sequence[Word]:
    """A phrase without the verb that a question ends with: "the library close", "the heating inspected"."""
    if len(own) < 2 or before not in _BEFORE_SUBJECT:
        return own
    last = own[-1].bare
    is_state = before in VOCABULARY.classifying_words
    is_verb = not is_state or last.endswith(("ed", "ing")) or last in VOCABULARY.participles
    return own[:-1] if is_verb else own


def _is_plain(own: Sequence[Word]) -> bool:
    """Whether it only says what kind of answer is wanted: "the date", "the phone number"."""
    return all(word.bare in _ATTRIBUTES for word in own)


def _queries_of(question: str, words: Sequence[Word], phrases: Sequence[Phrase]) -> list[str]:
    """The names and phrases that it refers to, then what else tells something, each word by itself."""
    names = [word for word in words[1:] if question[word.start].isupper() and len(word.bare) > 2 and word.bare not in _DAYS]
    told = {word.bare for each in phrases for word in each.words}
    others = [word for word in words if _ENDING.sub("", word.bare) not in _TELLING_NOTHING and word.bare not in told]
    if phrases:
        queries = [query for each in phrases for query in (each.name, _text(question, each.words))]
    else:
        # "Which terminal" is asked for by its first word, "spent on paint" by its last.
        is_naming = _opener([word.bare for word in words]) in _NAMING
        single = [word for word in others if word.bare not in _DEALINGS][:1] if is_naming else others[-1:]
        queries = [_text(question, _run_of([word for word in names if word in others]) or single)]
    singles = [word for each in phrases[:1] for word in each.words if len(each.words) > 1 and word.bare not in _ATTRIBUTES]
    queries += [_bare_name(question, word) for word in names if word.bare not in _TELLING_NOTHING]
    queries += [_root(word.bare) for word in (*sorted(singles, key=lambda word: -len(word.bare)), *others)]
    unique: dict[str, str] = {}
    for query in queries:
        unique.setdefault(query.lower(), query)
    return [query for query in unique.values() if query][:_MOST_QUERIES]


def _run_of(names: Sequence[Word]) -> Sequence[Word]:
    """Names that stand side by side, from the first on."""
    run = list(names[:1])
    for word in names[1:]:
        if word.start != run[-1].end + 1:
            break
        run.append(word)
    return run


def _text(question: str, words: Sequence[Word]) -> str:
    return " ".join(_bare_name(question, word) for word in words)


def _bare_name(question: str, word: Word) -> str:
    """A word as it is written, without what clings to it."""
    written = question[word.start : word.end]
    at, is_ordinal = written.lower().find(word.bare), re.fullmatch("[0-9]{1,2}[.]", written) and word.end < len(question)
    return written if is_ordinal else _ENDING.sub("", written[at : at + len(word.bare)])


def _root(word: str) -> str:
    """What is looked for in the place of a word: without its ending, since a file may have it with another."""
    root = stem(_ENDING.sub("", word))
    return root if len(root) >= _SHORT else word
