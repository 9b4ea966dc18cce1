"""Put each fault into a copy of the checkout, run the tests that should notice it, and say which were noticed.

    python -m tests.mutants [--again] [--jobs N] [--seconds N] [ID…]

Faults that were noticed are remembered in `.mutants.json` until their file or their tests change. The exit status is 1 if a
fault survived or could not be tried.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.faults import ROOT, SourceFault, UnusableFault, load_faults
from tests.mutants.tree import Tree, Verdict

MEMORY = ROOT / ".mutants.json"


def main() -> int:
    """The exit status."""
    options = _read_options()
    try:
        faults = [fault for fault in load_faults() if not options.ids or fault.id in options.ids]
        for fault in faults:
            fault.applied()
            fault.check_tests()
    except UnusableFault as unusable:
        _say(f"error     {unusable}")
        return 1
    known = set[str](json.loads(MEMORY.read_text())) if MEMORY.exists() and not options.again else set[str]()
    open_faults = [fault for fault in faults if fault.digest() not in known]
    if len(faults) > len(open_faults):
        _say(f"{len(faults) - len(open_faults)} were killed before and have not changed")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = SimpleQueue[Tree]()
        for number in range(options.jobs):
            trees.put(Tree(Path(folder).resolve() / str(number)))
        if open_faults and not _is_sound(trees, open_faults, options.seconds):
            return 1

        def attempt(fault: SourceFault) -> Verdict:
            tree = trees.get()
            began = time.monotonic()
            try:
                with tree.holding(fault):
                    verdict, output = tree.run(fault.python_tests, fault.web_tests, options.seconds)
            finally:
                trees.put(tree)
            _say(f"{verdict:<9} {fault.id}  {time.monotonic() - began:.0f} s  ({fault.why})")
            if verdict is Verdict.KILLED:
                known.add(fault.digest())
                MEMORY.write_text(json.dumps(sorted(known)))
            elif verdict is not Verdict.SURVIVED:
                _say(output)
            return verdict

        with ThreadPoolExecutor(options.jobs) as pool:
            verdicts = list(pool.map(attempt, open_faults))
    killed = len(faults) - len(open_faults) + verdicts.count(Verdict.KILLED)
    _say(f"{killed} of {len(faults)} faults were noticed")
    return 0 if killed == len(faults) else 1


def _is_sound(trees: SimpleQueue[Tree], faults: Sequence[SourceFault], seconds: float) -> bool:
    """Whether all named tests pass in a copy without any fault: else their failing would prove nothing."""
    tree = trees.get()
    tests = sorted({test for fault in faults for test in fault.python_tests})
    web_tests = sorted({test for fault in faults for test in fault.web_tests})
    verdict, output = tree.run(tests, web_tests, seconds * max(1, len(tests) + len(web_tests)))
    trees.put(tree)
    if verdict is not Verdict.SURVIVED:
        _say(f"without any fault the tests do not pass ({verdict}):\n{output}")
    return verdict is Verdict.SURVIVED


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Put faults in and see the tests fail.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these faults")
    parser.add_argument("--again", action="store_true", help="also those that were noticed before")
    parser.add_argument("--jobs", type=int, default=2, help="copies at work at once")
    parser.add_argument("--seconds", type=float, default=300.0, help="time for the tests of one fault")
    return parser.parse_args()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
