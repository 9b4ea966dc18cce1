"""A wish for something that stands in a file which it does not name: what to look for, and what it asks of the file.

"Find the note that mentions Ana and tell me what she wants on Tuesday" is one wish with two halves. A small model that takes it
apart, or words the search, loses one of them; so both are read off the words, and a wish that does not show them is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gateway.agent.acts import READING, asked_acts, bare_thing, is_thing
from gateway.agent.affairs import TASKS, apart_query, doubtful_query, own_queries, spends
from gateway.agent.browser import trim
from gateway.agent.code_asked import code_asked
from gateway.agent.monthly import is_month
from gateway.agent.named import named_thing, record_query
from gateway.agent.open_entries import OPEN, open_queries
from gateway.agent.papers import dated_paper, placed_paper
from gateway.agent.plan_questions import plan_queries
from gateway.agent.questions import asks_about_content
from gateway.agent.ranking import stem
from gateway.agent.vocabulary import VOCABULARY, any_of
from gateway.agent.words import QUOTED, words_of

_SEARCH: Final = any_of(VOCABULARY.search_phrases)
_KINDS: Final = any_of(VOCABULARY.document_nouns)
_ABOUT: Final = any_of(VOCABULARY.about_words)
_ENDS: Final = any_of(VOCABULARY.described_ends)
_ASKING: Final = frozenset(VOCABULARY.asking_words)
_NOUNS: Final = frozenset(VOCABULARY.document_nouns)
_ASKS: Final = any_of((*VOCABULARY.asking_words, *VOCABULARY.explaining_verbs, *VOCABULARY.opening_verbs))
_FINDS: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:{_SEARCH}) (.+?)(?:(?:,|;|\.)? (?:and(?: then)?|then)|[,;.?]) "
    rf"((?:{_ASKS})\b.*)$",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_DESCRIBED: Final = re.compile(
    rf"\b(?:{_KINDS}),? (?:(?:that|which|where) )?(?:(?:is|are|it) )?(?:{_ABOUT}) (.+?)"
    rf"(?= (?:{_ENDS})\b|[,;.?!](?: |$)|$)",
    re.IGNORECASE | re.ASCII,
)
"""What a file is said to be about, after a verb that looks for it."""

_MEANT: Final = re.compile(
    rf"\b(?:{any_of(VOCABULARY.meant_by)}) (?:\w+ )?(?:{any_of(VOCABULARY.described_nouns)}) (?:(?:that|which) )?(?:is )?"
    rf"(?:{any_of(VOCABULARY.described_by)}) (.+?)(?= (?:{_ENDS})\b|[,;.?!](?: |$)|$)",
    re.IGNORECASE | re.ASCII,
)
"""The same in a question that does not say "find": fewer words, since a question about the world must not look into files."""

_A_KIND: Final = re.compile(rf"\b(?:{_KINDS})\b", re.IGNORECASE | re.ASCII)
_ONE: Final = re.compile(rf"\bthe one (?:{any_of(VOCABULARY.one_links)}) (?:the |my |our )?(\w+)", re.IGNORECASE | re.ASCII)
_TOLD: Final = re.compile(
    rf"(?:,|;|\.|\band|\bthen) ((?:{any_of(VOCABULARY.asking_words)}|say)\b.*)$", re.IGNORECASE | re.ASCII | re.DOTALL
)
_TELL: Final = re.compile(r"^(?:tell|say)(?: me| us)? ", re.IGNORECASE | re.ASCII)

_OPENS: Final = any_of((*VOCABULARY.opening_verbs, *VOCABULARY.viewing_verbs))
_PAPERS: Final = any_of((*VOCABULARY.document_nouns, *VOCABULARY.named_papers))
_LINKS: Final = any_of((*VOCABULARY.about_words, "for", "of"))
_OPENED: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:let (?:me|us) )?(?:{_OPENS})(?: me| us)? "
    rf"(?:(?:{any_of(VOCABULARY.described_leads)}) )?(?:\w+ )?(?:{_PAPERS})"
    rf"(?: (?:(?:that|which) )?(?:(?:is|are) )?(?:{_LINKS})(?: the| my| our)?| number| no)? ([^ ,;?!]*[^ ,;?!.])[.!]?$",
    re.IGNORECASE | re.ASCII,
)
"""A paper that is to be seen, by a word that its name may have: "open order 1042", "read me the letter from the insurance"."""

_CALLED: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:({any_of(VOCABULARY.further)}),? )?"
    rf"((?:let (?:me|us) )?(?:{_OPENS})(?: me| us)? )?(?:{any_of(VOCABULARY.described_leads)}) ((?:[a-z][a-z-]* ){{1,3}})"
    rf"({any_of((*VOCABULARY.document_nouns, *VOCABULARY.named_papers, *VOCABULARY.dated_papers, 'one'))})[.!?]?$",
    re.IGNORECASE | re.ASCII,
)
"""A file that is to be seen, by the words of its name before that for what it is: "show the todo list", "and the lasagne one"."""

_MANY_OF_ONE: Final = frozenset({"notes", "minutes"})
"""Words for one paper that end as those for several do."""

_OPENS_THING: Final = re.compile(
    rf"^(?:(?:{any_of(VOCABULARY.fillers)}),? )*(?:let (?:me|us) )?(?:{_OPENS})(?: me| us)? (.+?)[.!]?$", re.IGNORECASE | re.ASCII
)
_NAMED: Final = frozenset((*VOCABULARY.document_nouns, *VOCABULARY.named_papers, *VOCABULARY.dated_papers, "draft"))
_DAY_MONTH: Final = re.compile(r"([0-3][0-9])-([01][0-9])")
_SHOWN: Final = "show it"
"""What is asked of a paper that is only to be seen."""

_TOLD_KINDS: Final = frozenset((*VOCABULARY.kind_folders, *VOCABULARY.document_nouns, *VOCABULARY.named_papers, "log"))
_TOLD_APART: Final = re.compile(
    rf"\b(?:which|what) ({any_of(_TOLD_KINDS)}) (?:(?:that|which) )?(?:{any_of(VOCABULARY.telling_links)}) "
    rf"(not )?(?:(?:{any_of((*VOCABULARY.plural_articles, 'a', 'an'))}) )*"
    r"([^,;.?!]+?)(?: yet| in it)?(?:(?:,|;|\?|\.)(?: and)?|,? and(?: then)?) (.+)$",
    re.IGNORECASE | re.ASCII,
)
"""One of several papers by what it says, and what is asked of it: "which invoice is unpaid, and how much is it?"."""

_NEGATIVE: Final = {word: negative for negative, word in VOCABULARY.negated_words.items()}
_PICKING: Final = frozenset(word for words in VOCABULARY.picks.values() for word in words)
_UNNAMED: Final = _PICKING.union(
    VOCABULARY.superlatives, VOCABULARY.untold_adjectives, VOCABULARY.link_words, VOCABULARY.phrase_ends
)
"""Words that tell a file by how it stands among others, or that no name of one has: "print this out on paper"."""

_OWNED: Final = re.compile(r"['’]s\Z")
"""How a name ends that something belongs to. Its owner may stand elsewhere without it."""

_HELPERS: Final = frozenset(VOCABULARY.helpers)
_WHICH: Final = frozenset({"which", "what"})
_OBJECT: Final = re.compile(rf"^(?:(?:{any_of(VOCABULARY.articles)}) )*", re.IGNORECASE | re.ASCII)
_FOLDER: Final = re.compile(
    rf"\b(?:{any_of(VOCABULARY.inside_words)}) (?:(?:the|my|our) )?"
    r"(?:([^ ,;?!]*/)(?=[ ,;.?!]|$)|([A-Za-z0-9_-]+) (?:folder|directory)\b)",
    re.IGNORECASE | re.ASCII,
)
_PLAIN: Final = frozenset((*VOCABULARY.light_words, *VOCABULARY.common_terms, *VOCABULARY.content_verbs, *VOCABULARY.articles))
_WEAK_WORDS: Final = (
    *(*VOCABULARY.search_verbs, *VOCABULARY.asking_words, *VOCABULARY.content_verbs, *VOCABULARY.looking_verbs),
    *(*VOCABULARY.cues, *VOCABULARY.no_folders),
)
_WEAK: Final = frozenset(map(stem, _WEAK_WORDS))
"""Words that ask, and that no file has for that: "tells", "wants", "look"."""

_MOST_DESCRIBED: Final = 12
"""Words of a description that is looked for by one of them."""

_OF_FILES: Final = frozenset((*VOCABULARY.folder_nouns, *VOCABULARY.document_nouns))
_SHORT: Final = 2
"""Letters that stand in too many names."""

_MOST_WORDS: Final = 4
"""Words that are looked for. More are a description, which stands in no file as it is."""


@dataclass(frozen=True, slots=True)
class SoughtText:
    """What to look for, in which folder (empty for all), and what the wish asks of the file. `others` is what else to look for
    where nothing holds the query, in this order; `own`: the wish has no word of files; `apart`: a file that has nothing else of
    the question beside the query is not meant; `one`: of
    several files it is asked which is meant; `code`: the query is a name of a program, and where it is defined is meant;
    `defined`: no other file is."""

    query: str
    folder: str
    asked: str
    others: tuple[str, ...] = ()
    own: bool = False
    apart: bool = False
    one: bool = False
    code: bool = False
    defined: bool = False


def finding_in(wish: str) -> SoughtText | None:
    """What a wish to find a text and be told of it looks for and asks, or a question about the person's own affairs; None for any
    other wish, and where it names a file."""
    words = words_of(wish)
    if any(is_thing(name) and not name.endswith("/") for name in (bare_thing(wish[word.start : word.end]) for word in words)):
        return None
    if (code := code_asked(wish)) is not None:
        # A name of few letters stands in many words, and where it is defined mostly before a bracket.
        query, others = (f"{code.name}(", (code.name,)) if code.bare else (code.name, ())
        return SoughtText(query, folder_in(wish), wish, others, code=True, defined=code.bare)
    if any(each.act != READING for each in asked_acts(wish)):
        return None
    return (
        dated_in(wish)
        or _placed_in(wish)
        or _opened_in(wish)
        or _called_in(wish)
        or told_in(wish)
        or _described_in(wish)
        or _own_in(wish)
        or _one_among(wish)
        or _in_folder(wish)
    )


def dated_in(wish: str) -> SoughtText | None:
    """A paper that a wish tells by its day: by names in figures first, then by its words."""
    paper = dated_paper(wish)
    if paper is None:
        return None
    return SoughtText(paper.queries[0], folder_in(wish), _SHOWN if paper.is_shown else wish, tuple(paper.queries[1:]))


def _placed_in(wish: str) -> SoughtText | None:
    """A paper that is to be seen, by its name and its folder."""
    opened = _OPENS_THING.match(trim(wish))
    placed = placed_paper(opened[1]) if opened else None
    words = [word.bare for word in words_of(placed[0])] if placed else []
    if placed is None or words[-1] not in _NAMED:
        return None
    queries = [word for word in words[1:] if word not in _NAMED and len(word) > _SHORT]
    return SoughtText(f"*{queries[0]}*", placed[1], wish, tuple(queries)) if queries else None


def _opened_in(wish: str) -> SoughtText | None:
    """The name is looked for first: many papers mention an insurance, and one is called so."""
    opened = _OPENED.match(trim(wish))
    if opened is None or len(opened[1]) <= _SHORT or opened[1].lower() in _OF_FILES:
        return None
    # "05-03" is a day of March or of May; names have the month first.
    other = [f"*{found[2]}-{found[1]}*"] if (found := _DAY_MONTH.fullmatch(opened[1])) else []
    return SoughtText(f"*{opened[1]}*", folder_in(wish), wish, (*other, opened[1]))


def _called_in(wish: str) -> SoughtText | None:
    """A file that is to be seen, by what it is called: the names are looked for, together and each, and then the words."""
    found = _CALLED.match(trim(wish))
    words = found[3].lower().split() if found else []
    if found is None or not (found[2] or (found[1] and found[4].lower() == "one")) or not _UNNAMED.isdisjoint(words):
        return None
    noun, named = found[4].lower(), [word for word in words if word not in _NAMED and len(word) > _SHORT]
    if not named or (noun.endswith("s") and noun not in _MANY_OF_ONE):
        return None
    # "To-do" is mostly written without its hyphen in a name.
    patterns = [f"*{'*'.join(named)}*", *(f"*{word.replace('-', '')}*" for word in named)]
    queries = list(dict.fromkeys((*patterns, *named)))
    return SoughtText(queries[0], "", _SHOWN, tuple(queries[1:]), one=True)


def told_in(wish: str) -> SoughtText | None:
    """What one of several papers says that a wish tells by that, and asks something of."""
    found = _TOLD_APART.search(trim(wish))
    query = query_of(found[3]) if found else ""
    if found is None or not query or not asks_about_content(found[4]):
        return None
    if any(each.act != READING for each in asked_acts(wish)) or not _PICKING.isdisjoint(word.bare for word in words_of(wish)):
        return None
    told = _NEGATIVE.get(query.lower(), "") if found[2] else query
    return SoughtText(told, folder_in(wish), wish, tuple(shorter_queries(told))) if told else None


def _one_among(wish: str) -> SoughtText | None:
    """One file of a list by what it is for: "list the bills and tell me how much the one for water is"."""
    named = _ONE.search(wish)
    is_question = named is not None and asks_about_content(wish)
    return SoughtText(f"*{named[1]}*", folder_in(wish), wish, (named[1],)) if named and is_question else None


def _in_folder(wish: str) -> SoughtText | None:
    """What is asked of the files of a folder: "go through money/ and tell me what the tram pass cost"."""
    halves = _TOLD.search(trim(wish))
    folders = [bare_thing(wish[word.start : word.end]) for word in words_of(wish)]
    folders = [each.rstrip("/") for each in folders if is_thing(each)]
    if halves is None or len(folders) != 1 or halves[1].count("/"):
        return None
    queries = own_queries(_TELL.sub("", halves[1])) or shorter_queries(halves[1])
    return SoughtText(queries[0], folders[0], halves[1], tuple(queries[1:])) if queries else None


def _own_in(wish: str) -> SoughtText | None:
    queries = list(open_queries(wish)) or own_queries(wish) or plan_queries(wish)
    if spends(wish) and queries and is_month(queries[0]):
        # A month stands in words in few lists of what was paid, and in many other files.
        queries = [*VOCABULARY.spending_files, *queries]
    asked = OPEN if tuple(queries) == TASKS or open_queries(wish) else wish
    return SoughtText(queries[0], folder_in(wish), asked, tuple(queries[1:]), own=True) if queries else None


def _described_in(wish: str) -> SoughtText | None:
    halves = _FINDS.search(trim(wish))
    clause, asked = (halves[1], halves[2]) if halves else (wish, wish)
    # A second thing to do in the other half would be lost.
    if any(each.things or each.at > 0 for each in asked_acts(asked)) or (halves is None and not _asks_of_file(wish)):
        return None
    described = (_DESCRIBED if halves else _MEANT).search(clause)
    query = query_of(described[1] if described else clause) if halves or described else ""
    queries = [query, *shorter_queries(query)] if query else _words_of_kind(clause) if halves else []
    return SoughtText(queries[0], folder_in(clause), asked, tuple(queries[1:])) if queries else None


def _words_of_kind(clause: str) -> list[str]:
    """What to look for of a file whose description stands nowhere as it is: "the letter where Ana wants something". A day, which
    many files have, comes last."""
    is_short = len(words_of(clause)) <= _MOST_DESCRIBED
    words = shorter_queries(clause) if is_short and _A_KIND.search(clause) else []
    return sorted(words, key=lambda word: word in VOCABULARY.weekdays)


def doubted(wish: str) -> SoughtText | None:
    """What to look for where a question may be about the person's own affairs and as well about the world; else None."""
    query = doubtful_query(wish) or record_query(wish)
    apart = "" if query else apart_query(wish)
    # A file of somebody's may have the name, and not say it.
    others = [f"*{query}*"] if query and query == named_thing(wish) else []
    if others and " " in query:
        # A setting is written in one word: "darkMode".
        others.insert(0, query.replace(" ", ""))
    return (
        SoughtText(query or apart, folder_in(wish), wish, tuple(others), own=True, apart=apart != "") if query or apart else None
    )


def sought(wish: str, query: str) -> SoughtText | None:
    """What a wish asks of the files that a search for this found, where somebody else chose what to search for; None for a wish
    that the places answer."""
    words = words_of(wish)
    if any(is_thing(wish[word.start : word.end]) for word in words) or any(each.act != READING for each in asked_acts(wish)):
        return None
    return SoughtText(query, folder_in(wish), wish, tuple(shorter_queries(query))) if _asks_of_file(wish) else None


def _asks_of_file(wish: str) -> bool:
    """Whether a question asks for more than which file it is, or where."""
    words = [word.bare for word in words_of(wish)]
    asking = [at for at, word in enumerate(words) if word in _ASKING]
    if not asks_about_content(wish) or words[asking[0] if asking else 0] == "where":
        return False
    names_file = bool(asking) and words[asking[0]] in _WHICH and not _NOUNS.isdisjoint(words[asking[0] + 1 : asking[0] + 4])
    return not (names_file and len(asking) == 1 and words[asking[0] + 1] not in _HELPERS)


def folder_in(wish: str) -> str:
    """The folder that a wish is confined to, without the slash at its end; empty where it names none."""
    found = _FOLDER.search(wish)
    return (found[1] or found[2]).rstrip("/") if found else ""


def shorter_queries(query: str) -> list[str]:
    """What to look for when nothing holds all of it: each word of several by itself, names first, then the longest."""
    found = [(word, _OWNED.sub("", word.bare)) for word in words_of(query)]
    words = [bare for _, bare in found]
    names = {bare for word, bare in found if query[word.start : word.end][:1].isupper()}
    telling = [word for word in words if len(stem(word)) > 2 and word not in _PLAIN and stem(word) not in _WEAK]
    return sorted(telling, key=lambda word: (word not in names, -len(word))) if len(words) > 1 else []


def described_text(text: str) -> str:
    """What a file is said to be about: "the letter that mentions Ana"; empty where none is described."""
    described = _DESCRIBED.search(text)
    return query_of(described[1]) if described else ""


def query_of(text: str) -> str:
    """What is looked for: quoted words as they stand, else few words without an article before them."""
    quoted = QUOTED.search(text)
    if quoted:
        return quoted[0][1:-1]
    plain = _FOLDER.sub("", text)
    bare = trim(_OBJECT.sub("", trim(plain)))
    words = words_of(bare)
    if not 0 < len(words) <= _MOST_WORDS or any(word.bare in _ASKING for word in words):
        return ""
    return bare_thing(bare[words[0].start : words[-1].end])
