"""What a job is given, what is kept of its output, and what it may not be given."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.sandbox import uid_pool
from gateway.sandbox.job import OUTPUT_CAP, Job, JobEnd, JobStreams, SandboxError
from gateway.sandbox.opening import HeldFolder
from tests.sandbox.conftest import ENVIRONMENT, ROOT, TrialHost, find_python
from tests.sandbox.processes import WAIT_SECONDS


def test_a_job_says_what_it_has_to_say_and_how_it_ended(host: TrialHost) -> None:
    finished = host.run("bash", "-c", "echo out; echo err >&2; exit 3")

    assert (finished.stdout, finished.stderr) == (b"out\n", b"err\n")
    assert (finished.exit_code, finished.signal, finished.end) == (3, None, JobEnd.EXITED)
    assert 0 < finished.duration_seconds < WAIT_SECONDS


def test_a_job_that_a_signal_ended_says_which(host: TrialHost) -> None:
    finished = host.python("import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(0, 2)")

    assert (finished.exit_code, finished.signal) == (None, signal.SIGINT)


def test_a_pipe_that_nobody_reads_ends_its_writer_as_in_any_shell(host: TrialHost) -> None:
    assert host.run("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}").stdout == b"y\n%d\n" % (128 + signal.SIGPIPE)


def test_a_command_that_is_not_there_exits_with_127(host: TrialHost) -> None:
    assert host.run("no-such-command").exit_code == 127


def test_a_job_starts_in_its_folder_and_what_it_writes_stays_there(host: TrialHost) -> None:
    assert host.run("bash", "-c", "pwd; mkdir -p a/b && echo kept > a/b/note").stdout.decode() == f"{host.work}\n"

    assert (host.work / "a" / "b" / "note").read_text() == "kept\n"
    assert host.run("bash", "-c", "echo more >> a/b/note; mv a/b/note note; rm -r a; cat note").stdout == b"kept\nmore\n"


def test_what_one_job_left_the_next_can_change_whatever_its_mode(host: TrialHost) -> None:
    assert host.run("bash", "-c", "umask 077; mkdir a; echo 1 > a/f").exit_code == 0

    assert host.run("bash", "-c", "echo 2 >> a/f; cat a/f").stdout == b"1\n2\n"


def test_case_305_folders_in_folders_without_end_keep_no_later_job_from_running(host: TrialHost) -> None:
    nest = "import os\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')"
    assert host.python(nest).exit_code == 0

    # Python cannot remove them either.
    assert host.run("bash", "-c", "rm -r d; echo ran").stdout == b"ran\n"


def test_case_336_more_files_than_anybody_works_with_keep_no_later_job_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uid_pool, "MOST_SHARED", 20)
    files = make_private_files(tmp_path / "inner", 40)
    opened: list[object] = []
    monkeypatch.setattr(os, "open", _noting(os.open, opened))
    assert not share(tmp_path)
    assert 1 <= count_shared(files) <= 20
    # The next job goes on with what is left, and what is shared already is not opened again.
    assert not share(tmp_path)
    assert 21 <= count_shared(files) < 40
    assert share(tmp_path)
    assert count_shared(files) == 40
    names = [name for name in opened if str(name).startswith("f")]
    assert len(names) == len(set(names)) == 40


def test_case_336_files_that_a_program_left_in_one_folder_keep_no_other_folder_from_being_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uid_pool, "MOST_SHARED", 150)
    monkeypatch.setattr(uid_pool, "PIECE", 6)
    floods = [make_private_files(tmp_path / name, 60) for name in ("a", "b", "y", "z")]
    others = make_private_files(tmp_path / "m" / "n" / "o", 3)
    assert not share(tmp_path)
    assert count_shared(others) == 3
    assert all(count_shared(files) < 60 for files in floods)


def test_case_336_a_folder_without_end_is_not_listed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uid_pool, "MOST_LOOKED_AT", 10)
    for file in make_private_files(tmp_path, 40)[5:]:
        file.chmod(0o660)
    assert not share(tmp_path)
    monkeypatch.setattr(uid_pool, "MOST_LOOKED_AT", 100)
    monkeypatch.setattr(uid_pool, "MOST_SHARED", 10)
    # What is shared already takes nothing of what may be shared.
    assert share(tmp_path)


def test_a_folder_of_which_not_all_was_shared_is_named_in_the_log_once(
    host: TrialHost, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(uid_pool, "MOST_LOOKED_AT", 3)
    make_private_files(host.work, 10)
    sandbox = host.sandbox()
    for _ in range(2):
        assert sandbox.run(host.job("true"), threading.Event()).exit_code == 0
    said = [each.getMessage() for each in caplog.records if "lent to programs" in each.getMessage()]
    # Only a gateway that is root shares folders.
    assert len(said) == ROOT
    assert all(each.startswith(f"{host.work} has more files") for each in said)


def make_private_files(folder: Path, count: int) -> list[Path]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = [folder / f"f{number}" for number in range(count)]
    for file in files:
        os.close(os.open(file, os.O_CREAT, 0o600))
    return files


def count_shared(files: list[Path]) -> int:
    return sum(file.stat().st_mode & 0o777 == 0o660 for file in files)


def share(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return uid_pool.share_with_group(descriptor, os.getgid())
    finally:
        os.close(descriptor)


def _noting(function: Callable[..., int], names: list[object]) -> Callable[..., int]:
    def called(name: object, *arguments: object, **options: object) -> int:
        names.append(name)
        return function(name, *arguments, **options)

    return called


@pytest.mark.requirement("000-25", "a job sees the variables it names and no others")
def test_the_environment_is_what_the_job_names_and_nothing_else(host: TrialHost) -> None:
    assert os.environ
    finished = host.python("import os; print(sorted(os.environb.items()))")

    assert eval(finished.stdout) == sorted((os.fsencode(name), os.fsencode(value)) for name, value in ENVIRONMENT.items())


def test_no_variable_of_a_job_reaches_what_builds_its_sandbox(host: TrialHost) -> None:
    environment = {**ENVIRONMENT, "LD_PRELOAD": "/no/such/library", "PYTHONSTARTUP": "x", "LD_DEBUG": "libs"}
    job = Job(("true",), environment, host.work)

    finished = host.as_gateway(lambda: host.sandbox().run(job, threading.Event()))

    # The loader complains once for each program that it loads with the variable: those inside only.
    assert finished.exit_code == 0
    assert b"bwrap" not in finished.stderr


def test_stdin_is_what_the_job_names_and_then_its_end(host: TrialHost) -> None:
    assert host.run("cat", stdin=b"given").stdout == b"given"
    assert host.run("cat").stdout == b""


def test_a_job_can_have_the_descriptors_of_its_starter_in_place_of_kept_streams(host: TrialHost) -> None:
    ends = [os.pipe() for _ in range(3)]
    (read_in, write_in), (read_out, write_out), (read_err, write_err) = ends
    os.write(write_in, b"asked")
    os.close(write_in)
    job = host.job("bash", "-c", "cat; echo complaint >&2", streams=JobStreams(read_in, write_out, write_err))

    finished = host.as_gateway(lambda: host.sandbox().run(job, threading.Event()))

    # Where the gateway is another user, the job was run in a child of this process that closed only its own copies.
    if job.streams is not None and host.gateway != os.geteuid():
        job.streams.close()
    assert (finished.exit_code, finished.stdout, finished.stderr) == (0, b"", b"")
    # To its end: nobody holds what the job wrote to.
    for read, expected in ((read_out, b"asked"), (read_err, b"complaint\n")):
        with open(read, "rb") as file:
            assert file.read() == expected


def test_descriptors_of_a_job_that_is_not_started_are_closed_too(host: TrialHost) -> None:
    (read_in, write_in), (read_out, write_out) = os.pipe(), os.pipe()
    streams = JobStreams(read_in, write_out, os.dup(write_out))
    job = Job(("true",), ENVIRONMENT, host.root / "nowhere", streams=streams)

    with pytest.raises(SandboxError):
        host.sandbox().run(job, threading.Event())

    os.close(write_in)
    with open(read_out, "rb") as file:
        assert file.read() == b""


def test_folders_that_a_job_may_change_can_lie_in_one_that_it_may_only_read(host: TrialHost) -> None:
    inner = host.neighbour / "inner"
    inner.mkdir()
    if ROOT:
        os.chown(inner, host.gateway, host.gateway)
    host.neighbour.chmod(0o755)
    words = f"echo 1 > {inner}/new; echo 2 > {host.neighbour}/new"

    finished = host.run("bash", "-c", words, readable=[host.neighbour], writable=(inner,))

    assert (inner / "new").read_text() == "1\n"
    assert finished.exit_code == 1
    assert not (host.neighbour / "new").exists()


def test_a_job_cannot_grow_what_it_was_given_to_read(host: TrialHost) -> None:
    finished = host.python(
        "import os\n"
        "try: print(os.write(os.open('/dev/stdin', os.O_RDWR), b'x' * 100))\n"
        "except OSError as error: print(error.errno and 'refused')",
        stdin=b"given",
    )

    assert finished.stdout == b"refused\n"


def test_no_descriptor_but_the_standard_streams_is_inherited(host: TrialHost) -> None:
    count = (
        "import os\n"
        "def is_open(number):\n"
        "    try: os.fstat(number)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "print([number for number in range(4096) if is_open(number)])"
    )
    reader, writer = os.pipe()
    try:
        os.set_inheritable(writer, True)
        shown = host.outside([find_python(), "-I", "-c", count], pass_fds=(writer,))
        assert str(writer).encode() in shown.stdout

        assert host.python(count).stdout == b"[0, 1, 2]\n"
        assert host.python(count, stdin=b"x", readable=(Path("/usr/share"),)).stdout == b"[0, 1, 2]\n"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_job_is_never_root_and_holds_no_capability(host: TrialHost) -> None:
    finished = host.python(
        "import ctypes, os\n"
        "held = (ctypes.c_uint32 * 6)()\n"
        "ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(0x20080522, 0), held)\n"
        "print(os.getresuid(), os.getresgid(), os.getgroups(), list(held))"
    )
    users, groups, further, held = eval(
        "[" + finished.stdout.decode().replace(") (", "), (").replace(") [", "), [").replace("] [", "], [") + "]"
    )

    assert 0 not in users
    assert 0 not in groups
    assert 0 not in further
    assert held == [0] * 6
    assert len(set(users)) == 1
    if not host.variant.by_root:
        assert users[0] == host.gateway


@pytest.mark.skipif(not ROOT, reason="only a gateway that is root hands out users")
def test_jobs_of_root_that_run_at_once_are_different_users(host: TrialHost) -> None:
    if not host.variant.by_root:
        assert host.run("id", "-u").stdout == b"%d\n" % host.gateway
        return
    sandbox, names = host.sandbox(), ("one", "two")
    # Each waits until it sees the other.
    script = "id -u > $0; until [ -s $1 ]; do sleep 0.02; done"
    threads = [
        threading.Thread(
            target=sandbox.run, args=(Job(("bash", "-c", script, *order), ENVIRONMENT, host.work), threading.Event())
        )
        for order in (names, names[::-1])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)

    one, two = ((host.work / name).read_text() for name in names)
    assert one != two


def test_further_folders_can_be_read_and_not_changed(host: TrialHost) -> None:
    (host.neighbour / "file").chmod(0o644)
    host.neighbour.chmod(0o755)
    finished = host.run(
        "bash",
        "-c",
        'cat "$0/file"; echo x >> "$0/file"; touch "$0/new"; ln "$0/file" name && echo x >> name',
        str(host.neighbour),
        readable=(host.neighbour,),
    )

    assert finished.stdout == b"somebody else's"
    assert (host.neighbour / "file").read_bytes() == b"somebody else's"
    assert not (host.neighbour / "new").exists()


def test_the_network_is_there_for_a_job_that_was_granted_it_and_this_machines_services_are_not(host: TrialHost) -> None:
    finished = host.python(
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "line = socket.create_connection(server.getsockname())\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\n"
        "print('reached')\n"
        "try: socket.socket(socket.AF_UNIX)\n"
        "except PermissionError: print('refused')\n"
        "try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\n"
        "except PermissionError: print('refused')",
        network=True,
    )

    assert finished.stdout == b"reached\nrefused\nrefused\n"


# ── what is kept ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-27", "output beyond the cap is counted")
def test_output_is_capped_and_what_is_missing_is_counted(host: TrialHost) -> None:
    finished = host.python("import sys; sys.stdout.write('o' * 100_000); sys.stderr.write('e' * 8193)")

    assert (finished.stdout, finished.stdout_omitted) == (b"o" * OUTPUT_CAP, 100_000 - OUTPUT_CAP)
    assert (finished.stderr, finished.stderr_omitted) == (b"e" * OUTPUT_CAP, 8193 - OUTPUT_CAP)


def test_a_job_that_writes_far_too_much_is_neither_held_up_nor_kept(host: TrialHost) -> None:
    finished = host.run("bash", "-c", "head -c 128M /dev/zero; head -c 1M /dev/zero >&2; echo done > done")

    assert finished.stdout_omitted == (128 << 20) - OUTPUT_CAP
    assert finished.stderr_omitted == (1 << 20) - OUTPUT_CAP
    assert (host.work / "done").exists()


# ── what it may not be given ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("replaced", ["work", "further"])
def test_no_job_starts_in_a_folder_that_was_replaced(host: TrialHost, replaced: str) -> None:
    """docs/SECURITY.md case 48."""
    (host.root / "further").mkdir()
    folders = [HeldFolder(host.work), HeldFolder(host.root / "further")]
    given = {"readable": [folders[1].path], "identities": {folder.path: folder.identity for folder in folders}}
    assert host.run("true", **given).exit_code == 0

    (host.root / replaced).rename(host.root / "old")
    host.neighbour.rename(host.root / replaced)
    with pytest.raises(SandboxError, match="moved or replaced after the gateway started"):
        host.run("touch", "pwned", **given)
    assert not (host.root / replaced / "pwned").exists()
    for folder in folders:
        folder.close()


@pytest.mark.parametrize("folder", ["the state", "within it", "around it", "a link", "behind a link", "missing", "relative"])
def test_a_job_is_not_started_in_a_folder_that_it_must_not_have(host: TrialHost, folder: str) -> None:
    (host.state / "deeper").mkdir()
    (host.root / "link").symlink_to(host.neighbour)
    (host.neighbour / "below").mkdir()
    path = {
        "the state": host.state,
        "within it": host.state / "deeper",
        "around it": host.root,
        "a link": host.root / "link",
        "behind a link": host.root / "link" / "below",
        "missing": host.root / "missing",
        "relative": Path("work"),
    }[folder]
    if ROOT:
        host.own()

    with pytest.raises(SandboxError) as refused:
        host.as_gateway(lambda: host.sandbox().run(Job(("true",), ENVIRONMENT, path), threading.Event()))
    assert str(host.root) not in refused.value.message


def test_a_job_may_not_read_the_state_by_a_further_folder(host: TrialHost) -> None:
    job = Job(("true",), ENVIRONMENT, host.work, readable=(host.state,))

    with pytest.raises(SandboxError):
        host.as_gateway(lambda: host.sandbox().run(job, threading.Event()))


def test_a_sandbox_that_cannot_be_closed_starts_nothing(host: TrialHost) -> None:
    (host.root / "sandbox" / "kernel.py").write_text("raise SystemExit('broken')")

    with pytest.raises(SandboxError):
        host.run("touch", "started")
    assert not (host.work / "started").exists()
