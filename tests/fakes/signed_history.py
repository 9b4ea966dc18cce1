"""The history of `History`, as a person with a real passkey would have made it: its signature can be verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import ec

from gateway.adapters.storage.store import Store
from gateway.core.ledger import ApprovalResolved, Entry, PrincipalEnrolled
from tests.authenticator import Authenticator, Credential, cose_key, encode
from tests.fakes.history import PASSKEY, History

HOST = "console.localhost"


def signed_history() -> Sequence[Sequence[Entry]]:
    """Its submissions, with a passkey of their own registered at the enrolment and used where a passkey answered."""
    key = ec.generate_private_key(ec.SECP256R1())
    authenticator = Authenticator(
        f"http://{HOST}:8765",
        backup_eligible=PASSKEY.backup_eligible,
        credentials=[Credential(PASSKEY.id, key, HOST, PASSKEY.user_handle, PASSKEY.sign_count)],
    )
    challenges: dict[str, str] = {}

    def sign(entry: Entry) -> Entry:
        match entry:
            case PrincipalEnrolled():
                return replace(entry, passkey=replace(entry.passkey, public_key=cose_key(key)))
            case ApprovalResolved(assertion=dict()):
                options = {"rpId": HOST, "challenge": challenges[entry.approval_id]}
                return replace(entry, assertion=authenticator.get(options))
            case _:
                approval = getattr(entry, "approval", None)
                if approval is not None:
                    challenges[approval.id] = encode(bytes.fromhex(approval.statement_digest))
                return entry

    return [[sign(entry) for entry in submission] for submission in History().whole()]


async def append_signed_history(store: Store) -> None:
    """Write it to a log, as it was submitted."""
    for submission in signed_history():
        await store.ledger.append(*submission)
