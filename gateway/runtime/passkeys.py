"""Passkeys and who they make you: enrolment by a one-time link, sign-in, and a person's own passkeys.

A ceremony is two requests: options, which opens a question, and an answer, which closes it whatever it says. Refused
answers are recorded; those that name no known passkey only up to a rate, so that a flood cannot fill the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from gateway.core.canonical import Json
from gateway.core.errors import IllegalStep, NotFound, Refused
from gateway.core.ledger import (
    EnrolmentOffered,
    Passkey,
    PasskeyAdded,
    PasskeyRemoved,
    PasskeyRenamed,
    PasskeyUsed,
    PrincipalEnrolled,
    SignInRefused,
)
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from gateway.runtime.asking import ChangeLock
from gateway.runtime.ceremonies import OpenCeremonies, Purpose
from gateway.runtime.device_offers import DeviceOffers, DeviceOfferState, device_link_gone
from gateway.runtime.ports import (
    Clock,
    ConsoleSession,
    EnrolmentOffer,
    Entropy,
    Ledger,
    NewPasskey,
    PasskeyVerifier,
    PeopleRecords,
)
from gateway.runtime.sessions import Sessions, SignedIn, hash_secret

ENROLMENT_SECONDS = 900.0
"""A link that is printed on a terminal and typed or clicked at once."""

USER_HANDLE_OCTETS = 64
"""WebAuthn L3 section 14.6.1 recommends 64 random bytes, with nothing about the person in them."""

PASSKEYS_PER_PERSON = 20
NAME_LIMIT = 100
"""Characters of a person's or a passkey's name."""

ANONYMOUS_REFUSALS_PER_MINUTE = 60


class PasskeyCeremonies:
    """Runs the ceremonies."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        verifier: PasskeyVerifier,
        ledger: Ledger,
        records: PeopleRecords,
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        self._sessions = sessions
        self._verifier = verifier
        self._ledger = ledger
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self._ceremonies = OpenCeremonies(clock=clock, entropy=entropy)
        self._devices = DeviceOffers(clock=clock, entropy=entropy)
        self._anonymous: deque[float] = deque(maxlen=ANONYMOUS_REFUSALS_PER_MINUTE)
        # "Never the last one" and "at most twenty" hold only if one change is looked at after the other.
        self._changing = ChangeLock()

    # ── enrolment ──

    async def offer(
        self, name: str, profile: Profile, *, seconds: float = ENROLMENT_SECONDS, by: ConsoleSession | None = None
    ) -> str:
        """A one-time token for an enrolment link. The first person must be an operator: Refused `operatorFirst`. `by` is the
        operator's console that asks for it, which has to be fresh: Refused `stepUpRequired`."""
        name = _require_name(name)
        if by is not None:
            self._sessions.require_fresh(by)
        if profile is not Profile.OPERATOR and not await self.is_anyone_enrolled():
            raise Refused("operatorFirst", "nobody is enrolled yet; the first person must be an operator", 409)
        token = self._entropy.secret()
        now = self._clock.now()
        expires_at = now + int(seconds * 1000)
        offered = EnrolmentOffered(now, hash_secret(token), name, profile, expires_at, by and by.principal.id)
        await self._ledger.append(offered)
        return token

    async def is_anyone_enrolled(self) -> bool:
        """Whether anybody has a passkey; who only worked at the terminal has none."""
        return any([await self._records.passkeys(principal.id) for principal in await self._records.principals()])

    async def enrolment_options(self, browser: str, token: str) -> Mapping[str, Json]:
        """PublicKeyCredentialCreationOptionsJSON for the person of that link. Raises Refused `enrolment`."""
        offer = await self._offer(token)
        ceremony = self._ceremonies.open(
            browser, Purpose.ENROL, subject=hash_secret(token), user_handle=self._entropy.octets(USER_HANDLE_OCTETS)
        )
        return self._verifier.registration_options(
            challenge=ceremony.challenge, user_handle=ceremony.user_handle, user_name=offer.name, exclude=()
        )

    async def enrol(
        self, browser: str, token: str, credential: Mapping[str, Json], name: str | None, current: ConsoleSession | None
    ) -> SignedIn:
        """Use up the link: a person, their first passkey, and a console session. `current` is who was signed in here."""
        name = _require_name(name or "First passkey")
        token_hash = hash_secret(token)
        ceremony = self._ceremonies.take(browser, Purpose.ENROL, subject=token_hash)
        offer = await self._offer(token)
        try:
            new = self._verifier.verify_registration(credential, challenge=ceremony.challenge)
        except Refused as refusal:
            await self._refuse(browser, Purpose.ENROL, refusal, None)
            raise
        known = await self._find_local_operator()
        principal = Principal(known or self._entropy.identifier("usr_"), offer.name, offer.profile)
        passkey = self._passkey(new, principal, ceremony.user_handle, name)
        try:
            enrolled = PrincipalEnrolled(self._clock.now(), token_hash, principal, passkey, known is not None)
            signed_in = await self._sessions.start_console(principal, enrolled, ending=current)
        except IllegalStep:
            # Somebody else used the link between our look at it and now, or the passkey exists already.
            raise _enrolment_gone() from None
        self._ceremonies.forget(browser)
        return signed_in

    # ── sign-in ──

    def sign_in_options(self, browser: str) -> Mapping[str, Json]:
        """PublicKeyCredentialRequestOptionsJSON for any discoverable passkey: nobody is named, so nobody is revealed."""
        ceremony = self._ceremonies.open(browser, Purpose.SIGN_IN)
        return self._verifier.assertion_options(challenge=ceremony.challenge, allow=())

    async def sign_in(self, browser: str, credential: Mapping[str, Json], current: ConsoleSession | None) -> SignedIn:
        """A console session with a new secret. The person of `current` keeps what they lent; anyone else ends it."""
        ceremony = self._ceremonies.take(browser, Purpose.SIGN_IN)
        passkey: Passkey | None = None
        try:
            passkey, principal = await self._find(self._verifier.credential_id(credential))
            verified = self._verifier.verify_assertion(
                credential, challenge=ceremony.challenge, passkey=passkey, discoverable=True
            )
            # Only whoever holds the passkey is told, so that nobody learns of whom else this is true.
            _require_admitted(principal)
        except Refused as refusal:
            await self._refuse(browser, Purpose.SIGN_IN, refusal, passkey and passkey.principal_id)
            raise
        used = PasskeyUsed(self._clock.now(), principal.id, passkey.id, verified.sign_count, verified.backed_up)
        try:
            if current is not None and current.principal.id == principal.id:
                signed_in = await self._sessions.renew_console(current, used)
            else:
                signed_in = await self._sessions.start_console(principal, used, ending=current)
        except IllegalStep:
            raise Refused("counter", "this passkey answered somewhere else at the same moment; start again", 409) from None
        self._ceremonies.forget(browser)
        return signed_in

    # ── a person's own passkeys ──

    async def addition_options(self, browser: str, console: ConsoleSession) -> Mapping[str, Json]:
        """PublicKeyCredentialCreationOptionsJSON for a further passkey. Raises Refused `stepUpRequired`."""
        self._sessions.require_fresh(console)
        passkeys = await self._records.passkeys(console.principal.id)
        handle = _handle(passkeys)
        ceremony = self._ceremonies.open(browser, Purpose.ADD_PASSKEY, subject=console.id, user_handle=handle)
        return self._verifier.registration_options(
            challenge=ceremony.challenge, user_handle=handle, user_name=console.principal.name, exclude=passkeys
        )

    async def add(self, browser: str, console: ConsoleSession, credential: Mapping[str, Json], name: str | None) -> Passkey:
        """Register a further passkey. Raises Refused `stepUpRequired`, `tooManyPasskeys` or the verifier's reasons."""
        self._sessions.require_fresh(console)
        ceremony = self._ceremonies.take(browser, Purpose.ADD_PASSKEY, subject=console.id)
        async with self._changing:
            passkeys = await self._records.passkeys(console.principal.id)
            if len(passkeys) >= PASSKEYS_PER_PERSON:
                raise Refused("tooManyPasskeys", "remove a passkey before adding another", 409)
            name = _require_name(name or f"Passkey {len(passkeys) + 1}")
            try:
                new = self._verifier.verify_registration(credential, challenge=ceremony.challenge)
                passkey = self._passkey(new, console.principal, ceremony.user_handle, name)
                await self._ledger.append(PasskeyAdded(passkey.created_at, passkey, console.id))
            except IllegalStep:
                message = "this passkey is registered already, or you were signed out"
                raise Refused("credential", message, 409) from None
            except Refused as refusal:
                await self._refuse(browser, Purpose.ADD_PASSKEY, refusal, console.principal.id)
                raise
        return passkey

    # ── a further device, by a link ──

    def offer_device(self, console: ConsoleSession) -> str:
        """A one-time token with which another browser registers a passkey of this person. Raises Refused `stepUpRequired`."""
        self._sessions.require_fresh(console)
        return self._devices.make(console)

    def device_state(self, console: ConsoleSession) -> DeviceOfferState:
        """What has become of the link that this console session made last."""
        return self._devices.state(console)

    async def device_options(self, browser: str, token: str) -> Mapping[str, Json]:
        """PublicKeyCredentialCreationOptionsJSON for the person of that link, for the browser that shows it first. Raises Refused
        `deviceLink`."""
        principal = self._devices.claim(token, browser).console.principal
        passkeys = await self._records.passkeys(principal.id)
        if not passkeys:
            raise device_link_gone()
        handle = _handle(passkeys)
        ceremony = self._ceremonies.open(browser, Purpose.ADD_DEVICE, subject=hash_secret(token), user_handle=handle)
        return self._verifier.registration_options(
            challenge=ceremony.challenge, user_handle=handle, user_name=principal.name, exclude=passkeys
        )

    async def add_device(
        self, browser: str, token: str, credential: Mapping[str, Json], name: str | None, current: ConsoleSession | None
    ) -> SignedIn:
        """Use up the link: a further passkey, and a console session in the browser that has it. Refused where the session that
        made the link has ended, or its person was suspended or removed. `current` is who was signed in here."""
        name = _require_name(name or "Another device")
        ceremony = self._ceremonies.take(browser, Purpose.ADD_DEVICE, subject=hash_secret(token))
        offer = self._devices.claim(token, browser)
        principal = offer.console.principal
        async with self._changing:
            if len(await self._records.passkeys(principal.id)) >= PASSKEYS_PER_PERSON:
                raise Refused("tooManyPasskeys", "remove a passkey before adding another", 409)
            try:
                new = self._verifier.verify_registration(credential, challenge=ceremony.challenge)
            except Refused as refusal:
                await self._refuse(browser, Purpose.ADD_DEVICE, refusal, principal.id)
                raise
            passkey = self._passkey(new, principal, ceremony.user_handle, name)
            added = PasskeyAdded(passkey.created_at, passkey, offer.console.id)
            try:
                signed_in = await self._sessions.start_console(principal, added, ending=current)
            except IllegalStep:
                raise device_link_gone() from None
        offer.registered = True
        self._ceremonies.forget(browser)
        return signed_in

    async def passkeys(self, console: ConsoleSession) -> Sequence[Passkey]:
        """The person's own."""
        return await self._records.passkeys(console.principal.id)

    async def rename(self, console: ConsoleSession, credential_id: bytes, name: str) -> None:
        """Another name for one of one's own. Raises NotFound."""
        await self._own(console, credential_id)
        renamed = PasskeyRenamed(self._clock.now(), console.principal.id, credential_id, _require_name(name))
        await self._ledger.append(renamed)

    async def remove(self, console: ConsoleSession, credential_id: bytes) -> None:
        """Take one away, never the last. Raises NotFound, Refused `lastPasskey` or `stepUpRequired`."""
        self._sessions.require_fresh(console)
        async with self._changing:
            passkeys = await self._own(console, credential_id)
            if len(passkeys) == 1:
                raise Refused("lastPasskey", "this is your only passkey; add another before removing it", 409)
            await self._ledger.append(PasskeyRemoved(self._clock.now(), console.principal.id, credential_id))

    # ── inside ──

    async def _offer(self, token: str) -> EnrolmentOffer:
        offer = await self._records.enrolment(hash_secret(token))
        if offer is None or self._clock.now() >= offer.expires_at:
            raise _enrolment_gone()
        return offer

    async def _find_local_operator(self) -> str | None:
        """The id of who worked at the terminal before anybody was enrolled: the first person to enrol is them, because both
        got here by owning the state folder, and what waits for a passkey waits for theirs."""
        principals = await self._records.principals()
        return principals[0].id if len(principals) == 1 and not await self._records.passkeys(principals[0].id) else None

    async def _find(self, credential_id: bytes) -> tuple[Passkey, Principal]:
        passkey = await self._records.passkey(credential_id)
        principal = None if passkey is None else await self._records.principal(passkey.principal_id)
        if passkey is None or principal is None:
            raise Refused("credential", "this passkey is not registered here")
        return passkey, principal

    async def _own(self, console: ConsoleSession, credential_id: bytes) -> Sequence[Passkey]:
        passkeys = await self._records.passkeys(console.principal.id)
        if all(passkey.id != credential_id for passkey in passkeys):
            raise NotFound("unknown passkey")
        return passkeys

    def _passkey(self, new: NewPasskey, principal: Principal, user_handle: bytes, name: str) -> Passkey:
        return Passkey(
            id=new.credential_id,
            principal_id=principal.id,
            public_key=new.public_key,
            sign_count=new.sign_count,
            backup_eligible=new.backup_eligible,
            backed_up=new.backed_up,
            user_handle=user_handle,
            transports=new.transports,
            name=name,
            created_at=self._clock.now(),
        )

    async def _refuse(self, browser: str, purpose: Purpose, refusal: Refused, principal_id: str | None) -> None:
        """Record a refused answer and count it against the browser that gave it."""
        now = self._clock.monotonic()
        if principal_id is None:
            if len(self._anonymous) == ANONYMOUS_REFUSALS_PER_MINUTE and now - self._anonymous[0] < 60:
                self._ceremonies.failed(browser)
                return
            self._anonymous.append(now)
        await self._ledger.append(SignInRefused(self._clock.now(), purpose.value, refusal.reason, principal_id))
        self._ceremonies.failed(browser)


def _handle(passkeys: Sequence[Passkey]) -> bytes:
    if not passkeys:
        raise NotFound("unknown account")
    return passkeys[0].user_handle


def _require_admitted(principal: Principal) -> None:
    if principal.suspended:
        raise Refused("suspended", "this account is suspended; an operator can let it in again", 403)


def _require_name(name: str) -> str:
    """A name fit to be shown: printable, so that no bidi override or newline dresses it up as another."""
    name = name.strip()
    if not 0 < len(name) <= NAME_LIMIT or not name.isprintable():
        raise Refused("name", f"a name is 1 to {NAME_LIMIT} printable characters", 400)
    return name


def _enrolment_gone() -> Refused:
    return Refused("enrolment", "this link was used already or has run out; ask for another", 410)
