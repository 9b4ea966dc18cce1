"""The switches of the console's page Policy: common wishes about the agent, and what each of them may be told.

A switch stands for rules of a file of its own; whether it is on is read from those rules and from nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, assert_never

from gateway.core.errors import Refused

MOST_ARGUMENTS: Final = 16
"""Folders or hosts of one switch. Whoever has more writes a rule."""

_LONGEST_FOLDER: Final = 200
_LONGEST_HOST: Final = 253

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""A host name in the letters of RFC 1123 section 2.1: what the tools' own facts are compared with."""

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that no text of a policy may hold, because nobody would see them."""


class PolicySwitch(StrEnum):
    """A wish that people have without wanting to write a rule."""

    ASK_OUTSIDE_FOLDERS = "askOutsideFolders"
    """Reading by itself only in some folders."""
    LET_HOSTS_THROUGH = "letHostsThrough"
    """Some hosts are reached without asking."""
    PASSKEY_FOR_WRITES = "passkeyForWrites"
    """Writing files takes a passkey."""
    NEVER_DELETE = "neverDelete"
    """Nothing is deleted or overwritten."""
    NO_NETWORK_AFTER_UNTRUSTED = "noNetworkAfterUntrusted"
    """No tool reaches the network once the conversation has read untrusted content."""


class SwitchTakes(StrEnum):
    """What has to be told to turn a switch on."""

    NOTHING = "nothing"
    FOLDERS = "folders"
    HOSTS = "hosts"


class SwitchState(StrEnum):
    """How a switch stands."""

    OFF = "off"
    ON = "on"
    CHANGED_BY_HAND = "changedByHand"
    """Its file or a rule of its name is not as the switch writes it, so the switch leaves it alone."""


def takes(switch: PolicySwitch) -> SwitchTakes:
    """What it has to be told."""
    match switch:
        case PolicySwitch.ASK_OUTSIDE_FOLDERS:
            return SwitchTakes.FOLDERS
        case PolicySwitch.LET_HOSTS_THROUGH:
            return SwitchTakes.HOSTS
        case PolicySwitch.PASSKEY_FOR_WRITES | PolicySwitch.NEVER_DELETE | PolicySwitch.NO_NETWORK_AFTER_UNTRUSTED:
            return SwitchTakes.NOTHING
        case _:
            assert_never(switch)


def read_arguments(switch: PolicySwitch, given: Sequence[str]) -> tuple[str, ...]:
    """The folders or hosts in their one spelling, each once, in order. Raises Refused `switchArgument`."""
    match takes(switch):
        case SwitchTakes.NOTHING:
            if given:
                raise _refuse("this switch takes neither folders nor hosts")
            return ()
        case SwitchTakes.FOLDERS:
            found = {_read_folder(each) for each in given}
        case SwitchTakes.HOSTS:
            found = {_read_host(each) for each in given}
        case _ as never:
            assert_never(never)
    if not 0 < len(found) <= MOST_ARGUMENTS:
        raise _refuse(f"name 1 to {MOST_ARGUMENTS} {takes(switch).value}")
    return tuple(sorted(found))


def _read_folder(text: str) -> str:
    """`notes/` as `notes`: the spelling in which tools report paths."""
    folder = text.strip(" ").removesuffix("/")
    if any(unicodedata.category(char) in _UNSEEN for char in folder):
        raise _refuse("a folder's name cannot hold line breaks or other characters that nobody sees")
    if "\\" in folder or folder.startswith("/"):
        raise _refuse("write a folder relative to the workspace with `/` between names, such as `notes/work`")
    if not 0 < len(folder) <= _LONGEST_FOLDER or any(part in ("", ".", "..") for part in folder.split("/")):
        raise _refuse(f"a folder is named by 1 to {_LONGEST_FOLDER} characters, without `.` and `..`, such as `notes/work`")
    return folder


def _read_host(text: str) -> str:
    """A host in lower case. Names in other scripts are refused: some look like a name that they are not."""
    host = text.strip(" ").lower()
    if not host.isascii():
        raise _refuse("write the host in its ASCII form (`xn--…`): names in other letters can look like a host that they are not")
    if len(host) > _LONGEST_HOST or not _HOST.fullmatch(host):
        raise _refuse("a host is a name such as `docs.example.com`, without `https://`, port, path or wildcard")
    return host


def _refuse(message: str) -> Refused:
    return Refused("switchArgument", message, 400)
