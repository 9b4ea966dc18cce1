"""A wish that stands only beside the one before it, as a whole one: "no, I meant b.txt", "again for b.txt", "and warnings?".

Whoever reads a wish reads it by itself, the loop by its words and a small model as it was taught. So what such a wish leaves out
is put in once, before any of that: the wish before it with another thing, or with another word for what it asks; and the one
file that was shown last for "it". A file's name comes out of the person's words, or is the one of a file that was listed, found
or read for them; what is done with it is asked of the gateway as ever.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.asked import is_for_another
from gateway.agent.asked_again import asked_again
from gateway.agent.browser import trim
from gateway.agent.budget import length_of
from gateway.agent.code_asked import code_asked
from gateway.agent.further import calls_under_way, found_files, searches
from gateway.agent.messages import AssistantMessage, Message, Tool, ToolMessage, UserMessage
from gateway.agent.reading import is_file, reader_among
from gateway.agent.taken_back import entry_taken_back
from gateway.agent.turn_progress import progress_of
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.wish_words import WISH_WORDS
from gateway.agent.words import Word, words_of

_MOST_WORDS: Final = 10
"""Words of a wish that may lean on the one before it."""

_MOST_NAMED: Final = 3
"""Words for what is asked in the place of something else."""

_BOTH: Final = 2
"""Files of a list in which one of them is the other."""

_FLAGS: Final = re.IGNORECASE | re.ASCII
_LEADS: Final = rf"(?:(?:{any_of((*VOCABULARY.correcting_words, *VOCABULARY.cues, *VOCABULARY.follow_leads))})[,.!:]? )*"
_KINDS: Final = r"(?:(?:the )?(?:file|folder) )?"
_END: Final = rf"(?:,? (?:{any_of((*WISH_WORDS.tails, *VOCABULARY.repeating_tails))}))*[?.!]*$"
_LINKS: Final = any_of(VOCABULARY.leading_prepositions)
_AGAIN: Final = any_of(VOCABULARY.repeating_tails)
_FORMS: Final = tuple(
    re.compile(form, _FLAGS)
    for form in (
        rf"^{_LEADS}(?:{any_of(VOCABULARY.meant_verbs)})():? {_KINDS}(.+?)(?:,? not \S+?)?{_END}",
        rf"^(?:(?:{any_of(VOCABULARY.correcting_words)})[,.!:]? )+(){_KINDS}(\S*[./]\S*?|the \w+(?: one)?)(?:,? not \S+?)?{_END}",
        rf"^{_LEADS}(?:{any_of(VOCABULARY.repeated_acts)})(?: (?:{_AGAIN}))* ({_LINKS}) {_KINDS}(.+?){_END}",
        rf"^(?:(?:and )?(?:what|how) about|and),? (?:({_LINKS}) )?{_KINDS}(.+?){_END}",
    )
)
"""How such a wish begins, and what of the one before it is to be another: after which word, and what it is now."""

_BEINGS: Final = any_of((*VOCABULARY.classifying_words, *VOCABULARY.helpers))
_PREPOSITIONS: Final = frozenset(VOCABULARY.leading_prepositions)
_ARTICLES: Final = re.compile(rf"^(?:(?:{any_of(VOCABULARY.asked_articles)}) )+", _FLAGS)
_JOIN: Final = re.compile(r",? (?:and|or) |, ")
_ASKED: Final = re.compile(
    rf"^(?P<head>(?:(?P<lead>{any_of(VOCABULARY.asked_leads)})|how much (?P<much>{_BEINGS})|"
    rf"(?P<opener>{any_of(VOCABULARY.asked_openers)})(?:['’]?s| (?P<helper>{_BEINGS}))|who [a-z]+s) "
    rf"(?P<article>(?:(?:{any_of(VOCABULARY.asked_articles)}) )*))"
    r"(?P<noun>[^ ,;.?!]+(?: [^ ,;.?!]+){0,2}?)"
    rf"(?P<tail>(?: (?:{_LINKS}|(?P<end>{any_of(VOCABULARY.asked_ends)})|{_BEINGS})\b.*)?[?.! ]*)\Z",
    _FLAGS,
)
"""A question, or what is looked for: what leads to it, the words for what is asked, and what comes behind them."""

_ASKS_NAMES: Final = frozenset({"who", "what"})
_ONE: Final = re.compile("an? ", _FLAGS)
_QUESTIONS: Final = frozenset(VOCABULARY.asking_words)
_CLASSIFYING: Final = frozenset(VOCABULARY.classifying_words)

_CODE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\(\))?")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*(?![\w'’-])")
_PLACES: Final = {**VOCABULARY.line_places, **VOCABULARY.more_places}
_ORDINAL: Final = rf"the ({any_of((*_PLACES, 'next', 'other'))})(?: (?:one|file|{any_of(VOCABULARY.document_nouns)}))?"
_PLACED: Final = re.compile(rf"^{_ORDINAL}$", _FLAGS)
_ORDERED: Final = re.compile(rf"^((?:[a-z]+ )+?){_ORDINAL}((?:,? (?:{any_of(WISH_WORDS.tails)}))*[?.!]*)$", _FLAGS)
_DAYS: Final = frozenset((*VOCABULARY.weekdays, *(name for month in VOCABULARY.months for name in month)))
_NO_THINGS: Final = frozenset((*_DAYS, *VOCABULARY.near_days))
_POINTS: Final = re.compile(r"\b(?:it|(?:this|that|the) (?:file|list|note))(?=[,.!?]*(?: |$))", _FLAGS)
_INTO: Final = re.compile(rf"(\b(?:{any_of(VOCABULARY.entry_links)}) ){_POINTS.pattern}", _FLAGS)
_KEEPS: Final = re.compile(
    rf"^{_LEADS}(?:{any_of((*VOCABULARY.entering_verbs, *VOCABULARY.filling_verbs))}) (?:it|this|that)(?: down)? "
    rf"(?:{any_of(VOCABULARY.entry_links)}|as) ([^ ]+?){_END}",
    _FLAGS,
)
"""An answer that is to be written down: "write that down in a.txt"."""

_ONE_LINE: Final = re.compile('[^"`\n]+')
_CITED: Final = re.compile(r" \(`[^()]*\)\Z")
_LONGEST: Final = 300
"""Characters of an answer that is written down."""

_ENTERS: Final = frozenset(VOCABULARY.entering_verbs)
_BEGINS: Final = frozenset(
    (
        *(*WISH_WORDS.imperatives, *WISH_WORDS.commands, *WISH_WORDS.pronouns),
        *(*VOCABULARY.asking_words, *VOCABULARY.yes_no_words, *VOCABULARY.fillers, *VOCABULARY.cues),
    )
)
_NO_ENTRY: Final = frozenset((*VOCABULARY.leading_prepositions, "into", "onto", "up", *VOCABULARY.list_nouns))
_LEADING: Final = frozenset((*VOCABULARY.fillers, *VOCABULARY.cues))


def with_whole_wishes(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """The same messages, with each wish that leans on the one before it as a whole one."""
    made: list[Message] = []
    wish, turn_id = "", None
    for each in messages:
        if isinstance(each, UserMessage) and each.turn_id != turn_id:
            wish, turn_id = whole_wish(each.content, wish, made, tools), each.turn_id
            made.append(each if wish == each.content else replace(each, content=wish))
        else:
            made.append(each)
    return made


def with_whole_action(
    actions: Sequence[str] | None, messages: Sequence[Message], turn_id: str, tools: Sequence[Tool]
) -> Sequence[str] | None:
    """The actions of a turn, of which the one under way names the file that the one before it was about where it leaves that
    out: "show me the packing list and add sunglasses"."""
    at = progress_of(messages, turn_id).finished
    if actions is None or not 0 < at < len(actions):
        return actions
    own = calls_under_way(messages, turn_id)
    before = [each for each in messages if each not in own]
    return [*actions[:at], _with_place(actions[at], before, tools), *actions[at + 1 :]]


def whole_wish(said: str, wish: str, messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """What somebody said, as a wish that stands by itself after this one and after these messages; itself where it does, or where
    it is not clear what it leaves out."""
    text = trim(said)
    if "\n" in text or not 0 < len(words_of(text)) <= _MOST_WORDS:
        return said
    if whole := entry_taken_back(text, messages, tools) or asked_again(text, wish):
        return whole
    shown = _shown_files(messages, tools)
    for form in _FORMS:
        if (found := form.match(text)) is not None and (whole := _another(found[1] or "", found[2], wish, shown)):
            return whole
    if (ordered := _ORDERED.match(text)) is not None and not _things_in(text):
        place = _file_at(ordered[2], "", shown)
        return f"{ordered[1]}{place}{ordered[3]}" if place else said
    return _kept(text, messages) or _with_place(said, messages, tools)


def _kept(text: str, messages: Sequence[Message]) -> str:
    """The wish to write the last answer into a file, with its words; empty for any other, and where it is more than a line."""
    found = _KEEPS.match(text)
    last = messages[-1] if messages else None
    answer = _CITED.sub("", trim(last.content)) if isinstance(last, AssistantMessage) else ""
    file = bare_thing(found[1]) if found else ""
    is_line = 0 < length_of(answer) <= _LONGEST and _ONE_LINE.fullmatch(answer) is not None
    return f'write "{answer}" to {file}' if is_line and is_thing(file) and is_file(file) else ""


def _another(link: str, named: str, wish: str, shown: Sequence[str]) -> str:
    """The wish with something else in it; empty where it is not clear in which place."""
    things, given = _things_in(wish), _things_in(named)
    only = things[0] if len(things) == 1 else ""
    if all(bare_thing(each) in given for each in _JOIN.split(named)):
        is_alike = only != "" and all(_kind_of(each) == _kind_of(only) for each in given)
        return wish.replace(only, named) if is_alike else ""
    if (placed := _PLACED.match(named)) is not None:
        path = _file_at(placed[1], only, shown)
        if not path:
            return ""
        return wish.replace(only, path) if only in shown else f"read {path}"
    return "" if given or _begins(named) else _asked_for(link, named, wish)


def _asked_for(link: str, told: str, wish: str) -> str:
    """The wish with other words for what it asks: behind the same preposition, for another day, or in the place of its noun."""
    is_led = _ARTICLES.match(told) is not None
    named = _ARTICLES.sub("", told)
    if len(words_of(named)) > _MOST_NAMED:
        return ""
    days = [word for word in words_of(wish) if word.bare in _DAYS]
    if named.lower() in _DAYS and len(days) == 1:
        return _put(wish, days[0], named)
    if link:
        head, _, tail = wish.rpartition(f" {link} ")
        is_short = head != "" and len(words_of(tail)) <= _MOST_NAMED
        return f"{head} {link} {named}{tail[len(tail.rstrip('?.!')) :]}" if is_short else ""
    if (code := code_asked(wish)) is not None:
        return _with_word(wish, code.name, named) if _CODE.fullmatch(named) else ""
    if named.lower() in _NO_THINGS:
        return ""
    is_name, names = named[0].isupper(), _names_in(wish)
    if is_name and names:
        return _with_word(wish, names[0], named) if len(names) == 1 and not _is_placed(names[0], wish) else ""
    asked = _ASKED.match(wish)
    if asked is None or named[0].isdecimal() or not _is_noun(asked, is_name=is_name):
        return ""
    # One thing does not stand for several, nor for what there is no number of: "how many eggs do we need?" and "an apple".
    is_alike = _ONE.match(named) is None or _ONE.match(asked["noun"]) is not None
    # "And the pantry" may be another place as well: only what is told alike is another thing.
    is_clear = _is_plural(named) == _is_plural(asked["noun"]) if is_led else _is_plural(named) or asked["article"] == ""
    if asked["tail"].startswith(" ") and not is_clear:
        return ""
    return f"{asked['head']}{named}{asked['tail']}" if is_alike else ""


def _is_noun(asked: re.Match[str], *, is_name: bool) -> bool:
    """Whether the words for what is asked are that and no more, so that others can stand for them."""
    noun, words = asked["noun"], [word.bare for word in words_of(asked["noun"])]
    if not words or is_thing(noun) or words[0] in _PREPOSITIONS:
        return False
    # Of "Anna's number" it is not clear which of the two is to be another; a name is asked for in the place of a name.
    if len(words) > 1 and any(word.endswith(("'s", "’s")) for word in words):
        return False
    if is_name and not all(word[0].isupper() for word in noun.split(" ")):
        return False
    # "What is open?" asks for no such thing as "open".
    is_bare = asked["opener"] is not None and asked["opener"].lower() in _ASKS_NAMES and asked["article"] == ""
    if is_bare and not _is_plural(noun) and not noun[0].isupper() and asked["end"] is None and _ONE.match(noun) is None:
        return False
    # A question whose verb comes behind has it among these words: "when does the shop open?", "which recipes use eggs?".
    helper, lead = asked["helper"] or asked["much"], asked["lead"]
    if helper is not None and helper.lower() not in _CLASSIFYING:
        return asked["end"] is not None
    is_asking = lead is not None and lead.lower().split(" ")[0] in _QUESTIONS
    return not is_asking or len(words) == 1 or asked["tail"].startswith(" ")


def _is_plural(text: str) -> bool:
    return text.lower().endswith("s")


def _with_word(wish: str, word: str, named: str) -> str:
    """The wish with something else in the place of a word of it, the first that is just that."""
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: named, wish, count=1)


def _is_placed(name: str, wish: str) -> bool:
    """Whether a preposition stands before a name. What was bought at Lidl was not bought at Milk."""
    words, first = [word.bare for word in words_of(wish)], words_of(name)[0].bare
    return any(word == first and before in _PREPOSITIONS for before, word in pairwise(words))


def _names_in(wish: str) -> list[str]:
    """The names of a question, those that stand side by side as one, without days."""
    bare = {word.bare for word in words_of(wish)}
    found = [each for each in _NAME.findall(wish) if each.lower() not in _DAYS]
    return [each for each in dict.fromkeys(found) if bare.issuperset(word.bare for word in words_of(each))]


def _with_place(said: str, messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """A wish for a change that names no file, with the one file that the call before it found for "it", or, where something is
    added and no place for it is told, that it found or read."""
    words = [word for word in words_of(said) if word.bare not in _LEADING]
    last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
    file = "" if last is None or _things_in(said) else _file_of(last, tools)
    if last is None or not words or not file:
        return said
    enters = words[0].bare in _ENTERS
    is_change = enters or any(each.act != READING for each in asked_acts(said))
    if is_change and searches(last) and len(_POINTS.findall(said)) == 1:
        return _POINTS.sub(lambda _: file, said)
    if enters and len(_POINTS.findall(said)) == 1 and _INTO.search(said):
        return _INTO.sub(lambda found: f"{found[1]}{file}", said)
    is_bare = enters and len(words) > 1 and _NO_ENTRY.isdisjoint(word.bare for word in words)
    if not is_bare or _POINTS.search(said) or is_for_another(said, tools):
        return said
    text = trim(said).rstrip(".!")
    return f"{text} to {file}"


def _file_of(last: ToolMessage, tools: Sequence[Tool]) -> str:
    """The one file that a call read or found; empty for any other."""
    reader = reader_among(tools)
    if reader is not None and last.call["name"] == reader[0] and last.result["outcome"] == "ok":
        return str(last.call["arguments"].get(reader[1]))
    found = found_files(last, tools)
    return found[0] if len(found) == 1 else ""


def _shown_files(messages: Sequence[Message], tools: Sequence[Tool]) -> list[str]:
    """The files of the newest list that has more than one."""
    calls = (each for each in reversed(messages) if isinstance(each, ToolMessage))
    return next((files for each in calls if len(files := found_files(each, tools)) > 1), list[str]())


def _file_at(place: str, thing: str, shown: Sequence[str]) -> str:
    """The file of a list that is told by its place, or by the one that was meant before it; empty where there is none."""
    word = place.lower()
    if word == "other":
        others = [each for each in shown if each != thing]
        return others[0] if len(shown) == _BOTH and len(others) == 1 else ""
    at = _PLACES.get(word, 0)
    if word == "next":
        at = shown.index(thing) + 2 if thing in shown else 0
    return shown[at - 1] if 0 < at <= len(shown) else shown[-1] if at < 0 and shown else ""


def _begins(named: str) -> bool:
    """Whether it is a wish of its own, or a question."""
    words = [word.bare for word in words_of(named)]
    return not words or words[0] in _BEGINS


def _things_in(text: str) -> list[str]:
    """The names of files, folders and addresses in a text."""
    names = [bare_thing(text[word.start : word.end]) for word in words_of(text)]
    return list(dict.fromkeys(name for name in names if is_thing(name)))


def _kind_of(thing: str) -> tuple[bool, bool]:
    return thing.endswith("/"), is_file(thing)


def _put(wish: str, word: Word, named: str) -> str:
    """The wish with something else in the place of a word, and the marks around it as they are."""
    written = wish[word.start : word.end]
    at = written.lower().index(word.bare)
    return f"{wish[: word.start]}{written[:at]}{named}{written[at + len(word.bare) :]}{wish[word.end :]}"
