"""Checkpoints as commits on a branch of a git repository elsewhere.

Each commit has one file, `checkpoint`, and the commit before as its parent; what the branch has is never forced away, so that a
repository that takes no forced pushes keeps every checkpoint. It is made in a repository of its own in the state folder.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from gateway.adapters.anchoring.places import AnchorDown, AnchorPlace, SignedCheckpoint
from gateway.adapters.anchoring.settings import GitAnchor

_SECONDS: Final = 60.0
_UNSET: Final = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_CONFIG_PARAMETERS")
_SET: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:https:ssh",
    "GIT_AUTHOR_NAME": "Countersign",
    "GIT_AUTHOR_EMAIL": "countersign@localhost",
    "GIT_COMMITTER_NAME": "Countersign",
    "GIT_COMMITTER_EMAIL": "countersign@localhost",
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")


class GitKeeper:
    """Commits to one branch."""

    def __init__(self, settings: GitAnchor, folder: Path) -> None:
        self._settings = settings
        self._folder = folder

    async def put(self, checkpoint: SignedCheckpoint, before: AnchorPlace) -> str:
        """Pushed when it returns; gives the commit."""
        del before
        remote, branch = self._settings.remote, f"refs/heads/{self._settings.branch}"
        if not (self._folder / "HEAD").exists():
            await self._git("init", "--quiet", "--bare", str(self._folder), inside=False)
        listed = (await self._git("ls-remote", "--", remote, branch)).split()
        parent = listed[:1]
        if parent:
            await self._git("fetch", "--quiet", "--no-tags", "--", remote, branch)
        blob = await self._git("hash-object", "-w", "--stdin", given=checkpoint.note.encode())
        tree = await self._git("mktree", given=f"100644 blob {blob}\tcheckpoint\n".encode())
        parents = [part for each in parent for part in ("-p", each)]
        commit = await self._git("commit-tree", tree, *parents, "-m", f"Checkpoint over {checkpoint.size} records")
        if _COMMIT.fullmatch(commit) is None:
            raise AnchorDown("git made no commit")
        await self._git("push", "--quiet", "--", remote, f"{commit}:{branch}")
        return commit

    async def _git(self, *arguments: str, given: bytes = b"", inside: bool = True) -> str:
        place = ("--git-dir", str(self._folder)) if inside else ()
        # The rest of the environment is the user's, whose credentials these are.
        changed = (
            "env",
            *(part for name in _UNSET for part in ("-u", name)),
            *(f"{name}={value}" for name, value in _SET.items()),
        )
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *changed, "git", *place, *arguments, stdin=pipe, stdout=pipe, stderr=pipe
            )
        except OSError:
            raise AnchorDown("there is no `git` on this machine") from None
        try:
            async with asyncio.timeout(_SECONDS):
                out, error = await process.communicate(given)
        except TimeoutError:
            raise AnchorDown(f"git took longer than {_SECONDS:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            last = error.decode(errors="replace").strip().splitlines()[-1:] or ["git failed"]
            raise AnchorDown(last[0][:200])
        return out.decode(errors="replace").strip()
