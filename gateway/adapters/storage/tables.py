"""The tables, portable between SQLite and PostgreSQL. Times are epoch milliseconds; `*_digest` and `*_hash` are hex SHA-256.

Arguments and result of a call are stored once, in the payloads of its leaves; `calls` only points there.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text, false, text

from gateway.adapters.storage.answer_tables import answers_table
from gateway.adapters.storage.frontier_tables import frontiers_table
from gateway.adapters.storage.octets import Octets
from gateway.adapters.storage.policy_tables import freezes_table, shadows_table
from gateway.adapters.storage.push_tables import push_devices_table
from gateway.adapters.storage.record_texts import RecordText
from gateway.adapters.storage.setting_tables import setting_changes_table
from gateway.adapters.storage.sqlite import Place, RareEvent, partial_index

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Time = BigInteger

# ── the audit log ──

leaves = Table(
    "leaves",
    metadata,
    Column("position", Place, primary_key=True, autoincrement=False),
    Column("hash", Octets, nullable=False),
    Column("body", RecordText, nullable=False),
    # Erasing a payload sets both to NULL; the body keeps SHA-256(salt || payload).
    Column("salt", Octets),
    Column("payload", Octets),
)
Index("ix_leaves_rare_event", RareEvent(leaves.c.body), sqlite_where=RareEvent(leaves.c.body).is_not(None))

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("size", Place, primary_key=True, autoincrement=False),
    Column("note", Text, nullable=False),
)

frontiers = frontiers_table(metadata)

# ── the database itself ──

identity = Table(
    "identity",
    metadata,
    # One row: a random name that never changes, and the number of the gateway's start that may write.
    Column("id", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
)

# ── people ──

principals = Table(
    "principals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("enrolled_at", _Time, nullable=False),
    Column("suspended_at", _Time),
)

enrolments = Table(
    "enrolments",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("used_at", _Time),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("credential_id", LargeBinary, primary_key=True),
    Column("principal_id", Text, ForeignKey("principals.id"), nullable=False, index=True),
    Column("public_key", LargeBinary, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("backup_eligible", Boolean, nullable=False),
    Column("backed_up", Boolean, nullable=False),
    Column("user_handle", LargeBinary, nullable=False, index=True),
    Column("transports", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", _Time, nullable=False),
    Column("last_used_at", _Time),
)

console_sessions = Table(
    "console_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("principal_id", Text, ForeignKey("principals.id"), nullable=False),
    Column("created_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("ended_at", _Time),
)

agent_sessions = Table(
    "agent_sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    Column("principal_id", Text, ForeignKey("principals.id"), nullable=False),
    Column("console_session_id", Text, ForeignKey("console_sessions.id"), nullable=False, index=True),
    Column("labels", Text, nullable=False),
    Column("label", Integer, nullable=False),
    Column("created_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("ended_at", _Time),
    # Questions that its person turned down since they last allowed one.
    Column("denials", Integer, nullable=False, server_default=text("0")),
)

# ── conversations ──

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("principal_id", Text, ForeignKey("principals.id"), nullable=False),
    Column("title", Text, nullable=False),
    Column("created_at", _Time, nullable=False),
    Column("updated_at", _Time, nullable=False),
    # Not a foreign key: a copy stays when its original is deleted.
    Column("parent_id", Text),
    Column("fork_at", Integer),
    Column("taint", Integer, nullable=False),
    Column("label", Integer, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("open_turn_id", Text),
    Column("deleted_at", _Time),
    Index(None, "principal_id", "updated_at", "id"),
    Index("ix_conversations_parent_id", "parent_id", **partial_index("parent_id IS NOT NULL")),
)

turns = Table(
    "turns",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation_id", Text, ForeignKey("conversations.id"), nullable=False, index=True),
    Column("session_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("model_id", Text),
    # When a start of the gateway found it without its connection; NULL while it is bound to one.
    Column("suspended_at", _Time),
)

messages = Table(
    "messages",
    metadata,
    Column("conversation_id", Text, ForeignKey("conversations.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("turn_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("provenance", Text, nullable=False),
    Column("at", _Time, nullable=False),
    Column("call_id", Text),
    Column("tool_calls", Text, nullable=False),
    # The leaf with the salted digest of the content, so that it can be erased with the message.
    Column("leaf", Place, nullable=False),
)

# ── what was on offer ──

descriptors = Table(
    "descriptors",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("digest", Text, primary_key=True),
    # The snapshot without its digest; each tool is only `[descriptor digest, permission]`.
    Column("body", Text, nullable=False),
)

# ── calls and what lets them run ──

calls = Table(
    "calls",
    metadata,
    Column("conversation_id", Text, ForeignKey("conversations.id"), primary_key=True),
    Column("call_id", Text, primary_key=True),
    Column("turn_id", Text, nullable=False),
    Column("principal_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("approval_id", Text),
    Column("received_at", _Time, nullable=False),
    Column("closed_at", _Time),
    # Leaves whose payloads hold the arguments and the result.
    Column("request_leaf", Place, nullable=False),
    Column("closing_leaf", Place),
    # Whether it was put on record that its tool was about to run.
    Column("intended", Boolean, nullable=False, server_default=false()),
    # When its content is to be erased; none where it is kept, or erased already.
    Column("erase_at", _Time),
    # A second column that only grows keeps new entries together: fewer pages to write. A person's are found by their sessions.
    Index(None, "session_id", "request_leaf"),
    Index("ix_calls_erase_at", "erase_at", **partial_index("erase_at IS NOT NULL")),
    Index("ix_calls_open", "request_leaf", **partial_index("closed_at IS NULL")),
    # The call itself is the key; a second tree with row ids would double the writes of the hot path.
    sqlite_with_rowid=False,
)

kept_results = Table(
    "kept_results",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation_id", Text, ForeignKey("conversations.id"), nullable=False),
    Column("call_id", Text, nullable=False),
    Column("page_bytes", Integer, nullable=False),
    Column("redacted", Text, nullable=False),
    # The text in UTF-8. Its digest is in the payload of the call's closing leaf: without that, nobody reads it.
    Column("content", LargeBinary, nullable=False),
    Index("ix_kept_results_conversation_id", "conversation_id", "call_id"),
)

attachments = Table(
    "attachments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation_id", Text, ForeignKey("conversations.id"), nullable=False),
    Column("call_id", Text, nullable=False),
    # As the tool gave them. Their digest is in the payload of the call's closing leaf: without that, nobody fetches them.
    Column("content", LargeBinary, nullable=False),
    Index("ix_attachments_conversation_id", "conversation_id", "call_id"),
)

approvals = Table(
    "approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("principal_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("conversation_id", Text, ForeignKey("conversations.id"), nullable=False),
    Column("turn_id", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("arguments", LargeBinary, nullable=False),
    Column("summary", Text, nullable=False),
    Column("effects", Text, nullable=False),
    Column("because", Text, nullable=False),
    Column("needs", Text, nullable=False),
    Column("offers", Text, nullable=False),
    Column("statement", LargeBinary, nullable=False),
    Column("statement_digest", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("requested_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("used_at", _Time),
    # Where the question stands in the log: the order of asking, which a clock that was set back does not give.
    Column("leaf", Place, nullable=False, server_default=text("0")),
    Column("patterns", Text, nullable=False, server_default=text("'[]'")),
    # How many people have to approve.
    Column("approvers", Integer, nullable=False, server_default=text("1")),
    Index(None, "principal_id", "leaf"),
    Index("ix_approvals_pending", "id", **partial_index("status = 'pending'")),
)

approval_answers = answers_table(metadata)

grants = Table(
    "grants",
    metadata,
    Column("id", Text, primary_key=True),
    Column("approval_id", Text, ForeignKey("approvals.id"), nullable=False),
    Column("principal_id", Text, nullable=False, index=True),
    Column("session_id", Text, nullable=False, index=True),
    Column("conversation_id", Text, nullable=False),
    Column("turn_id", Text),
    Column("scope", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("descriptor_digest", Text, nullable=False),
    Column("pins", Text, nullable=False),
    Column("freed", Text, nullable=False),
    Column("issued_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("max_uses", Integer, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("revoked_at", _Time),
    Column("within", Text),
)

quota_counts = Table(
    "quota_counts",
    metadata,
    # The person, session or turn whose minute, day or whole life is counted. The row of one day is that of the next.
    Column("holder", Text, primary_key=True),
    Column("span", Text, primary_key=True),
    Column("meter", Text, primary_key=True),
    Column("period", BigInteger, nullable=False),
    Column("used", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

# ── policies ──

policies = Table(
    "policies",
    metadata,
    # Each time that another policy came into force: the leaf whose payload holds its texts.
    Column("leaf", Place, primary_key=True, autoincrement=False),
    Column("version", Text, nullable=False, index=True),
    Column("at", _Time, nullable=False),
)

policy_freezes, policy_shadows = freezes_table(metadata), shadows_table(metadata)
setting_changes, push_devices = setting_changes_table(metadata), push_devices_table(metadata)

# ── clients that act for people ──

client_grants = Table(
    "client_grants",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, nullable=False, index=True),
    Column("client_id", Text, nullable=False),
    Column("client", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("granted_at", _Time, nullable=False),
    # Of the tokens that are good now. Empty and zero until the first are made.
    Column("access_hash", Text, nullable=False),
    Column("access_until", _Time, nullable=False),
    Column("refresh_hash", Text, nullable=False),
)

client_spent_secrets = Table(
    "client_spent_secrets",
    metadata,
    # Codes and refresh tokens that were used: whoever shows one again ends the grant.
    Column("grant_id", Text, primary_key=True),
    Column("secret_hash", Text, primary_key=True),
)

# ── sources of tools ──

sources = Table(
    "sources",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("added_at", _Time, nullable=False),
)

source_tools = Table(
    "source_tools",
    metadata,
    Column("source", Text, primary_key=True),  # Not a foreign key: a source may be declared in the settings file.
    Column("tool", Text, primary_key=True),
    # What was first seen or last decided about, and what it has become since.
    Column("seen", Text, nullable=False),
    Column("category", Text),
    Column("decided_at", _Time),
    Column("pending", Text),
)

secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("stored_at", _Time, nullable=False),
)

source_sign_ins = Table(
    "source_sign_ins",
    metadata,
    # Likewise. The sealed value is bound to this name and to the source's address.
    Column("source", Text, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("server", Text, nullable=False),
    Column("principal_id", Text),
    Column("signed_in_at", _Time, nullable=False),
)
