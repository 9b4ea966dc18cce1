"""How many questions a session may put to people at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager


class QuestionSlots:
    """The questions that sessions are about to ask."""

    def __init__(self) -> None:
        self._asking: Counter[str] = Counter()

    @contextmanager
    def reserve(self, session_id: str, waiting: int, most: int) -> Generator[bool]:
        """Whether a session may put one more question to its person, `waiting` being those that it has put and `most` what they
        can bear at once. For each session, so that a hostile one cannot keep the person's others from asking.

        Counted from before the question is on record: many calls at once must not all find room for one.
        """
        if waiting + self._asking[session_id] >= most:
            yield False
            return
        self._asking[session_id] += 1
        try:
            yield True
        finally:
            self._asking[session_id] -= 1
            if not self._asking[session_id]:
                del self._asking[session_id]
