"""What the Tab key offers at the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.terminal.completer import Completer
from gateway.cli.terminal.editor import LineEditor


@pytest.fixture
def completer(tmp_path: Path) -> Completer:
    workspace = tmp_path / "workspace"
    (workspace / "notes").mkdir(parents=True)
    (workspace / "my files").mkdir()
    for name in (
        "notes/todo.txt",
        "notes/two words.txt",
        "notes/evil\x1b[2J",
        "notes/\u202etxt",
        "notes.md",
        ".hidden",
        "my files/a.txt",
        "my files/it`s.txt",
    ):
        (workspace / name).write_text("")
    (tmp_path / "secret.txt").write_text("")
    (workspace / "out").symlink_to(tmp_path)
    completer = Completer(workspace)
    completer.tools = ("read_file", "remove_file", "list_directory")
    completer.models = ("Small model", "Stub (rules)", "remote:host:large")
    return completer


@pytest.mark.parametrize(
    ("before", "word", "names"),
    [
        ("/he", "/he", ["/help"]),
        ("/inspect re", "re", ["read_file", "remove_file"]),
        ("/call li", "li", ["list_directory"]),
        ("/call list_directory no", "no", []),
        ("/model ", "", ["Small model", "Stub (rules)", "remote:host:large"]),
        ("/model small m", "small m", ["Small model"]),
        ("/model S", "S", ["Small model", "Stub (rules)"]),
        ("/model no", "no", []),
        ("read no", "no", ["notes.md", "notes/"]),
        ("read notes/", "notes/", ["notes/todo.txt", "notes/two words.txt"]),
        ("read notes/tw", "notes/tw", ["`notes/two words.txt`"]),
        ("read `notes/", "`notes/", ["`notes/todo.txt`", "`notes/two words.txt`"]),
        ('read "notes/two w', '"notes/two w', ['"notes/two words.txt"']),
        ("read m", "m", ["`my files/"]),
        ("read `my files/", "`my files/", ["`my files/a.txt`"]),
        ('read "my files/', '"my files/', ['"my files/a.txt"', '"my files/it`s.txt"']),
        ('put "a b" into no', "no", ["notes.md", "notes/"]),
        ("read `../", "`../", []),
        ("read `out/", "`out/", []),
        ("read ./notes/to", "./notes/to", ["./notes/todo.txt"]),
        ("read .h", ".h", [".hidden"]),
        ("read ", "", ["my files/", "notes.md", "notes/", "out"]),
        ("read ../", "../", []),
        ("read out/", "out/", []),
        ("read /et", "/et", []),
        ("/etc/pas", "/etc/pas", []),
        ("read nowhere/", "nowhere/", []),
    ],
)
def test_words_are_offered_where_they_make_sense_and_nothing_beyond_the_workspace(
    completer: Completer, before: str, word: str, names: list[str]
) -> None:
    offered = completer.offer(before)
    assert (offered[0], list(offered[1])) == (word, names)


def test_a_name_with_spaces_is_completed_in_quotes_from_where_the_word_began(completer: Completer) -> None:
    line = LineEditor(offer=completer.offer)
    line.take("read m\ta\tand notes/tw\t")
    assert line.text == "read `my files/a.txt` and `notes/two words.txt` "
