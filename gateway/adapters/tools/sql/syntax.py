"""SQL text as a syntax tree, and a tree as text again, by sqlglot; bounded, because what it reads is hostile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from gateway.adapters.tools.sql.schema import fold
from gateway.core.effects import escape

MAX_TEXT: Final = 20_000
"""Characters of a statement. A long report query of a person has some 5,000."""

MAX_DEPTH: Final = 24
"""Brackets within brackets; a person's have fewer than ten."""

MAX_TYPE_DEPTH: Final = 4
"""The same of brackets after the name of a type or `ARRAY`: sqlglot tries these in two ways each, so 20 of them take a minute."""

MAX_TOKENS: Final = 5_000

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENING: Final = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING: Final = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


class StatementRefused(Exception):
    """This statement is not sent. `message` says why, in words for who wrote it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def parse(sql: str, dialect: type[Dialect], *, comments: bool = True) -> exp.Expr:
    """The one statement of a text. Raises StatementRefused, and RecursionError."""
    if len(sql) > MAX_TEXT:
        raise StatementRefused(f"this statement has {len(sql)} characters, and at most {MAX_TEXT} are taken")
    if "\0" in sql or any(0xD800 <= ord(character) <= 0xDFFF for character in sql):
        raise StatementRefused("this statement holds a character that no database takes")
    try:
        tokens = dialect().tokenize(sql)
        _measure(tokens, dialect)
        if not comments and any(token.comments for token in tokens):
            raise StatementRefused("leave out the comments: a person reads this statement before it runs")
        trees = [tree for tree in dialect().parse(sql, error_level=ErrorLevel.IMMEDIATE) if tree is not None]
    except SqlglotError as error:
        # Its messages underline with terminal codes and repeat the statement; the first line says what is wrong.
        said = str(error).splitlines()[0] if str(error) else "it cannot be read"
        raise StatementRefused(f"this is no SQL that can be read here: {escape(said)[:200]}") from None
    if len(trees) != 1:
        raise StatementRefused(f"exactly one statement is taken, and this is {len(trees)}")
    return trees[0]


def _measure(tokens: list[Token], dialect: type[Dialect]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise StatementRefused(f"this statement has {len(tokens)} words, and at most {MAX_TOKENS} are taken")
    types = {*dialect.parser_class.TYPE_TOKENS, TokenType.ARRAY, TokenType.STRUCT, TokenType.MAP} - {TokenType.VAR}
    opened: list[bool] = []
    before: Token | None = None
    for token in tokens:
        if token.token_type in _OPENING:
            opened.append(before is not None and before.token_type in types)
        elif token.token_type in _CLOSING and opened:
            opened.pop()
        if len(opened) > MAX_DEPTH or sum(opened) > MAX_TYPE_DEPTH:
            raise StatementRefused("this statement is nested too deeply")
        before = token


def generate(tree: exp.Expr, dialect: type[Dialect]) -> str:
    """A tree as text, without comments, with every name in quotes and calls as they were written. Raises SqlglotError."""
    return tree.sql(dialect=dialect, identify=True, comments=False, normalize_functions=False, unsupported_level=ErrorLevel.RAISE)


def find_calls(text: str, dialect: type[Dialect]) -> Iterator[str]:
    """The words before `(`, in lower case. Names in quotes are those of tables and columns: no call is written with quotes."""
    tokens = dialect().tokenize(text)
    for token, following in pairwise(tokens):
        if following.token_type is not TokenType.L_PAREN or token.token_type is TokenType.STRING:
            continue
        if token.token_type is TokenType.IDENTIFIER:
            continue
        if (word := _WORD.fullmatch(token.text)) is not None:
            yield fold(word.group())


def say(node: exp.Expr) -> str:
    """What kind of thing it is, in SQL's word for it where there is one."""
    if isinstance(node, exp.Command):
        return f"`{escape(str(node.this)).upper()[:40]}`"
    if isinstance(node, exp.Transaction):
        return "`BEGIN`"
    return f"`{re.sub('(?<=[a-z])(?=[A-Z])', ' ', type(node).__name__).upper()}`"
