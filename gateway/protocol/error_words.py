"""The stable word of every error that a page can be answered with: the reason of a refusal, or the code of an error.

A page has a sentence for each in its language, and shows the gateway's own where it has none.
"""

from __future__ import annotations

from typing import Final, get_args

from gateway.core.errors import GatewayError, GatewayStopping, LedgerUnavailable, ModelUnavailable, ProtocolError
from gateway.core.refusals import RefusalReason

HTTP_WORDS: Final = (
    "body_too_large",
    "internal_error",
    "invalid_token",
    "method_not_allowed",
    "misdirected_request",
    "model_error",
    "origin",
    "probe",
    "quota_exceeded",
    "refused",
    "request_timeout",
    "token_revoked",
    "unsupported_media_type",
    "upgrade_required",
    "web_app_missing",
)
"""Those of answers over HTTP that are no error of the tree."""

INTERNAL_WORD: Final = "internal"


def error_words() -> tuple[str, ...]:
    """All of them, sorted."""
    named = {each.code for root in (ProtocolError, LedgerUnavailable) for each in _with_kinds(root)}
    named |= {GatewayStopping.code, ModelUnavailable.code, GatewayError.code, INTERNAL_WORD}
    return tuple(sorted({*get_args(RefusalReason), *HTTP_WORDS, *named}))


def _with_kinds(root: type[GatewayError]) -> list[type[GatewayError]]:
    return [root, *(kind for each in root.__subclasses__() for kind in _with_kinds(each))]
