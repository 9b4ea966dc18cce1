"""Attempts at files outside the work folder."""

from __future__ import annotations

import ctypes
import os
import struct

from .attempts import LIBC, Targets, attempt, call, read


@attempt
def read_the_gateways_state(targets: Targets) -> object:
    return read(targets["secret"])


@attempt
def read_another_workspace(targets: Targets) -> object:
    return read(targets["neighbour"])


@attempt
def list_the_gateways_state(targets: Targets) -> object:
    return os.listdir(os.path.dirname(targets["secret"]))


@attempt
def read_through_a_link(targets: Targets) -> object:
    os.symlink(targets["secret"], "link")
    try:
        return read("link")
    finally:
        os.unlink("link")


@attempt
def read_through_a_second_name(targets: Targets) -> object:
    os.link(targets["secret"], "name")
    try:
        return read("name")
    finally:
        os.unlink("name")


@attempt
def read_through_dots(targets: Targets) -> object:
    return read(os.path.join("..", *targets["secret"].split("/")[-2:]))


@attempt
def write_into_another_workspace(targets: Targets) -> object:
    with open(targets["neighbour"], "ab") as file:
        file.write(b"!")
    return True


@attempt
def create_in_another_workspace(targets: Targets) -> object:
    os.close(os.open(os.path.join(os.path.dirname(targets["neighbour"]), "new"), os.O_CREAT | os.O_WRONLY))
    return os.unlink(os.path.join(os.path.dirname(targets["neighbour"]), "new"))


@attempt
def make_a_folder_outside(targets: Targets) -> object:
    os.mkdir(os.path.join(os.path.dirname(targets["neighbour"]), "folder"))
    return os.rmdir(os.path.join(os.path.dirname(targets["neighbour"]), "folder"))


@attempt
def remove_a_file_outside(targets: Targets) -> object:
    return os.unlink(targets["expendable"])


@attempt
def move_a_file_out(targets: Targets) -> object:
    with open("mine", "wb"):
        pass
    out = os.path.join(os.path.dirname(targets["neighbour"]), "mine")
    os.rename("mine", out)
    return os.unlink(out)


@attempt
def cut_a_file_outside(targets: Targets) -> object:
    return os.truncate(targets["neighbour"], 1)


@attempt
def open_up_a_file_outside(targets: Targets) -> object:
    return os.chmod(targets["neighbour"], 0o666)


@attempt
def change_times_of_a_file_outside(targets: Targets) -> object:
    return os.utime(targets["neighbour"], (1, 1))


@attempt
def mark_a_file_outside(targets: Targets) -> object:
    return os.setxattr(targets["neighbour"], "user.mark", b"1")


@attempt
def open_up_what_may_only_be_read(targets: Targets) -> object:
    return os.fchmod(os.open(targets["readable"], os.O_RDONLY), 0o666)


@attempt
def change_times_of_what_may_only_be_read(targets: Targets) -> object:
    return os.utime(os.open(targets["readable"], os.O_RDONLY), (1, 1))


@attempt
def mark_what_may_only_be_read(targets: Targets) -> object:
    return os.setxattr(os.open(targets["readable"], os.O_RDONLY), "user.mark", b"1")


@attempt
def shut_a_folder_that_may_only_be_read(targets: Targets) -> object:
    return os.fchmod(os.open(os.path.dirname(targets["readable"]), os.O_RDONLY), 0o755)


@attempt
def watch_a_folder_outside(targets: Targets) -> object:
    watcher = LIBC.inotify_init()
    if LIBC.inotify_add_watch(watcher, os.fsencode(os.path.dirname(targets["secret"])), 0xFFF) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return True


@attempt
def leave_a_program_that_runs_as_its_owner(targets: Targets) -> object:
    with open("program", "wb") as file:
        os.fchmod(file.fileno(), 0o4755)
    return os.unlink("program")


@attempt
def create_a_program_that_runs_as_its_owner(targets: Targets) -> object:
    os.close(os.open("created", os.O_CREAT | os.O_WRONLY, 0o4755))
    return os.unlink("created")


@attempt
def create_one_through_a_pointer(targets: Targets) -> object:
    how = struct.pack("3Q", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    os.close(call(437, -100, b"pointed", how, len(how)))
    return os.unlink("pointed")
