"""What the gateway's own tools say that a call will do is there in German, template for template."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
CATALOGUE = ROOT / "web" / "src" / "language" / "de" / "effects.json"
TOOLS = ROOT / "gateway" / "adapters" / "tools"

WORDED_IN_CODE = {
    "Run {tool}",
    "Run {tool} with {arguments}",
    "Sends to this machine: {sent}",
    "Sends to {host}: {sent}",
    "Whoever runs that server sees all of it",
    "Sends these arguments to {place}",
    "Runs in the server's own process here, which may reach the network",
    "Runs in the server's own process here, which cannot reach the network",
    "May change files in {folders}",
    "May ask you something on the console while it runs",
    "Works in the folder {folder}",
    "May reach the network",
}
"""What is put together where it is said, with names of its own for what stands in it."""

_BLANK = re.compile(r"\{\w+\}")


def _templates(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.keyword) or node.arg not in ("summary", "effects"):
            continue
        texts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for text in texts:
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value:
                yield text.value


def test_every_template_of_a_tool_that_comes_with_the_gateway_has_a_german_one_and_none_is_left_over() -> None:
    german: dict[str, str] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    said = {template for file in TOOLS.rglob("*.py") for template in _templates(file)}
    assert said
    assert said | WORDED_IN_CODE == set(german)
    for english, other in german.items():
        assert english != other
        assert sorted(_BLANK.findall(english)) == sorted(_BLANK.findall(other)), english


def test_why_a_call_of_a_file_tool_cannot_work_is_still_worded_as_its_german_text_takes_it_for() -> None:
    german: dict[str, str] = json.loads(CATALOGUE.with_name("obstacles.json").read_text(encoding="utf-8"))
    code = "\n".join(file.read_text(encoding="utf-8") for file in TOOLS.rglob("*.py"))
    for english, other in german.items():
        assert sorted(_BLANK.findall(english)) == sorted(_BLANK.findall(other)), english
        for piece in re.split(r"\{\w+\}| or ", english):
            assert all(part.strip() in code for part in piece.split("; ")), english


def test_what_is_put_together_in_code_is_still_worded_so() -> None:
    sources = [*TOOLS.rglob("*.py"), ROOT / "gateway" / "core" / "effects.py"]
    # A literal may go on in the next line, and a bracket may stand before what is chosen.
    code = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    for template in WORDED_IN_CODE:
        for piece in re.split(r"\{\w+\}|, which |this machine", template):
            assert piece.strip(": ") in code, template
