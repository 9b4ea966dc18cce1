"""Checkpoints that a cosigner signs, too (c2sp.org)."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp

from gateway.adapters.anchoring.places import AnchorDown, AnchoredLog, SignedCheckpoint
from gateway.adapters.anchoring.settings import CosignerAnchor
from gateway.adapters.bounded_answers import read_answer
from gateway.core.checkpoint import Unverified
from gateway.core.cosigner import ask_cosigner, find_cosignature, read_cosigner_key

_SECONDS: Final = 10.0
_ANSWER_LIMIT: Final = 16_384


class CosignerAsker:
    """Asks one cosigner."""

    def __init__(self, settings: CosignerAnchor, log: AnchoredLog) -> None:
        self._url = f"{settings.url.rstrip('/')}/add-checkpoint"
        self._key = read_cosigner_key(settings.key)
        self._log = log

    async def held(self) -> str:
        """It gives none back, and compares for itself."""
        return ""

    async def put(self, checkpoint: SignedCheckpoint, old: int) -> str:
        """Gives the line of its signature, verified."""
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        try:
            async with aiohttp.ClientSession(timeout=timeout) as client:
                status, said = await self._ask(client, checkpoint, old)
                if status == 409 and said.strip().isdecimal():
                    # It says which checkpoint it signed last.
                    status, said = await self._ask(client, checkpoint, int(said.strip()))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise AnchorDown("it did not answer in time" if isinstance(error, TimeoutError) else "it cannot be reached") from None
        match status:
            case 200:
                pass
            case 422 | 409:
                raise AnchorDown("it says that this log is not the one that it signed before")
            case 403:
                raise AnchorDown("it does not accept the key that signs this log")
            case 404:
                raise AnchorDown("it does not know this log")
            case _:
                raise AnchorDown(f"it answered {status}")
        found = find_cosignature(said, checkpoint.note, self._key)
        if isinstance(found, Unverified):
            raise AnchorDown(found.reason)
        return found.line

    async def _ask(self, client: aiohttp.ClientSession, checkpoint: SignedCheckpoint, old: int) -> tuple[int, str]:
        if old > checkpoint.size:
            raise AnchorDown(f"it has signed {old} records of this log, which has {checkpoint.size} only")
        proof = await asyncio.to_thread(self._log.prove, old, checkpoint.note) if 0 < old < checkpoint.size else ()
        asked = ask_cosigner(old, proof, checkpoint.note)
        async with client.post(self._url, data=asked, allow_redirects=False) as answer:
            return answer.status, (await read_answer(answer.content.iter_any(), _ANSWER_LIMIT)).decode(errors="replace")
