"""What tells a tool that nobody waits for it any more."""

from __future__ import annotations

import threading

_making = threading.Lock()


class CallCancelled(threading.Event):
    """An event whose lock is made by the first that waits for it. Every call has one, and hardly any tool waits."""

    def __init__(self) -> None:  # pyright: ignore[reportMissingSuperCall] - which would make them
        self._is_set = False
        self._inner: threading.Event | None = None

    def __repr__(self) -> str:
        """What a tool's author sees who prints it; `threading.Event` would look for what is not here."""
        return f"<CallCancelled: {'set' if self._is_set else 'unset'}>"

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it, for good."""
        self._is_set = True
        with _making:
            # Whoever makes one after this finds that it is set.
            inner = self._inner
        if inner is not None:
            inner.set()

    def clear(self) -> None:
        """A call that was cancelled stays so. Raises RuntimeError."""
        raise RuntimeError("a cancelled call cannot be taken up again")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, for so many seconds at most; gives whether it is."""
        if self._is_set:
            return True
        with _making:
            if self._inner is None:
                self._inner = threading.Event()
                if self._is_set:
                    self._inner.set()
        return self._inner.wait(timeout)
