"""Checkpoints as commits on a branch of a git repository elsewhere.

Each commit has one file, `checkpoint`, and the commit before as its parent; what the branch has is never forced away, so that a
repository that takes no forced pushes keeps every checkpoint. It is made in a repository of its own in the state folder.

All of git runs in one shell for each of the two steps, which is started from a thread: an event loop starts a program by copying
the tables of all of the gateway's memory, and answers nobody meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Final

from gateway.adapters.anchoring.places import AnchorDown, SignedCheckpoint
from gateway.adapters.anchoring.settings import GitAnchor

_SECONDS: Final = 60.0
_NOT_FOUND: Final = 127
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}")

# The rest of the environment is the user's, whose credentials these are.
_BEGIN: Final = """
set -e
unset GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_CONFIG_PARAMETERS
export GIT_DIR="$1" GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=file:https:ssh
export GIT_AUTHOR_NAME=Countersign GIT_AUTHOR_EMAIL=countersign@localhost
export GIT_COMMITTER_NAME=Countersign GIT_COMMITTER_EMAIL=countersign@localhost
"""

_LOOK: Final = f"""{_BEGIN}
test -e "$GIT_DIR/HEAD" || git init --quiet --bare
parent=$(git ls-remote -- "$2" "$3")
parent=${{parent%%[!0-9a-f]*}}
test -n "$parent" || exit 0
git fetch --quiet --no-tags -- "$2" "$3"
echo "$parent"
git cat-file blob "$parent:checkpoint"
"""
"""The folder, the remote, the branch: gives the newest commit of the branch and the checkpoint in it."""

_COMMIT_AND_PUSH: Final = f"""{_BEGIN}
blob=$(git hash-object -w --stdin)
tree=$(printf '100644 blob %s\\tcheckpoint\\n' "$blob" | git mktree)
commit=$(git commit-tree "$tree" ${{5:+-p "$5"}} -m "$4")
git push --quiet -- "$2" "$commit:$3"
echo "$commit"
"""
"""The same, a message and the parent, where there is one: gives the commit."""


class GitKeeper:
    """Commits to one branch."""

    def __init__(self, settings: GitAnchor, folder: Path) -> None:
        self._where = (str(folder), settings.remote, f"refs/heads/{settings.branch}")
        self._parent = ""

    async def held(self) -> str:
        """The newest checkpoint of the branch."""
        self._parent, _, note = (await self._run(_LOOK)).partition("\n")
        return note

    async def put(self, checkpoint: SignedCheckpoint, old: int) -> str:
        """Pushed when it returns; gives the commit. It comes after the one that `held` found."""
        del old
        message = f"Checkpoint over {checkpoint.size} records"
        commit = (await self._run(_COMMIT_AND_PUSH, message, self._parent, given=checkpoint.note.encode())).strip()
        if _COMMIT.fullmatch(commit) is None:
            raise AnchorDown("git made no commit")
        return commit

    async def _run(self, script: str, *arguments: str, given: bytes = b"") -> str:
        process = await asyncio.to_thread(_start, ("/bin/sh", "-c", script, "git", *self._where, *arguments))
        try:
            out, error = await asyncio.to_thread(process.communicate, given, _SECONDS)
        except subprocess.TimeoutExpired:
            raise AnchorDown(f"git took longer than {_SECONDS:.0f} s") from None
        finally:
            if process.poll() is None:
                # Its git and what that has started, such as ssh.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode == _NOT_FOUND:
            raise AnchorDown("there is no `git` on this machine")
        if process.returncode != 0:
            last = error.decode(errors="replace").strip().splitlines()[-1:] or ["git failed"]
            raise AnchorDown(last[0][:200])
        return out.decode(errors="replace")


def _start(command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(  # noqa: S603 - only the scripts above; what the settings say are arguments to them
        command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
