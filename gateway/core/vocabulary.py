"""The closed sets of the wire contract, as enums. Values are the words of docs/PROTOCOL.md; changing one makes a new version."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final


class PermissionMode(StrEnum):
    """What a call needs before it may run, from no approval to never allowed. `strictness` orders them."""

    AUTO = "auto"
    CONSENT = "consent"
    STEP_UP = "stepUp"
    FORBIDDEN = "forbidden"

    @property
    def strictness(self) -> int:
        """0 for auto, 3 for forbidden: a re-check may raise this number, never lower it."""
        return _STRICTNESS[self]


_STRICTNESS = {
    PermissionMode.AUTO: 0,
    PermissionMode.CONSENT: 1,
    PermissionMode.STEP_UP: 2,
    PermissionMode.FORBIDDEN: 3,
}


def stricter(one: PermissionMode, other: PermissionMode) -> PermissionMode:
    """The more demanding of two modes."""
    return one if one.strictness >= other.strictness else other


class Tier(StrEnum):
    """The loop that a model can carry."""

    NATIVE = "native"
    """Declared tools, and their results in messages of their own."""

    CHAINED = "chained"
    """One JSON action, its result, then the next action or the answer."""

    SINGLE = "single"
    """One JSON action for each wish, and an answer out of its result."""


class Category(StrEnum):
    """What kind of effect a tool has; the policy's main handle."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"
    NETWORK = "network"
    EXECUTE = "execute"
    ADMIN = "admin"


class Outcome(StrEnum):
    """How a call closed."""

    OK = "ok"
    REFUSED_BY_POLICY = "refusedByPolicy"
    DENIED_BY_USER = "deniedByUser"
    STEP_UP_FAILED = "stepUpFailed"
    EXECUTION_ERROR = "executionError"
    TIMED_OUT = "timedOut"
    CANCELLED = "cancelled"
    INVALID_ARGUMENTS = "invalidArguments"
    UNKNOWN_TOOL = "unknownTool"


class Reason(StrEnum):
    """Why, where the outcome alone does not say it (docs/PROTOCOL.md section 7)."""

    REPLAY_CONFLICT = "replayConflict"
    TURN_CLOSED = "turnClosed"
    STALE_SNAPSHOT = "staleSnapshot"
    SNAPSHOT_EXPIRED = "snapshotExpired"
    WRONG_CONNECTION = "wrongConnection"
    NOT_ADVERTISED = "notAdvertised"
    POLICY_CHANGED = "policyChanged"
    POLICY_FROZEN = "policyFrozen"
    SCHEMA = "schema"
    QUOTA_EXCEEDED = "quotaExceeded"
    FORBIDDEN = "forbidden"
    DENIED = "denied"
    APPROVAL_EXPIRED = "approvalExpired"
    ASSERTION_INVALID = "assertionInvalid"
    NO_CREDENTIAL = "noCredential"
    SESSION_ENDED = "sessionEnded"
    TOOL_TIMEOUT = "toolTimeout"
    TOOL_ERROR = "toolError"
    SOURCE_UNAVAILABLE = "sourceUnavailable"
    SIGN_IN_NEEDED = "signInNeeded"
    SANDBOX_UNAVAILABLE = "sandboxUnavailable"
    NOT_IN_ORDER = "notInOrder"
    EARLIER_CALL_FAILED = "earlierCallFailed"
    LEDGER_UNAVAILABLE = "ledgerUnavailable"
    OUTCOME_UNKNOWN = "outcomeUnknown"


class Trust(StrEnum):
    """Whether a result is trusted, by the tool's own definition; never by what the result says."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Recovery(StrEnum):
    """What may be done with a call whose outcome is unknown after a crash. Nothing re-runs by itself."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    PROBE = "probe"
    UNSAFE = "unsafe"


class Profile(StrEnum):
    """Who a principal is to the policy."""

    OPERATOR = "operator"
    GUEST = "guest"
    ANONYMOUS = "anonymous"
    AUDITOR = "auditor"
    """Reads the audit log, everybody's, and can do nothing else: no policy is asked."""

    @property
    def reads_all(self) -> bool:
        """Whether everybody's records may be read."""
        return self in (Profile.OPERATOR, Profile.AUDITOR)


ACTING: Final = (Profile.OPERATOR, Profile.GUEST, Profile.ANONYMOUS)
"""Those who can call tools, and whom a policy speaks of."""


class Label(IntEnum):
    """Confidentiality of a session or conversation. Only ever rises."""

    PUBLIC = 0
    INTERNAL = 1
    CONFIDENTIAL = 2
    HIGH = 3

    @property
    def mark(self) -> str:
        """How it is written among the labels of a result or a session: `label:high`."""
        return f"label:{self.name.lower()}"


class ApprovalKind(StrEnum):
    """A click on the console, or a passkey over the exact statement."""

    CONSENT = "consent"
    STEP_UP = "stepUp"


class ApproverStanding(StrEnum):
    """What a person is to an approval."""

    MAY_APPROVE = "mayApprove"
    HAS_APPROVED = "hasApproved"
    REQUESTER_EXCLUDED = "requesterExcluded"
    """They asked for the call, and the policy wants somebody else."""
    NOT_AN_APPROVER = "notAnApprover"


class ApprovalStatus(StrEnum):
    """The state of an approval; every state but pending is final."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class GrantScope(StrEnum):
    """How long an approval lasts."""

    ONCE = "once"
    TURN = "turn"
    SESSION = "session"


class PatternKind(StrEnum):
    """Within what an argument may vary under a lasting approval."""

    FOLDER = "folder"
    HOST = "host"
    AT_MOST = "atMost"


class Runner(StrEnum):
    """Where the loop that proposed a call ran (requirement 002-72). Taken from the connection, never from what it says."""

    BROWSER = "browser-agent-ui"
    GATEWAY = "gateway-side"
    MCP_CLIENT = "mcp-client"


class Decision(StrEnum):
    """How a call came to run, or not to: the audit record's word (requirement 002-72)."""

    AUTO = "auto"
    CONSENTED = "consented"
    DENIED = "denied"
    STEP_UP_SUCCEEDED = "step-up-succeeded"
    STEP_UP_FAILED = "step-up-failed"
    FORBIDDEN = "forbidden"


class InferenceRefusal(StrEnum):
    """Why a model was not asked: the audit record's word (requirement 002-71)."""

    MODEL = "model"
    """The policy does not let this session's prompts go there."""
    TOKEN = "token"  # noqa: S105 - a word for the record
    """The token no longer holds."""
    REQUEST = "request"
    """It asks for what the token is not for: another model, tools that are not the snapshot's."""
    QUOTA = "quota"


class ClientRefusal(StrEnum):
    """Why a connected client got no token, or one that it showed was not taken: the audit record's word."""

    PERSON = "person"
    """A person said no on the console."""
    CODE = "code"
    """A code was shown with the wrong proof, or a second time."""
    REPLAYED = "replayed"
    """A refresh token was shown that had been used."""
    AUDIENCE = "audience"
    """A token was shown that was made for another address."""


class SignInEnd(StrEnum):
    """How a sign-in to a source ended: the audit record's word."""

    PERSON = "person"
    """A person signed out, or removed the source."""
    REFUSED = "refused"
    """The authorization server does not renew it any more."""


class PushDeviceEnd(StrEnum):
    """Why a device is told of questions no longer: the audit record's word."""

    PERSON = "person"
    """Its person took it off their list."""
    GONE = "gone"
    """Its push service knows it no longer."""
    ADDED_AGAIN = "addedAgain"
    """The same browser was added anew, by the same person or another one."""


class ShadowEnding(StrEnum):
    """Why a candidate policy runs beside the one in force no longer: the audit record's word."""

    STOPPED = "stopped"
    """An operator stopped it, or the command line."""
    PUBLISHED = "published"
    """It came into force."""
    UNUSABLE = "unusable"
    """Its texts are not on record any more, or do not load in this version of the program."""


class ClientEnding(StrEnum):
    """Why a client's tokens are void: the audit record's word."""

    CLIENT = "client"
    """The client gave them back."""
    MISUSE = "misuse"
    """A code or a refresh token was shown a second time."""
    PERSON = "person"
    """Somebody disconnected it on the console."""
    TERMINAL = "terminal"
    """Somebody disconnected it from the command line of this machine."""


class Role(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class SettingPlace(StrEnum):
    """Where the value in force comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "commandLine"
    CONSOLE = "console"


class ComparisonFinding(StrEnum):
    """What comparing two calls at the same place of two conversations led to."""

    SAME = "same"
    DIFFERENT = "different"
    CANNOT_BE_TOLD = "cannotBeTold"
    """They ended the same, and arguments that would have to be compared are erased."""
    FIRST_ONLY = "firstOnly"
    SECOND_ONLY = "secondOnly"


class CallDifference(StrEnum):
    """In what two calls differ."""

    TOOL = "tool"
    ARGUMENTS = "arguments"
    DECISION = "decision"
    RULES = "rules"
    OUTCOME = "outcome"
