r"""What credentials look like by themselves: the prefixes and lengths that their issuers give them.

The shapes are facts about the issuers' formats, collected from the rules of gitleaks (config/gitleaks.toml at commit 009e025, MIT
licence) and the issuers' own documentation; the expressions are written here, since those of a scanner for trees backtrack.

Every expression is linear in its input. It has a fixed beginning, and a repetition is possessive with nothing required behind
it, so that it fails within its smallest length or takes all that it saw; what needs something behind it begins at the start of
a word. What may not stand before a beginning is looked for after it (`sk-(?<![\w-]...)`), since a fixed beginning is
found much faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.core.markers import MarkedText, Marker, mark_words


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """Group 1, where there is one, is what goes; otherwise the whole match. One of the `markers` must occur, in lower case in a
    text in lower case where the expression ignores case (`folded`)."""

    kind: str
    markers: tuple[Marker, ...]
    expression: re.Pattern[str]
    folded: bool


def secret_pattern(kind: str, markers: str, expression: str) -> SecretPattern:
    """`markers` are words, none of which need be there for a text to be passed over quickly."""
    compiled = re.compile(expression)
    return SecretPattern(kind, mark_words(markers.split()), compiled, bool(compiled.flags & re.IGNORECASE))


class PatternSet:
    """Patterns in their order, of which only those are tried that a text might hold."""

    def __init__(self, *patterns: SecretPattern) -> None:
        self._patterns = patterns
        self._by_rarest: dict[str, set[int]] = {}
        for place, pattern in enumerate(patterns):
            for marker in pattern.markers:
                self._by_rarest.setdefault(marker.rarest, set()).add(place)

    def words(self) -> set[str]:
        """The words of all markers, in lower case."""
        return {marker.word.lower() for pattern in self._patterns for marker in pattern.markers}

    def occurring_in(self, exact: MarkedText, folded: MarkedText) -> Iterator[SecretPattern]:
        """Those with a marker in a text, which is given as it is and in lower case."""
        # A character is found in a string much faster than a set is made of all the string's characters.
        rare = exact.rare if folded is exact else exact.rare + folded.rare
        present = [places for rarest, places in self._by_rarest.items() if rarest in rare]
        for place in sorted(set[int]().union(*present)):
            pattern = self._patterns[place]
            if (folded if pattern.folded else exact).holds_any(pattern.markers):
                yield pattern


_HEX = "[0-9a-f]"

TOKENS: Final = (
    secret_pattern("slack-token", "xox", r"xox[abeoprs]-(?=[A-Za-z-]{0,16}\d|(?<![\w-].{5}))[A-Za-z0-9-]{10,}+"),
    secret_pattern("slack-token", "xapp-", r"xapp-(?=\d-|(?<![\w-].{5}))[A-Za-z0-9-]{10,}+"),
    secret_pattern("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/([\w/-]{10,}+)"),
    secret_pattern("chat-webhook", "api/webhooks/", r"api/webhooks/\d{15,21}/([\w-]{40,}+)"),
    secret_pattern("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[opusr]_[A-Za-z0-9]{20,}+"),
    secret_pattern("github-token", "github_pat_", r"github_pat_\w{20,}+"),
    secret_pattern("gitlab-token", "gl", r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|oas)-[\w.-]{16,}+"),
    secret_pattern("aws-key-id", "AKIA ASIA ABIA ACCA A3T", r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}(?![A-Z0-9])"),
    secret_pattern("api-key", "sk-", r"sk-(?<![\w-]...)(?=[A-Za-z_-]*+\d)[\w-]{20,}+"),
    secret_pattern("api-key", "sk-", r"sk-(?:proj|svcacct|admin|ant-[a-z0-9]{3,8}|or-v1)-[\w-]{20,}+"),
    secret_pattern("api-key", "_live_ _test_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    secret_pattern("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{16,}+={0,2}"),
    secret_pattern("google-key", "AIza", r"AIza[\w-]{35}(?![\w-])"),
    secret_pattern("google-token", "ya29.", r"ya29\.[\w-]{20,}+"),
    secret_pattern("google-token", "GOCSPX-", r"GOCSPX-[\w-]{20,}+"),
    secret_pattern("package-token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    secret_pattern("package-token", "pypi-", r"pypi-[\w-]{50,}+"),
    secret_pattern("package-token", "rubygems_", rf"rubygems_{_HEX}{{48}}"),
    secret_pattern("package-token", "dckr_", r"dckr_(?:pat|oat)_[\w-]{20,}+"),
    secret_pattern("model-hub-token", "hf_", r"hf_(?<!\w...)[A-Za-z0-9]{30,}+"),
    secret_pattern("model-hub-token", "gsk_", r"gsk_[A-Za-z0-9]{40,}+"),
    secret_pattern("model-hub-token", "r8_", r"r8_(?<!\w...)[A-Za-z0-9]{37,}+"),
    secret_pattern("model-hub-token", "pplx- xai-", r"(?:pplx|xai)-(?<!\w.{4})[A-Za-z0-9]{40,}+"),
    secret_pattern("jwt", "eyJ", r"eyJ(?<![\w-]...)[\w-]{5,}+\.eyJ[\w-]{2,}+\.[\w-]*+"),
    secret_pattern("mail-key", "SG.", r"SG\.(?<![\w.]...)[\w-]{16,32}+\.[\w-]{30,}+"),
    secret_pattern("mail-key", "key-", rf"key-(?<![\w-].{{4}}){_HEX}{{32}}(?!\w)"),
    secret_pattern(
        "mail-key", "-us0 -us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9", rf"{_HEX}(?<!\w.){_HEX}{{31}}-us\d{{1,2}}(?!\w)"
    ),
    secret_pattern("telephony-key", "SK", rf"SK(?<![\w-]..){_HEX}{{32}}(?!\w)"),
    secret_pattern("shop-token", "sq0", r"sq0(?:atp|csp|idp)-[\w-]{20,}+"),
    secret_pattern("shop-token", "shp", r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32,}+"),
    secret_pattern("shop-token", "FLWSECK", rf"FLWSECK(?:_TEST)?-{_HEX}{{32}}(?:-X)?"),
    secret_pattern("cloud-token", "_v1_", rf"do[opr]_v1_{_HEX}{{64}}"),
    secret_pattern("cloud-token", "dapi", rf"dapi(?<!\w.{{4}}){_HEX}{{32}}(?:-\d)?"),
    secret_pattern("cloud-token", "hvs. hvb.", r"hv[sb]\.(?<!\w.{4})[\w-]{20,}+"),
    secret_pattern("cloud-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}+"),
    secret_pattern("cloud-token", "dp.", r"dp\.(?<!\w...)(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}+"),
    secret_pattern("cloud-token", "Q~", r"[\w~.](?<![\w~.-].)[\w~.]{2}\dQ~[\w~.-]{31,}+"),
    secret_pattern("cloud-token", "pul-", rf"pul-(?<!\w.{{4}}){_HEX}{{40}}"),
    secret_pattern("cloud-token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{30,}+"),
    secret_pattern("cloud-token", "tskey-", r"tskey-(?:auth|api|client|scim|webhook)-[\w-]{16,}+"),
    secret_pattern("cloud-token", "FlyV1", r"FlyV1 (fm[12]r?_[\w+/=,-]{40,}+)"),
    secret_pattern("cloud-token", "sbp_", rf"sbp_{_HEX}{{40}}"),
    secret_pattern("cloud-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    secret_pattern("service-token", "ATATT3", r"ATATT3[\w=-]{60,}+"),
    secret_pattern("service-token", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}+"),
    secret_pattern("service-token", "ntn_", r"ntn_(?<!\w.{4})[A-Za-z0-9]{40,}+"),
    secret_pattern("service-token", "pat", rf"pat(?<!\w...)[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    secret_pattern("service-token", "pat-", rf"pat-(?:na|eu|ap)\d-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    secret_pattern("service-token", "1000.", rf"1000\.(?<!\w.{{5}}){_HEX}{{32}}\.{_HEX}{{32}}"),
    secret_pattern("cloud-token", "HRKU-", r"HRKU-[\w-]{20,}+"),
    secret_pattern("service-token", "figd_", r"figd_[\w-]{30,}+"),
    secret_pattern("service-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    secret_pattern("service-token", "glc_", r"glc_[A-Za-z0-9+/]{32,}+={0,2}"),
    secret_pattern("service-token", "PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    secret_pattern("service-token", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    secret_pattern("service-token", "sntry", r"sntry[su]_[\w=+/-]{40,}+"),
    secret_pattern(
        "service-token", "A3-", r"A3-(?<!\w...)[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
    ),
    secret_pattern("service-token", "EAA", r"EAA(?<![A-Za-z0-9+/]...)[A-Za-z0-9]{80,}+(?![+/=])"),
    secret_pattern("bot-token", ":AA", r"\d(?<!\w.)\d{7,9}:AA[\w-]{32,}+"),
    # One for each beginning: a fixed one is found ten times as fast.
    *(
        secret_pattern("bot-token", first, rf"{first}(?<![\w-].)[A-Za-z0-9]{{22,27}}\.[\w-]{{6}}\.[\w-]{{27,}}+")
        for first in "MNO"
    ),
    # Of a password that can be guessed from it: `/etc/shadow`, `htpasswd`, a table of users.
    secret_pattern("password-hash", "$1$ $5$ $6$ $y$ $apr1$", r"\$(?:[156y]|apr1)\$[\w./=$,]{24,}+"),
    secret_pattern("password-hash", "$2a$ $2b$ $2x$ $2y$", r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{53}"),
    secret_pattern("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[\w.,=+/$-]{40,}+"),
    secret_pattern("package-token", "_auth", r"_auth(?<!\w.{5})[ ]{0,4}=[ ]{0,4}[\"']?([A-Za-z0-9+/]{12,}+={0,2})"),
    secret_pattern("private-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}+"),
    secret_pattern("private-key", "Private-Lines", r"Private-Lines: \d{1,3}\r?\n((?:[A-Za-z0-9+/=]{1,80}+\r?\n?)++)"),
)
