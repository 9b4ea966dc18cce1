"""Which test asserts which requirement, read from the sources without running them.

A Python test claims with `@pytest.mark.requirement("000-26", "a tool is stopped after its time")`, a vitest test with
`requirement("000-26", "…")` as its first statement. An id anywhere else in a test file claims nothing.

`python -m tests.scenarios.claims` prints every requirement with its claims and tests.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.scenarios.requirements import REQUIREMENTS

ROOT = Path(__file__).parents[2]
PYTHON_TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
WEB_TESTS = sorted(path for suffix in ("ts", "tsx") for path in (ROOT / "web" / "tests").rglob(f"*.test.{suffix}"))
ID = re.compile(r"\b00[0-4]-\d\d[a-z]?\b")


class Claim(NamedTuple):
    """`test`, in `path`, says that it asserts `says` of the requirement `id`."""

    id: str
    says: str
    test: str
    path: Path


class MisplacedClaim(Exception):
    """A claim that belongs to no test, or whose id and sentence are not two literal texts."""


def in_python(source: str, path: Path) -> Iterator[Claim]:
    """The claims of one Python file. Raises MisplacedClaim for a marker on anything but a test function."""
    tree = ast.parse(source)
    claimed: set[int] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or not function.name.startswith("test_"):
            continue
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(
                    func=ast.Attribute(attr="requirement") as marker,
                    args=[ast.Constant(value=str(identifier)), ast.Constant(value=str(says))],
                    keywords=[],
                ):
                    claimed.add(marker.lineno)
                    yield Claim(identifier, says, function.name, path)
                case _:
                    pass
    for node in ast.walk(tree):
        # By its last name first: to write out every attribute of every test takes as long as all the rest.
        if not isinstance(node, ast.Attribute) or node.attr != "requirement" or node.lineno in claimed:
            continue
        if ast.unparse(node) == "pytest.mark.requirement":
            raise MisplacedClaim(f"{path}:{node.lineno}: a claim is a decorator of a test, with an id and a sentence")


TEXT = r'"(?:[^"\\]|\\.)*"'
CALL = rf"requirement\(\s*({TEXT}),\s*({TEXT}),?\s*\);"
# `test("…", async () => { requirement(…); …`, also behind `test.each(…)`. No statement stands between title and claims.
CLAIMED_TEST = re.compile(
    rf"(?<!describe)\(\s*({TEXT}|`[^`]*`),\s*(?:async\s*)?(?:\w+|\([^;]*?\))\s*=>\s*\{{\s*((?:{CALL}\s*)+)", re.DOTALL
)


def in_typescript(source: str, path: Path) -> Iterator[Claim]:
    """The claims of one vitest file. Raises MisplacedClaim for a call that is not among a test's first statements."""
    found = 0
    for claimed in CLAIMED_TEST.finditer(source):
        for call in re.finditer(CALL, claimed[2]):
            found += 1
            yield Claim(_text(call[1]), _text(call[2]), _text(claimed[1]), path)
    if found != len(re.findall(r"\brequirement\(", source)):
        raise MisplacedClaim(f"{path}: a claim is the first statement of a test, with an id and a sentence")


def _text(literal: str) -> str:
    return literal[1:-1].replace('\\"', '"')


def of_all_tests() -> Iterator[Claim]:
    for path in PYTHON_TESTS:
        yield from in_python(path.read_text(encoding="utf-8"), path)
    for path in WEB_TESTS:
        yield from in_typescript(path.read_text(encoding="utf-8"), path)


def mentions(path: Path) -> set[str]:
    """The ids that a test file names outside its claims."""
    source = path.read_text(encoding="utf-8")
    claims = in_python(source, path) if path.suffix == ".py" else in_typescript(source, path)
    for claim in claims:
        source = source.replace(f'"{claim.id}"', "", 1)
    return set(ID.findall(source))


def print_table() -> None:
    claims = list(of_all_tests())
    for requirement in REQUIREMENTS:
        lines = [f"{requirement.id}  {requirement.says}"]
        lines += [
            f"        {claim.says}\n          {claim.path.relative_to(ROOT)}: {claim.test}"
            for claim in claims
            if claim.id == requirement.id
        ]
        if requirement.partly:
            lines.append(f"        missing: {requirement.partly}")
        if requirement.untested:
            lines.append(f"        untested: {requirement.untested}")
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    print_table()
