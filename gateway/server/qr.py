"""QR codes of the links that a person carries to another device."""

from __future__ import annotations


def qr_rows(link: str) -> tuple[str, ...]:
    """A string of `0` and `1` (dark) for each row of modules, without the quiet zone."""
    # Loaded with the first code: few runs of a gateway make one.
    import segno

    return tuple("".join("1" if module else "0" for module in row) for row in segno.make_qr(link, error="m").matrix)
