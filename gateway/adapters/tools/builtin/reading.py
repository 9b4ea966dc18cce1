"""HTML as text for a model: linear in its input, and never anything but text.

The standard library's parser is no use for hostile pages before Python 3.14: 32 kB of `<a ` keep 3.11's busy for eight
seconds inside one regular expression, which no cancellation reaches. Here every step either moves forward in the page or
ends it: a construct that does not end swallows the rest, as the HTML standard has it at the end of a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin

MAX_MARKUP = 512 * 1024
"""Characters of a page that are looked at."""

MAX_LINK = 300
"""Characters of a link that are shown; a longer one is left out."""

_TAG: Final = re.compile(
    r"""<(/?)([a-zA-Z][^\s/>]*+)      # its name
        ((?:[^>"'=]                   # attributes: anything up to the end of the tag,
           |=\s*+"[^"]*+"             # where a value in quotes may hold one
           |=\s*+'[^']*+'
           |[="'])*+)>""",
    re.VERBOSE,
)
_LINK: Final = re.compile(r"""\bhref\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s+")
_EMPTY_LINES: Final = re.compile(r" *\n(?: *\n)+ *")

_UNREAD: Final = frozenset({"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "select", "textarea"})
_UNREAD_END: Final = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in sorted(_UNREAD)}
_NAMES_OF_BLOCKS = """
    address article aside blockquote body br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head
    header hr html li main nav ol option p pre section table tbody tfoot thead tr ul
"""
_BLOCKS: Final = frozenset(_NAMES_OF_BLOCKS.split())
_CELLS: Final = frozenset({"td", "th"})


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says. `complete` is whether all of it was looked at."""

    title: str
    text: str
    complete: bool


@dataclass(slots=True)
class _Draft:
    pieces: list[str] = field(default_factory=list[str])
    title: list[str] | None = None
    in_title: bool = False
    link: str = ""

    def add_text(self, raw: str) -> None:
        text = _SPACE.sub(" ", _unescape(raw))
        if self.in_title and self.title is not None:
            self.title.append(text)
        else:
            self.pieces.append(text)


def read_html(markup: str, base: str) -> PageText:
    """The page's text, with block elements on lines of their own and web links behind their words in angle brackets.

    Scripts, styles, images, comments and attributes are left out. `base` is the address that links are relative to.
    """
    markup = (whole := markup)[:MAX_MARKUP]
    draft = _Draft()
    position = 0
    while (opening := markup.find("<", position)) >= 0:
        draft.add_text(markup[position:opening])
        position = _pass(markup, opening, base, draft)
    draft.add_text(markup[position:])
    lines = "\n".join(line.strip() for line in "".join(draft.pieces).split("\n"))
    return PageText(
        title="".join(draft.title or []).strip(),
        text=_EMPTY_LINES.sub("\n\n", lines).strip(),
        complete=len(markup) == len(whole),
    )


def _pass(markup: str, opening: int, base: str, draft: _Draft) -> int:
    """Take in what begins with `<` at `opening`; where it ends."""
    if markup.startswith("<!--", opening):
        return _after(markup, "-->", opening + 4)
    if markup.startswith(("<!", "<?"), opening):
        return _after(markup, ">", opening)
    tag = _TAG.match(markup, opening)
    if tag is None:
        # A lone `<` is text; one before a letter begins a tag, and this tag never ends.
        if not markup[opening + 1 : opening + 3].lstrip("/")[:1].isalpha():
            draft.add_text("<")
            return opening + 1
        return len(markup)
    closing, name, attributes = tag[1] == "/", tag[2].lower(), tag[3]
    if name in _UNREAD and not closing:
        end = _UNREAD_END[name].search(markup, tag.end())
        return len(markup) if end is None else _after(markup, ">", end.start())
    _mark(name, closing, attributes, base, draft)
    return tag.end()


def _mark(name: str, closing: bool, attributes: str, base: str, draft: _Draft) -> None:
    if name == "title":
        draft.in_title = not closing and draft.title is None
        if draft.in_title:
            draft.title = []
    elif name == "a":
        if draft.link:
            draft.pieces.append(f" <{draft.link}>")
        draft.link = "" if closing else _read_link(attributes, base)
    elif name == "li" and not closing:
        draft.pieces.append("\n- ")
    elif name in _CELLS:
        draft.pieces.append(" | " if closing else "")
    elif name in _BLOCKS:
        draft.in_title = False
        draft.pieces.append("\n" if name in ("br", "li", "tr") else "\n\n")


def _read_link(attributes: str, base: str) -> str:
    found = _LINK.search(attributes)
    if found is None:
        return ""
    try:
        link = urljoin(base, _SPACE.sub("", _unescape(found[1] or found[2] or found[3] or "")))
    except ValueError:
        return ""
    return link if link.startswith(("http://", "https://")) and len(link) <= MAX_LINK else ""


def _after(markup: str, end: str, start: int) -> int:
    found = markup.find(end, start)
    return len(markup) if found < 0 else found + len(end)


def _unescape(raw: str) -> str:
    # Imported by the first page that is read: it brings the names of all characters.
    import html

    try:
        return html.unescape(raw)
    except ValueError:
        # A character reference of more digits than Python turns into a number.
        return raw
