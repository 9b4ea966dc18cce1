"""Whether words ask for a password, a key or another secret, also where they are written so that only a person reads them so."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from gateway.core.look_alikes import LOOK_ALIKES

_SECRET: Final = re.compile(
    r"pass ?(?:word|wd|phrase|code)|\bpwd\b|passwort|kennwort|contrasena|mot de passe|\bsenha\b|secret|credential|\btoken\b"
    r"|\b(?:api|access|private|ssh|pgp|gpg|encryption|signing|security|recovery|licen[cs]e) ?keys?\b|\botp\b"
    r"|\bpins?\b|\bpin ?code"
    r"|(?:one time|verification|recovery|security|login|sign in|auth(?:entication|orization)?|2 ?fa|mfa|sms) ?(?:code|phrase)"
    r"|seed phrase|\bmnemonic\b|\bcv[vc]2?\b|card n(?:umber|o)\b|credit card|kreditkarte|\bssn\b|social security"
    r"|wachtwoord|adgangskode|\bpassord|\blosenord|\bhaslo\b|\bheslo\b|salasana|\bsifre|geheimnis|(?:zugangs|anmelde|login)daten|\bparola\b"
    # Without accents too: Russian, Bulgarian; Chinese; Japanese; Korean, whose syllables come apart.
    "|\u043f\u0430\u0440\u043e\u043b|\u5bc6\u7801|\u5bc6\u78bc|\u30cf\u30b9\u30ef\u30fc\u30c8|\u6697\u8a3c\u756a\u53f7"
    "|\u1107\u1175\u1106\u1175\u11af\u1107\u1165\u11ab\u1112\u1169"
)
"""Looked for in words of lower case, without accents, hyphens and underscores."""

_WRITTEN_AS: Final = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i"})

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})


def names_secret(text: str) -> bool:
    """Whether these words name a secret, as they stand or as they look."""
    letters = _take_off_accents(text)
    looked = letters.translate(LOOK_ALIKES)
    return any(_SECRET.search(words) for each in (letters, looked, looked.translate(_WRITTEN_AS)) for words in _read(each))


def _take_off_accents(text: str) -> str:
    # What cannot be seen is between no letters for whoever reads; only what begins a line or a column is.
    seen = "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in _INVISIBLE)
    plain = unicodedata.normalize("NFKD", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", seen))
    return "".join(each for each in plain if not unicodedata.combining(each))


def _read(letters: str) -> tuple[str, str]:
    """The words, and the words where letters that stand alone (`P I N`) are one."""
    words = " ".join(re.sub(r"[\W_]+", " ", letters).lower().split())
    return words, re.sub(r"(?<=\b\w) (?=\w\b)", "", words)
