"""Letters of other alphabets that people read as Latin ones (UTS 39), for judging words by what they look like."""

from __future__ import annotations

from typing import Final

_LETTERS: Final = (
    # Cyrillic, small and capital; Greek, small and capital; Armenian; small capitals and others.
    ("аеорсухіјѕԁԝԛһкмтвн", "aeopcyxijsdwqhkmtbh"),
    ("АВЕКМНОРСТУХІЈЅԀԜ", "ABEKMHOPCTYXIJSDW"),
    ("αικνορτυχ", "aiknoptux"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("ոսօհ", "nuoh"),
    ("ıɑɡᴀᴄᴅᴇɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏ", "iagacdeijkmnoprstuvwy"),
    ("łŁøØđĐ", "lLoOdD"),
)

LOOK_ALIKES: Final = str.maketrans({theirs: ours for other, latin in _LETTERS for theirs, ours in zip(other, latin, strict=True)})
"""For `str.translate`: the common ones, one letter for one."""

_READ_AS: Final = {
    **{chr(theirs): ours for theirs, ours in LOOK_ALIKES.items()},
    **dict.fromkeys("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    # Full-width ASCII.
    **{chr(0xFF00 + code - 0x20): chr(code) for code in range(0x21, 0x7F)},
}
_READ_OTHERWISE: Final = frozenset(_READ_AS)


def as_read(text: str) -> str:
    """The text with what people read as ASCII in its place, one character for one: look-alikes, full-width characters and blanks
    of other widths."""
    if text.isascii():
        return text
    # A long text has few different characters, and `translate` asks about each of all.
    for character in _READ_OTHERWISE.intersection(text):
        text = text.replace(character, _READ_AS[character])
    return text
