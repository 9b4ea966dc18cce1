"""What may be written: every entry of the ledger, as frozen values.

One entry is one step that happened. The same value is the state change, the audit leaf and the recovery plan. Each subject
has its module, with each entry's class, its leaf and its place in the subject's union. The projection of the same subject in
`gateway.adapters.storage` says what the entry changes in the tables. Entries submitted together are
durable together or not at all. Times are epoch milliseconds; `*_hash` are hex SHA-256 of secrets that are never stored.
"""

from __future__ import annotations

from typing import Final, get_args

from gateway.core.ledger.approvals import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.approvals import ApprovalEntry
from gateway.core.ledger.calls import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.calls import CallEntry
from gateway.core.ledger.clients import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.clients import ClientEntry
from gateway.core.ledger.conversations import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.conversations import ConversationEntry
from gateway.core.ledger.elicitations import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.elicitations import ElicitationEntry
from gateway.core.ledger.erasures import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.erasures import ErasureEntry
from gateway.core.ledger.inference import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.inference import InferenceEntry
from gateway.core.ledger.operation import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.operation import OperationEntry
from gateway.core.ledger.people import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.people import PeopleEntry
from gateway.core.ledger.policies import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.policies import PolicyEntry
from gateway.core.ledger.push import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.push import PushEntry
from gateway.core.ledger.sessions import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.sessions import SessionEntry
from gateway.core.ledger.settings import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.settings import SettingEntry
from gateway.core.ledger.sign_ins import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.sign_ins import SignInEntry
from gateway.core.ledger.sources import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.sources import SourceEntry
from gateway.core.ledger.turns import *  # noqa: F403 - a new entry is exported by its own module
from gateway.core.ledger.turns import TurnEntry

Entry = (
    CallEntry
    | ApprovalEntry
    | ElicitationEntry
    | TurnEntry
    | ConversationEntry
    | InferenceEntry
    | ClientEntry
    | SessionEntry
    | PeopleEntry
    | PushEntry
    | SourceEntry
    | SignInEntry
    | PolicyEntry
    | OperationEntry
    | SettingEntry
    | ErasureEntry
)

AUDITED: Final[frozenset[str]] = frozenset(kind.EVENT for kind in get_args(Entry) if hasattr(kind, "EVENT"))
"""Every event that a leaf can name. The few entries without one change nothing but a person's own wording."""
