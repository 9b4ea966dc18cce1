"""What the ledger's entries change in the tables, and what is read back: one module for each subject of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gateway.adapters.storage.projections.approvals import ApprovalReader, change_approvals
from gateway.adapters.storage.projections.audit import LogReader
from gateway.adapters.storage.projections.calls import CallReader, change_calls
from gateway.adapters.storage.projections.clients import ClientReader, change_clients
from gateway.adapters.storage.projections.conversations import ConversationReader, change_conversations
from gateway.adapters.storage.projections.erasures import change_erasures
from gateway.adapters.storage.projections.kept import KeptReader
from gateway.adapters.storage.projections.operation import PolicyReader, change_operation
from gateway.adapters.storage.projections.people import PeopleReader, change_people
from gateway.adapters.storage.projections.policies import FreezeReader, change_policies
from gateway.adapters.storage.projections.push import PushReader, change_push
from gateway.adapters.storage.projections.quotas import QuotaReader, change_counts
from gateway.adapters.storage.projections.sessions import SessionReader, change_sessions
from gateway.adapters.storage.projections.settings import SettingReader, change_settings
from gateway.adapters.storage.projections.sign_ins import SignInReader, change_sign_ins
from gateway.adapters.storage.projections.sources import SourceReader, change_sources
from gateway.adapters.storage.projections.turns import TurnReader, change_turns
from gateway.adapters.storage.statements import Change
from gateway.core.ledger import Entry
from gateway.core.ledger.approvals import ApprovalEntry
from gateway.core.ledger.calls import CallEntry
from gateway.core.ledger.clients import ClientEntry
from gateway.core.ledger.conversations import ConversationEntry
from gateway.core.ledger.elicitations import ElicitationEntry
from gateway.core.ledger.erasures import ErasureEntry
from gateway.core.ledger.inference import (
    InferenceEntry,
    InferenceFinished,
    InferenceRefused,
    InferenceTokenMinted,
    TokensReserved,
)
from gateway.core.ledger.operation import OperationEntry
from gateway.core.ledger.people import PeopleEntry
from gateway.core.ledger.policies import PolicyEntry
from gateway.core.ledger.push import PushEntry
from gateway.core.ledger.sessions import SessionEntry
from gateway.core.ledger.settings import SettingEntry
from gateway.core.ledger.sign_ins import SignInEntry
from gateway.core.ledger.sources import SourceEntry
from gateway.core.ledger.turns import TurnEntry


def changes(entry: Entry) -> Sequence[Change]:
    """The changes of an entry, in order. The most frequent subjects are asked for first."""
    if isinstance(entry, CallEntry):
        return change_calls(entry)
    if isinstance(entry, ApprovalEntry):
        return change_approvals(entry)
    if isinstance(entry, ConversationEntry):
        return change_conversations(entry)
    if isinstance(entry, TurnEntry):
        return change_turns(entry)
    if isinstance(entry, SessionEntry):
        return change_sessions(entry)
    if isinstance(entry, PeopleEntry):
        return change_people(entry)
    if isinstance(entry, SourceEntry):
        return change_sources(entry)
    if isinstance(entry, SignInEntry):
        return change_sign_ins(entry)
    if isinstance(entry, ClientEntry):
        return change_clients(entry)
    if isinstance(entry, PolicyEntry):
        return change_policies(entry)
    if isinstance(entry, OperationEntry):
        return change_operation(entry)
    if isinstance(entry, SettingEntry):
        return change_settings(entry)
    if isinstance(entry, PushEntry):
        return change_push(entry)
    if isinstance(entry, ErasureEntry):
        return change_erasures(entry)
    if isinstance(entry, InferenceEntry):
        return _change_inference(entry)
    return _change_nothing(entry)


def _change_inference(entry: InferenceEntry) -> Sequence[Change]:
    """Tokens are counted; the rest is on record in the audit log and nowhere else."""
    match entry:
        case TokensReserved(uses=uses) | InferenceFinished(used=uses):
            return change_counts(uses, None)
        case InferenceTokenMinted() | InferenceRefused():
            return ()
        case _:
            assert_never(entry)


def _change_nothing(_entry: ElicitationEntry) -> Sequence[Change]:
    """For a subject that is on record in the audit log and nowhere else."""
    return ()


class EveryReader(
    PeopleReader,
    SessionReader,
    ConversationReader,
    TurnReader,
    CallReader,
    KeptReader,
    QuotaReader,
    ApprovalReader,
    SourceReader,
    PolicyReader,
    FreezeReader,
    SettingReader,
    PushReader,
    SignInReader,
    ClientReader,
    LogReader,
):
    """The reads of every subject."""
