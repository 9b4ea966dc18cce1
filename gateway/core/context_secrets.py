r"""Credentials that only their place tells: PINs and one-time codes, a bare `key=`, a value glued to its name, `net use`.

None of these looks like a credential by itself: a PIN is any four digits. So each pattern wants words of such a message on both
sides, or a value that no name, path, id or date looks like (`_RANDOM`). Every expression is linear in its input: repetitions are
bounded, and begin at a fixed word or at the start of a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, cast

from gateway.core.canonical import Json
from gateway.core.credential_names import credential_kind
from gateway.core.secret_tokens import secret_pattern

_DIGITS: Final = r"\d{4,8}(?![\w%°€$]|[.,:/-]\d)"
_CODE: Final = (
    rf"(?:[A-Z]-)?(?:{_DIGITS}|\d{{3}}[ -]\d{{3}}(?![\w-])|(?=[A-Za-z-]{{0,12}}\d)(?=[\d-]{{0,12}}[A-Za-z])"
    r"(?:[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){1,7}|[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){1,7})(?![\w-]))"
)
_CODES: Final = rf"((?:{_CODE})(?:[ ]{{0,2}}[,;\s][ ]{{0,2}}(?:{_CODE})){{0,15}}+)"

_LEADS: Final = r"""["']?(?:[ \t]{0,4}(?:->|=>|[:=→])|[ \t]{1,4}(?i:is|was|lautet|ist|now|es|est)(?:[ ](?i:now|jetzt))?:?)"""
_TO: Final = rf"""(?:{_LEADS}[ \t]{{0,4}}\[?|[ \t]{{1,4}})["'*`]{{0,2}}"""
_OF_THIS: Final = r"(?:[ ](?i:for|of|to|der|des|zur|zum|für|von|vom|de|du|della)(?:[ ][\w'-]{1,24}){1,4}?)?"

_BEFORE_CODE: Final = (
    *(
        "verification",
        "onetime",
        "one-time",
        "one_time",
        "one time",
        "security",
        "login",
        "log-in",
        "log in",
        "signin",
        "sign-in",
    ),
    *(
        "sign in",
        "auth",
        "authentication",
        "authenticator",
        "authorization",
        "confirmation",
        "access",
        "2fa",
        "2-fa",
        "mfa",
        "sms",
    ),
    *("otp", "totp", "recovery", "backup", "activation", "unlock", "two-factor", "two factor", "two-step", "two step"),
)
_CODES_IN_GERMAN: Final = (
    *("bestätigungs", "sicherheits", "anmelde", "einmal", "zugangs", "freischalt", "verifizierungs", "verifikations"),
    "wiederherstellungs",
)
_NAMED: Final = "|".join(
    [f"(?<={word}.)|(?<={word}[ _-].)" for word in _BEFORE_CODE] + [f"(?<={word}.)|(?<={word}-.)" for word in _CODES_IN_GERMAN]
)
# The beginning is a letter, which is found fast; what the words before it are is looked for from there.
_NAME_OF_CODE: Final = rf"[Cc](?=[Oo][Dd])(?i:{_NAMED})(?i:odes?)"

_PLAIN_PIN: Final = r"[Pp](?:(?<![A-Za-z].)|(?<=[a-z]P))(?:IN|in|UK|uk)(?:[ _-]?(?:[Cc]ode|CODE))?(?![A-Za-z\d])"
_OWNERS: Final = (
    *("card", "karte", "karten", "sim", "door", "gate", "phone", "bank", "debit", "credit", "alarm", "safe", "atm", "tablet"),
    *("login", "user", "my", "your", "his", "her", "mein", "dein", "ihr", "ihre"),
)
_OWNED: Final = "|".join(rf"(?<=\b{word}[ _-].)" for word in _OWNERS)
_OWNED_PIN: Final = rf"[Pp](?i:{_OWNED})(?i:in|uk)(?![A-Za-z\d])"

_ENTERED: Final = "|".join(rf"(?<=\b{word}[ ].)" for word in ("use", "enter", "type", "code"))

_T: Final = r"[A-Za-z0-9_+/=~-]"
_MIXED: Final = (
    rf"(?={_T}{{0,64}}?[A-Z])(?={_T}{{0,64}}?[a-z])(?=[A-Za-z_+~-]{{0,24}}\d{{1,6}}[A-Za-z]{{1,16}}\d{{1,6}}[A-Za-z]{{1,16}}\d)"
)
_RANDOM: Final = rf"(?!AAAA[BCE]3Nza){_MIXED}{_T}{{16,256}}+(?![\w.(])"
"""Both cases, and digits in three places or more: paths, ids in capitals, digests and words with a number are none of these."""

_WORDS: Final = r"[a-z]{0,12}(?:[A-Z][a-z]{2,20}\d{0,4}|[A-Z]\d{1,2}|[A-Z]{2,5}){1,8}(?![A-Za-z])"
"""What names in programs go on with: `passwordV2Field1`."""

_G: Final = r"[A-Za-z0-9!#%^*+~@?$]"
_GLUED: Final = (
    rf"(?!{_WORDS})(?={_G}{{0,40}}?[A-Z])(?={_G}{{0,40}}?[a-z])(?!{_G}{{0,40}}?[a-z]{{5}})"
    rf"(?={_G}{{0,40}}?\d[A-Za-z!#%^*+~@?$]{{1,12}}\d){_G}{{8,128}}+(?![\w.(:=/-])"
)
_VALUE: Final = r"""([^\s"'|;&]{3,256}+)"""
_MADE_UP: Final = r"""(?=[^\s"']{0,80}?[\d#!%^*+$~])(?=[^\s"']{0,80}?[A-Za-z])"""
_OPTIONS: Final = r"(?:[ \t]{1,4}[^\s|;&]{1,200}+){0,12}?[ \t]{1,4}"

_OPEN_KEYS: Final = (
    "public",
    "pub",
    "cache",
    "sort",
    "item",
    "page",
    "path",
    "file",
    "group",
    "row",
    "object",
    "partition",
    "idempotency",
)
_NO_SECRETS: Final = "".join(f"(?<!{word}key)(?<!{word}[ _.-]key)" for word in _OPEN_KEYS)
"""What stands before `key` where what follows is for everybody."""

CONTEXTS: Final = (
    secret_pattern("pin", "PIN PUK", rf"P(?<![A-Za-z].)(?:IN|UK)(?:[ _-][Cc]ode)?(?![A-Za-z\d]){_TO}({_DIGITS})"),
    secret_pattern("pin", "pin puk Pin PIN PUK Puk", rf"{_PLAIN_PIN}{_OF_THIS}{_LEADS}[ \t]{{0,4}}[\"'*`]{{0,2}}({_DIGITS})"),
    secret_pattern("pin", "pin puk", rf"{_OWNED_PIN}{_TO}({_DIGITS})"),
    secret_pattern(
        "one-time-code",
        "OTP TOTP TAN",
        rf"[TO](?<![A-Za-z].)(?:(?<=T)OTP|(?<=O)TP|(?<=T)AN)(?:[ _-]?(?i:code))?(?![A-Za-z\d]){_TO}({_CODE})",
    ),
    secret_pattern(
        "one-time-code", "otp", rf"[to](?<![a-zA-Z].)(?:(?<=t)otp|(?<=o)tp)(?:_?code)?{_LEADS}[ \t]{{0,4}}[\"'*`]{{0,2}}({_CODE})"
    ),
    secret_pattern("one-time-code", "code Code CODE", rf"{_NAME_OF_CODE}{_OF_THIS}{_TO}{_CODES}"),
    secret_pattern(
        "one-time-code",
        "code Code CODE",
        r"(\d(?<![\w.,:/].)(?:\d{3,7}|\d\d[ -]\d{3}))[ ](?i:is|ist)[ ](?i:your|the|de[ri]n?|ihr)[ ]"
        rf"(?:[\w.-]{{1,24}}[ ]){{0,3}}?[\w-]{{0,24}}?{_NAME_OF_CODE}",
    ),
    secret_pattern(
        "one-time-code",
        "use enter type code Use Enter Type Code",
        rf"(\d(?i:{_ENTERED})(?:\d{{3,7}}|\d\d[ -]\d{{3}}|\d(?:[ ]\d\d){{2,3}}))[ ]"
        r"(?i:to|as)[ ](?i:sign|log|verify|confirm|authenticate|authorize|unlock|finish|complete|access|your[ ]code)",
    ),
    secret_pattern(
        "combination",
        "ombination",
        rf"(?i)\b(?:combination|kombination)\b(?:[ ](?:of|to|for|des|der|vom|zum)(?:[ ][\w'-]{{1,24}}){{1,3}})?{_LEADS}[ ]{{0,4}}"
        r"(\d{1,2}(?:[ -]\d{1,2}){2,4}(?![\w-]))",
    ),
    # Any name that ends in `key`, with a value that nothing but a key looks like.
    secret_pattern(
        "key",
        "key KEY Key",
        rf"[Kk](?:ey|EY)(?=[^\r\n]{{1,16}}?{_T}{{16}})(?i:{_NO_SECRETS})"
        rf"""(?:[ ]is)?(?:\\*["'])?[ \t]{{0,4}}(?:=>|[:=,]|[ ]value=)?[ \t]{{0,4}}(?:value=)?"""
        rf"""(?:\\*["'])?(?<![eE][yY])({_RANDOM})""",
    ),
    secret_pattern("key", "?key= &key= ?k= &k= &code= ?code=", rf"[?&](?:key|k|code)=({_RANDOM})"),
    secret_pattern("key", "?key= &key=", r"[?&]key=([0-9a-f]{32,128}+)(?![\w-])"),
    secret_pattern(
        "key", "base64:", r"""(?i)key["']?[ \t]{0,4}(?:=>|[=:,])[ \t]{0,4}["']?base64:([A-Za-z0-9+/]{22,88}+={0,2})"""
    ),
    secret_pattern(
        "licence-key",
        "key Key KEY",
        r"[Kk](?i:(?<=\blicen[cs]e[ _-].)|"
        r"(?<=\bproduct[ _-].)|(?<=\bserial[ _-].)|(?<=\bcd[ _-].))(?i:ey)[ \t]{0,4}(?:[:=]|is)[ \t]{0,4}"
        r"([A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7})(?![\w-])",
    ),
    secret_pattern("service-token", "SSWS", r"SSWS(?<!\w.{4})[ ]{1,4}([\w-]{16,}+)"),
    secret_pattern("service-token", "00", r"00(?<![\w-]..)(?=[\w-]{0,40}?[A-Z])(?=[\w-]{0,40}?[a-z])[\w-]{40}(?![\w-])"),
    secret_pattern("url-token", "://", r"://(?=[\w~-]{0,40}?\d)(?=[\w~-]{0,40}?[A-Za-z])([\w~-]{20,256}+)@"),
    # Without anything between a name and its value, as a line that was cut or joined has it.
    *(
        secret_pattern("password", markers, rf"{word}({_GLUED})")
        for markers, word in (
            ("pass Pass PASS", r"[Pp](?:ass(?:word|wort|wd|phrase)|ASSWO?R?[DT]|ASSPHRASE)"),
            ("kennwort Kennwort KENNWORT", r"[Kk](?:ennwort|ENNWORT)"),
            ("pw Pw PW", r"[Pp](?<![A-Za-z].)(?:wd?|WD?)"),
            ("token secret apikey Token Secret", r"[TtSsAa](?<![A-Za-z].)(?:(?<=[Tt])oken|(?<=[Ss])ecret|(?<=[Aa])pi_?[Kk]ey)"),
        )
    ),
    secret_pattern(
        "password",
        "net NET Net",
        rf"""[Nn](?<!\w.)(?i:et)(?:\.(?i:exe))?[ ]{{1,4}}(?i:use)[ ]{{1,4}}(?:(?:[A-Za-z]:|\*)[ ]{{1,4}})?"""
        rf"""(?:(?:\\{{2,4}}|https?:)[^\s"]{{1,256}}|"[^"\r\n]{{1,256}}")[ ]{{1,4}}["']?(?![/*$%]){_VALUE}""",
    ),
    secret_pattern(
        "password",
        "net NET Net",
        r"""[Nn](?<!\w.)(?i:et)(?:\.(?i:exe))?[ ]{1,4}(?i:user)[ ]{1,4}["']?[\w.-]{1,64}["']?[ ]{1,4}["']?(?![/*$%])"""
        rf"""(?:{_MADE_UP}|(?=[^\s]{{3,128}}[ ]{{1,4}}/(?i:add|domain|y)\b)){_VALUE}""",
    ),
    secret_pattern(
        "password",
        "--password-stdin",
        rf"""\becho[ ]{{1,4}}(?:-n[ ]{{1,4}})?["']?(?!\$){_VALUE}["']?[ ]{{0,4}}\|[^|\r\n]{{1,160}}?--password-stdin""",
    ),
    secret_pattern(
        "password",
        "psexec mongo rdesktop login",
        rf"""(?i)\b(?:psexec(?:64)?(?:\.exe)?|mongo(?:sh|dump|restore|export|import)?|rdesktop|"""
        rf"""(?:oc|cf|nerdctl|buildah|skopeo|oras)[ ]login|crane[ ]auth[ ]login)\b"""
        rf"""{_OPTIONS}-p[ =]{{1,4}}["']?(?![-$\d]){_VALUE}""",
    ),
    secret_pattern(
        "password",
        "docker",
        rf"""\bdocker(?:[ ]{{1,4}}--?[\w-]{{1,24}}(?:[ =][^\s-][^\s]{{0,128}})?){{1,4}}"""
        rf"""[ ]{{1,4}}login\b{_OPTIONS}-p[ =]{{0,4}}["']?(?!\$){_VALUE}""",
    ),
    secret_pattern("password", "freerdp", rf"""(?i)\b[wx]?l?freerdp\w{{0,4}}\b{_OPTIONS}/p:["']?(?!\$){_VALUE}"""),
    secret_pattern(
        "password", "-pw", rf"""(?i)\b(?:plink|pscp|psftp|putty)(?:\.exe)?\b{_OPTIONS}-pw[ ]{{1,4}}["']?(?![%$]){_VALUE}"""
    ),
    secret_pattern("password", "schtasks", rf"""(?i)\bschtasks(?:\.exe)?\b{_OPTIONS}/rp[ ]{{1,4}}["']?(?![%$*]){_VALUE}"""),
    secret_pattern("password", "7z rar", rf"""[7r](?<!\w.)(?:(?<=7)z[ar]?|(?<=r)ar)\b{_OPTIONS}-h?p["']?(?!\$){_VALUE}"""),
    secret_pattern(
        "password",
        "sign log Sign Log",
        rf"""[SsLl](?<!\w.)(?:(?<=[Ss])ign|(?<=[Ll])og)[ -]?in[ ](?:with|as|using|to)[ ][\w.@-]{{1,64}}[ ]{{0,2}}/[ ]{{0,2}}"""
        rf"""{_MADE_UP}([^\s"'`/]{{6,128}}+)""",
    ),
    secret_pattern(
        "one-time-code",
        "your Your",
        r"[Yy](?<!\w.)our[ ](?!(?:order|booking|promo|discount|postal|zip|product|error|status|exit|area|country|source|gift)\b)"
        rf"[\w.-]{{1,24}}[ ]code{_LEADS}[ ]{{0,4}}({_DIGITS}|\d{{3}}[ -]\d{{3}})"
        r"(?![ ](?:ms|lines|bytes|files|words|characters)\b)",
    ),
    # In prose, the name behind its value.
    secret_pattern(
        "password",
        "with With",
        rf"""[Ww](?<!\w.)ith[ ]["'`]?{_MADE_UP}([^\s"'`]{{4,128}}+)["'`]?[ ]as[ ]"""
        r"""(?:the|your|my|its|his|her)?[ ]?pass(?:word|phrase|code)""",
    ),
    secret_pattern(
        "password",
        "redentials zugangsdaten",
        rf"""(?i)(?:credentials|zugangsdaten):[ ]["'`]?[\w.@-]{{1,64}}["'`]?(?:[ ]|,[ ]){_MADE_UP}([^\s"'`:=/]{{6,128}}+)""",
    ),
    secret_pattern(
        "password",
        "used now becomes",
        rf"""[Pp](?<!\w.)(?i:ass(?:word|phrase|code))[ ](?:used[ ]to[ ]be|is[ ]now|now[ ]is|becomes)[ ]["'`]?"""
        rf"""{_MADE_UP}([^\s"'`]{{4,128}}+)""",
    ),
    secret_pattern(
        "password",
        "phrase",
        r"""[Pp](?<!\w.)(?i:assphrase)(?:[ ](?:is|was|of|to))?[ ]["“]([\w'-]{1,32}(?:[ ][\w'-]{1,32}){2,15})["”]""",
    ),
)

EMPTY_HEADER: Final = (
    r"""(?!(?:bearer|basic|digest|negotiate|string|str|optional)[ ]?(?:<[\w -]{1,40}>)?["']?[ ]{0,4}(?:$|[\r\n]))"""
    r"""(?!(?:theme|lang|language|locale|tz)=[\w/-]{0,20}(?:;[ ]?(?:path|samesite|max-age)=[\w/]{1,20}){0,4}["']?(?:$|[\r\n]))"""
)
"""What headers of credentials hold that is none: the name of a scheme alone, how a page is to look."""

_CODE_NAME: Final = re.compile(
    r"(?:(?:^|[^A-Za-z])(?:[Pp](?:IN|in|UK|uk)|[Tt]?[Oo](?:TP|tp)|TAN)|(?<=[a-z])(?:P(?:in|uk|IN|UK)|T?OTP|Totp|Otp|Tan)"
    rf"|{_NAME_OF_CODE})(?:[ _-]?(?i:code|number))?$"
)
_CODE_VALUE: Final = re.compile(rf"{_CODE}|\d{{4,10}}")
_KEY_NAME: Final = re.compile(rf"(?i)key{_NO_SECRETS}$")
_KEY_VALUE: Final = re.compile(_RANDOM)


def member_kind(name: str, value: Json) -> str | None:
    """What kind of credential a member of data is, by its name alone or by both."""
    return credential_kind(name) or _kind_in_context(name, value)


def _kind_in_context(name: str, value: Json) -> str | None:
    """What a member's name and value say together: `{"pin": "4821"}` is a PIN, `{"pin": 17}` is not."""
    if isinstance(value, list | tuple):
        if _CODE_NAME.search(name[-48:]) is None:
            return None
        items = cast("Sequence[Json]", value)
        return "one-time-code" if any(isinstance(each, str) and _CODE_VALUE.fullmatch(each) for each in items) else None
    text = value if isinstance(value, str) else str(value) if isinstance(value, int) else ""
    # Nearly no value of data is one of these, so most names are not looked at.
    if len(text) < 4:
        return None
    if _CODE_VALUE.fullmatch(text) is not None:
        return "one-time-code" if _CODE_NAME.search(name[-48:]) is not None else None
    return "key" if _KEY_VALUE.fullmatch(text) is not None and _KEY_NAME.search(name[-48:]) is not None else None
