"""The evaluation's way into `countersign models check`: a package that lies beside this one and is no part of it.

It is found like the other folders that come along, and loaded under its own name, `eval`, only for as long as this process runs.
Nothing of the gateway imports it: it measures the product, so it may import the product.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from gateway.adapters.inference.profiles import CaseOutcome
from gateway.core.errors import Misconfigured
from gateway.core.vocabulary import Tier
from gateway.runtime.ports import InferenceBackend
from gateway.shipped import shipped_folder

NAME: Final = "eval"


class CasePlayer(Protocol):
    """`play_cases` of `eval/one_model.py`."""

    async def __call__(
        self,
        backend: InferenceBackend,
        *,
        model: str,
        tier: Tier,
        context_tokens: int,
        is_local: bool,
        sample: int,
        outcomes: Path,
        report: Callable[[int, int, CaseOutcome, bool], None],
    ) -> list[CaseOutcome]: ...


def load_case_player() -> CasePlayer:
    """The evaluation's entry. Raises Misconfigured where this installation has none."""
    if NAME not in sys.modules:
        folder = Path(str(shipped_folder(NAME)))
        found = importlib.util.spec_from_file_location(NAME, folder / "__init__.py", submodule_search_locations=[str(folder)])
        if found is None or found.loader is None:
            raise Misconfigured("this installation has no evaluation; install it again")
        package = importlib.util.module_from_spec(found)
        sys.modules[NAME] = package
        found.loader.exec_module(package)
    player: CasePlayer = importlib.import_module(f"{NAME}.one_model").play_cases
    return player
