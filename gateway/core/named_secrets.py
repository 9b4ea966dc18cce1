"""Credentials that are told by what stands before them: `password: x`, `--token x`, `curl -u name:x`, `the password is x`.

A name is found by a fixed word in it (`pass`, `key`, `token`), what stands before that word says whether it is one (`api_key`,
and not `monkey`), and what follows says where the value is. Names that nothing else is called by (`password`) take any value;
others (`token`, `pass`) only one that looks made up. What reads as code, a placeholder or a reference is no value.

The work is bounded for each word that is found, and no word inside of a value is looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from gateway.core.look_alikes import as_read
from gateway.core.markers import MarkedText, mark_text, mark_words
from gateway.core.secret_tokens import secret_pattern


@dataclass(frozen=True, slots=True)
class _Name:
    """A word that names credentials. `word` is lower case; `before` and `rest` say what stands around it in a name."""

    word: str
    before: re.Pattern[str]
    rest: re.Pattern[str]
    strong: bool


_OF_WHAT: Final = (
    r"(?:[_-]?(?:\d{1,3}|(?:db|database|sql|mysql|postgres|postgresql|pg|mongo|redis|ldap|smtp|imap|mail|ftp|sftp|ssh|vpn|wifi|wlan"
    r"|admin|root|user|backup|prod|production|dev|test|staging|stage|local|live|api|app|web|github|gitlab|aws))(?![a-z0-9]))?"
)
"""Whose credential it is, behind its name: `PASSWORD_DB`, `token-github`, `password2`."""


def _name(word: str, *, before: str = "", rest: str = "", strong: bool) -> _Name:
    # Looked at in the few characters before the word, so the end is its end.
    return _Name(word, re.compile(f"(?i:{before or '.?'})$"), re.compile(f"(?i:{word}{rest}{_OF_WHAT})"), strong)


_START = r"(?:^|[^a-z])"
_OF_KEYS = (
    r"(?:api|access|secret|private|encryption|enc|aes|hmac|jwt|cipher|signing|master|shared|account|storage|recovery|webhook|auth"
    r"|deploy|subscription|functions)[ _-]?"
)
_OF_TOKENS = r"(?:access|auth|refresh|session|bearer|id|api|vault|private|deploy|bot|security)[ _-]?"
PASSWORDS: Final = (
    *("密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "wachtwoord", "lösenord", "adgangskode", "passord"),
    *("hasło", "heslo", "salasana", "şifre", "parola", "parolă"),
)
SIGN_INS: Final = ("zugangsdaten", "anmeldedaten", "logindaten", "identifiants", "credenciales", "credenziali")
"""Words for a name and its password together."""

_NAMES: Final = (
    _name("pass", rest=r"(?:w(?:or)?d|wort|phrase|code|e)", strong=True),
    _name("pass", rest="(?:words|wds|phrases|codes|wörter)", strong=False),
    _name("kennwort", strong=True),
    _name("contrase", rest=r"(?:ñ|n)a", strong=True),
    _name("senha", before=_START, strong=True),
    _name("key", before=_OF_KEYS, rest="(?:_base)?", strong=True),
    _name("key", before=_OF_KEYS, rest="s", strong=False),
    _name("secret", before=r"(?:client|api|app|jwt|session|shared|webhook|django|consumer|oauth)[ _-]?", strong=True),
    # Other languages, of which the words stand in forms too: only what looks made up.
    *(_name(as_read(word), strong=False) for word in (*PASSWORDS, *SIGN_INS)),
    _name("token", before=_OF_TOKENS, strong=True),
    _name("token", before=_OF_TOKENS, rest="s", strong=False),
    _name("token", before=r"(?<!page)(?<!next)(?<!continuation)(?<!page[ _-])(?<!next[ _-])(?<!continuation[ _-])", strong=False),
    _name("secret", strong=False),
    _name("credential", rest="s?", strong=False),
    _name("creds", before=_START, strong=False),
    _name("pass", before=rf"(?:{_START}|user|db|root|login|admin|mail|ftp|sql|redis|store|key|bind|require)", strong=False),
    _name("pwd", before=r"(?:^|[^a-z]|user|db|root|my)", strong=False),
    _name("pw", before=rf"(?:{_START}|bind|root|ldap|user|admin)", strong=False),
    _name("psk", before=_START, strong=False),
)
WORDS_OF_NAMES: Final = tuple(dict.fromkeys(name.word for name in _NAMES))
"""One of them stands in every name that is known here."""

_WORDS: Final = mark_words(WORDS_OF_NAMES)
_LONGEST_WORD: Final = max(len(name.word) for name in _NAMES)

_HARMLESS: Final = "lighthouse"
"""A value that only goes where any value would."""

_LOOK_BACK = 24
"""Characters before a word in which the rest of its name is looked for."""

_LONGEST = 256
"""Characters of a bare value that are judged; what follows them without a break goes too."""

_REFERENCE = (
    r"\[redacted:|\?[\w ]{0,80}\}|\$[\w({]|\{\{|%[(sd]|<|![A-Za-z]{2,20}[ \t]|[*x.•]{3,}|[);,\]}>]|&&|\|\||->|=="
    r"|(?:self|this|os|process|env|req|request|config|settings|options|args|params|props|user|form|data|ctx|vault|secrets)[.\[]"
    r"|(?i:none|null|nil|true|false|undefined|str|string|bytes|bool|boolean|any|optional|unknown|int|text|object|include|omit"
    r"|same-origin|required|missing|invalid|expired|wrong|empty|unset|enabled|disabled|siehe|mindestens|vergessen|geändert|mínimo|mínima|voir|oublié|see|the|your|my|a|an|is|are|was|not"
    r"|new|get|set|read|await|prompt|input|type|function|lambda|return|change-?me|your[_-]\w+|example)\b(?![-#!@$%^&*+\d])"
    r"|(?:[A-Za-z_$]\w*[.])*[A-Za-z_]{0,40}(?i:passw(?:or)?ds?|passphrase|tokens?|secrets?|credentials?|keys?|secretstr)\b(?![-#!@$%^&*+\d.])"
    r"|[a-z_]{2,20}(?:\.[A-Za-z_]{2,40}){1,4}(?![\w#!@$%^&*+-])"
)
"""What stands where a value would and is none: code, a placeholder, a reference to a variable, a word of prose."""

_QUOTED = r"""(?<=")(?:[^"\\\r\n]|\\.)++|(?<=')(?:[^'\\\r\n]|\\.)++|(?<=`)[^`\r\n]++"""
_ESCAPED = r"""(?<=\\")(?:[^"\\\r\n]|\\[^"\r\n])++"""
_BARE_CHARACTER = r"""[^\s"'`,;&<>()\[\]{}|\\]"""
_BARE = rf"""(?<!["'`]){_BARE_CHARACTER}{{%d,{_LONGEST}}}+(?![(\[])"""

_MADE_UP = rf"(?={_BARE_CHARACTER}{{0,80}}?(?:\d|[#!%^*+$~]))(?={_BARE_CHARACTER}{{0,80}}?[A-Za-z])"
"""A digit or an unusual sign, and a letter: what prose and code seldom have."""

_NAME_WITH_NUMBER = r"[A-Za-z][A-Za-z_-]{0,63}+\d{0,4}"
"""`sha256`, `address2`."""

_WORDS_JOINED = r"(?=(?:[A-Za-z]{3,12}-){2}[A-Za-z]{3,12}(?![\w-]))"
"""Three words with hyphens between, as passphrases are made."""

_MARK = r"""(?:\\*["'`]\]?|[*_]{1,2})?"""
_SEPARATOR = (
    rf"""{_MARK}[ \t]{{0,8}}+(?::[ \t]?[A-Za-z_][\w<>?]{{0,31}}[ \t]?(?==))?+(?::=|=>|[:=：→]){_MARK}[ \t]{{0,8}}+(?:\\*["'`])?"""
)
_NEXT_LINE = (
    rf"""{_MARK}[ \t]{{0,8}}+[:=>][ \t]{{0,8}}+(?:![\w:]{{1,32}}[ \t]?)?(?:[|>][+-]?)?[ \t]{{0,8}}+\r?\n[ \t]{{0,32}}["']?"""
)
_IS = r"(?:is|was|will be|equals|set to|changed to|to|ist|war|lautet|lautete|heißt|heisst|est|es|é)"
_LINE_END = r"""["'`]?[ \t]{0,8}(?=\r?\n|$|[<},])"""

_CODED_QUOTE = r"(?:%(?:25){0,3}2[27]|&quot;|&#(?:34|39|x22|x27);|\\{1,2}u002[27])"
_CODED_SEPARATOR = r"(?:%(?:25){0,3}3[AaDd]|&#(?:58|61|x3[AaDd]);|\\{1,2}u003[AaDd])"
_CODED_BLANK = r"(?:%(?:25){0,3}20|[+ \t])"

# What may follow a name, first match first; the one group that took part is the value.
_FOLLOWS: Final = (
    rf"{_SEPARATOR}(?!{_REFERENCE})({_ESCAPED}|@QUOTED|@BARE)",
    # In a URL, in HTML or in a text of JSON, whose signs are written otherwise: `password%3D…`.
    (
        rf"(?:{_CODED_QUOTE}{_CODED_BLANK}{{0,2}}+[:=]|{_CODED_QUOTE}?{_CODED_SEPARATOR}){_CODED_BLANK}{{0,4}}+{_CODED_QUOTE}?+"
        rf"(?!{_REFERENCE})(@BARE)"
    ),
    # On the next line, alone there: a YAML block, an element of XML.
    rf"{_NEXT_LINE}(?!{_REFERENCE})(?:(?<=[\"'])|{_MADE_UP})({_BARE_CHARACTER}{{6,{_LONGEST}}}+){_LINE_END}",
    # As one of two values that belong together: name and value, in JSON, YAML, HTML and calls.
    (
        rf"""(?<!/passwd)["']?[,\s]{{1,40}}["']?(?i:value|content|text|val|default)["']?[ \t]{{0,8}}[:=][ \t]{{0,8}}["']?"""
        rf"""(?!{_REFERENCE})([^\s"'<>]{{4,{_LONGEST}}}+)"""
    ),
    # One of them or more, in a list of their own or not.
    (
        rf"""["'][ \t]{{0,8}},\s{{0,32}}(?:\[\s{{0,32}}|\{{\s{{0,32}}["']\w{{1,32}}["'][ ]?:[ ]?)?["']"""
        rf"""(?:Bearer |Basic )?{_MADE_UP}"""
        rf"""([^\s"'<>]{{4,{_LONGEST}}}+(?:["'][ \t]{{0,8}},\s{{0,32}}["']{_MADE_UP}(?!{_NAME_WITH_NUMBER}["'])"""
        rf"""[^\s"'<>]{{6,{_LONGEST}}}+(?=["'])(?!["'][ \t]{{0,8}}:)){{0,31}}+)(?=["'])"""
    ),
    # In JSON that is a text of JSON itself.
    rf"""\\{{1,3}}["'][ \t]{{0,8}},\s{{0,32}}\\{{1,3}}["']{_MADE_UP}([^\s"'<>\\]{{6,{_LONGEST}}}+)(?=\\)""",
    # In languages that set no blank: `密码是…`, `パスワードは…`.
    rf"""(?:是|为|為|は|は、)[:：]?[ \t]{{0,4}}["'`「]?{_MADE_UP}({_BARE_CHARACTER}{{6,{_LONGEST}}}+)""",
    rf"""\([ \t]{{0,8}}["']{_MADE_UP}([^\s"'<>]{{4,{_LONGEST}}}+)(?=["'])""",
    rf""">[ \t]{{0,8}}(?!{_REFERENCE})([^\s<>]{{4,{_LONGEST}}}+)[ \t]{{0,8}}(?=<)""",
    # In a cell beside it, or in a list of them, which goes whole.
    (
        rf"""[ \t]{{0,8}}:?[ \t]{{0,8}}(?:</[A-Za-z]{{1,10}}>\s{{0,32}}){{1,3}}"""
        rf"""(?:<[A-Za-z]{{1,10}}(?:\s[^<>]{{0,128}})?>\s{{0,32}}){{1,3}}"""
        rf"""{_MADE_UP}([^\s<>]{{4,{_LONGEST}}}+)\s{{0,32}}(?=<)"""
    ),
    (
        rf"""{_MARK}[ \t]{{0,8}}+(?:=>|[:=])[ \t]{{0,8}}\[\s{{0,32}}["']?"""
        rf"""(?={_BARE_CHARACTER}{{6}})(?:{_MADE_UP}|{_WORDS_JOINED})"""
        r"""((?<=["'])[^\[\]{}]*(?=["']\s{0,32},?\s{0,32}\])|(?<!["'])[^\[\]{}"']++(?=\]))"""
    ),
    # In prose, tables and SQL.
    (
        rf"""{_MARK}(?:[ \t](?:for|of|für|von|pour|de|para)[ \t]\S{{1,64}}+)?[ \t]{{1,8}}+(?i:{_IS}:?[ \t]{{1,4}}+)?"""
        rf"""["'`]?(?!{_REFERENCE}){_MADE_UP}({_BARE_CHARACTER}{{6,{_LONGEST}}}+)(?![(\[])"""
    ),
    rf"[ \t]{{1,16}}+\|[ \t]{{1,16}}+{_MADE_UP}([^\s|]{{6,{_LONGEST}}}+)[ \t]{{1,16}}+\|",
)


def _follows(*, quoted: str, bare: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each.replace('@QUOTED', quoted).replace('@BARE', bare)})" for each in _FOLLOWS))


@cache
def _after_strong() -> re.Pattern[str]:
    # Compiled by the first name that is found: the two took a twentieth of a start (measured).
    return _follows(quoted=_QUOTED, bare=_BARE % 1)


@cache
def _after_weak() -> re.Pattern[str]:
    return _follows(
        quoted=f"(?![a-z-]{{1,12}}[\"'`])(?:{_QUOTED})",
        bare=(
            rf"(?![/~])(?:{_MADE_UP}|{_WORDS_JOINED})(?:{_BARE % 6})"
            # With whose it is before it: `ada:…`, `ada / …`.
            rf"""|[^\s"'`/:|]{{1,64}}(?:[/:]|[ \t]{{1,2}}[/:|][ \t]{{1,2}}){_MADE_UP}{_BARE % 6}"""
        ),
    )


_CURSOR: Final = re.compile(r"(?i:page|next|continuation)$")
"""What makes a token a cursor, which a caller needs to read on: `nextPageToken`."""

_GOES_ON: Final = re.compile(r"_{0,2}[A-Za-z0-9.]")
"""What a name goes on with that is none that is known: `password_hint`. No value follows it, and to see that is cheap."""

_AFTER_OPTION: Final = re.compile(rf"""[ \t]{{1,8}}+["']?(?!{_REFERENCE}|-)([^\s"'|;&]{{4,{_LONGEST}}}+)""")
_OPTION: Final = re.compile(r"(?:^|\s)--?[a-zA-Z][\w-]{0,20}$|(?:^|\s)--?$")
_REST: Final = re.compile(rf"{_BARE_CHARACTER}*+")


def find_words(text: str, lowered: MarkedText) -> list[int]:
    """Where words stand that names of credentials have in them, in order. `lowered` is the text in lower case."""
    # A few letters become two, and places would not be those of the text any more.
    marked = lowered if len(lowered.text) == len(text) else mark_text(text.translate(_ASCII_LOWER))
    low, rare = marked.text, marked.rare
    places: list[int] = []
    # Written out, for every result comes through here, and most hold none of these words.
    for marker in _WORDS:
        if marker.rare in rare:
            word = marker.word
            place = low.find(word)
            while place >= 0:
                places.append(place)
                place = low.find(word, place + len(word))
    places.sort()
    return places


def find_named(text: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Where the values of named credentials stand, in order of place. `places` are those of `find_words`."""
    end = 0
    for place in places:
        if place < end:
            continue
        found = _find_value(text, place)
        if found is not None:
            start, end = found
            # A bare value is judged by its beginning and goes whole.
            if end - start == _LONGEST and (rest := _REST.match(text, end)) is not None:
                end = rest.end()
            yield start, end


def names_any_value(name: str) -> bool:
    """Whether a member of that name is a credential whatever its value looks like, by the names that are known in texts."""
    # Which digits there are makes no difference, and many names differ in nothing else.
    return _names_any_value(name[-_LOOK_BACK * 2 :].translate(_AS_ZERO))


@lru_cache(4_096)
def _names_any_value(name: str) -> bool:
    said = f'"{name}": "{_HARMLESS}"'
    return any(end == len(said) - 1 for _, end in find_named(said, find_words(said, mark_text(said.lower()))))


def _find_value(text: str, place: int) -> tuple[int, int] | None:
    before = text[max(0, place - _LOOK_BACK) : place]
    folded = text[place : place + _LONGEST_WORD].lower()
    for name in _NAMES:
        if not folded.startswith(name.word):
            continue
        rest = name.rest.match(text, place)
        # A capital inside of a word begins a new one: `dbPass`.
        begins = text[place].isupper() and before[-1:].islower() and not name.strong and _CURSOR.search(before) is None
        if rest is None or _GOES_ON.match(text, rest.end()) or not (begins or name.before.search(before)):
            continue
        after = (_after_strong() if name.strong else _after_weak()).match(text, rest.end())
        if after is None and _OPTION.search(before):
            after = _AFTER_OPTION.match(text, rest.end())
        if after is not None and after.lastindex is not None:
            return after.span(after.lastindex)
    return None


_AS_ZERO: Final = dict.fromkeys(map(ord, "123456789"), "0")
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_VALUE = r"""([^\s"'|;&]{3,}+)"""
_WORDS_BETWEEN = r"(?:[ \t]{1,4}(?!%s)[^\s|;&]{1,200}+){0,12}?[ \t]{1,4}"

COMMANDS: Final = (
    # Programs whose options name no credential: the letter means one only there.
    secret_pattern(
        "password",
        "curl",
        rf"""(?i)\bcurl\b{_WORDS_BETWEEN % "-{1,2}u"}(?:-[a-z]{{0,6}}u|--user|--proxy-user)[ =]{{0,2}}"""
        rf"""["']?[^\s:"'/]{{1,128}}:(?!\d{{1,5}}(?:\s|$)|pass(?:word|wd)?\b){_VALUE}""",
    ),
    secret_pattern("password", "mysql", rf"""\bmysql\w{{0,8}}\b{_WORDS_BETWEEN % "-p"}-p["']?{_VALUE}"""),
    secret_pattern(
        "password",
        "sshpass login",
        rf"""\b(?:sshpass|(?:docker|podman|az|helm registry) login)\b{_WORDS_BETWEEN % "-p"}-p[ =]{{0,4}}["']?{_VALUE}""",
    ),
    secret_pattern(
        "password",
        "sqlplus jdbc:oracle",
        r"""\b(?:sqlplus\b(?:[ \t]{1,4}-\w{1,8}){0,4}[ \t]{1,4}|jdbc:oracle:\w{1,8}:)["']?[\w.$#-]{1,64}/"""
        r"""([^\s@/"']{3,128}+)@""",
    ),
    secret_pattern("password", "redis-cli", rf"""\bredis-cli\b{_WORDS_BETWEEN % "-a"}-a[ ]{{1,4}}["']?{_VALUE}"""),
    secret_pattern(
        "password",
        "ldap",
        rf"""\bldap(?:search|modify|add|delete|passwd|whoami)\b{_WORDS_BETWEEN % "-w"}-w[ ]{{0,4}}["']?{_VALUE}""",
    ),
    secret_pattern("password", "zip sqlcmd", rf"""\b(?:zip|unzip|sqlcmd)\b{_WORDS_BETWEEN % "-P"}-P[ ]{{0,4}}["']?{_VALUE}"""),
    secret_pattern("password", "openssl", rf"""\bopenssl[ ]enc\b{_WORDS_BETWEEN % "-k"}-k[ ]{{1,4}}["']?{_VALUE}"""),
    secret_pattern("password", "smbclient", rf"""\bsmbclient\b{_WORDS_BETWEEN % "-U"}-U[ ]{{0,4}}["']?[^\s%]{{1,64}}%{_VALUE}"""),
    secret_pattern(
        "password",
        "chpasswd",
        r"""\becho[ ]{1,4}["']?[^\s:"'|]{1,64}:([^\s"'|]{3,256}+)["']?[ ]{0,4}\|[ ]{0,4}(?:sudo[ ])?chpasswd""",
    ),
    secret_pattern("password", "sudo", r"""\becho[ ]{1,4}["']?([^\s"'|]{3,256}+)["']?[ ]{0,4}\|[ ]{0,4}sudo[ ]{1,4}-S"""),
    secret_pattern(
        "password",
        "htpasswd",
        rf"""\bhtpasswd[ ]{{1,4}}-\w{{0,6}}b\w{{0,6}}(?:[ ]{{1,4}}[^\s]{{1,200}}+){{2}}[ ]{{1,4}}["']?{_VALUE}""",
    ),
    secret_pattern("password", "/user:", rf"""/user:[^\s]{{1,64}}+[ ]{{1,4}}["']?(?![/-]){_VALUE}"""),
    secret_pattern(
        "password", "setx", rf"""(?i)\bsetx[ ]{{1,4}}\w{{0,40}}(?:secret|token|password|key)[ ]{{1,4}}["']?{_VALUE}"""
    ),
    secret_pattern("password", "SecureString", r"""ConvertTo-SecureString[ ]{1,4}(?:-String[ ]{1,4})?["']([^"'\r\n]{3,256}+)"""),
    secret_pattern(
        "password",
        "identified",
        r"""(?i)\bidentified[ ]{1,4}(?:with[ ]{1,4}\w{1,40}[ ]{1,4})?by[ ]{1,4}["']([^"'\r\n]{1,256}+)""",
    ),
    *(
        secret_pattern(
            "password",
            marker,
            rf"""{word}\w{{0,8}}[ ]{{0,4}}[=(][ (]{{0,4}}["'][^"'\r\n]{{1,64}}["'],[ ]{{0,4}}["']([^"'\s]{{4,256}}+)["']""",
        )
        for marker, word in (("Credential", "Credentials?"), ("Auth", "Auth"), ("auth", "auth"))
    ),
    # netrc and .pgpass.
    secret_pattern(
        "password",
        "login",
        r"""\blogin[ \t\r\n]{1,16}+[^\s]{1,128}+[ \t\r\n]{1,16}+password[ \t\r\n]{1,16}+"""
        r"""(?=[^\s]{0,80}?[\d#!%^*+_-])([^\s]{3,256}+)""",
    ),
    secret_pattern("password", ":", r"""(?m)^[\w.*-]{1,253}+:(?:\d{1,5}|\*)(?::[\w.*@-]{1,64}){2,3}:(?!//)([^\s:]{6,256}+)$"""),
    secret_pattern(
        "password",
        "value",
        r"""(?i)["']value["'][ ]?:[ ]?["']([^"'\r\n]{1,256}+)["'][ ]?,\s{0,8}"""
        r"""["'](?:name|key|id|field)["'][ ]?:[ ]?["'][\w.-]{0,40}?(?:password|secret|token|api_?key|passphrase)["']""",
    ),
    secret_pattern("signature", "sig", r"""(?i)[?&](?:sig|signature|x-(?:amz|goog)-signature)=([^&\s"'<>]{16,}+)"""),
)
