"""The head of a GGUF file: enough to say what the weights are, without loading them.

Format: GGUF, versions 2 and 3, as github.com/ggml-org/ggml specifies it. A file that an operator points at may be anything, so
every count and length is checked against a bound before it is used. Reading ends where the tokenizer begins; what is needed
comes before it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, cast

from gateway.core.errors import Misconfigured

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)

MAX_ENTRIES: Final = 4096
"""Files seen have 20 to 60."""

MAX_STRING: Final = 1 << 20
MAX_ARRAY: Final = 1 << 16
"""Arrays before the tokenizer are tags, languages and per-layer figures."""

MAX_VOCABULARY: Final = 1 << 21
"""Tokens, and merges of tokens: the largest vocabularies have 262,144."""

_SCALARS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_WHOLE: Final = frozenset({0, 1, 2, 3, 4, 5, 10, 11})
_STRING: Final = 8
_ARRAY: Final = 9

_FILE_TYPES: Final = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    32: "BF16",
}
"""llama.cpp's `llama_ftype`."""

Entry = str | int | float | bool
"""A value of the head that is no list."""

_Value: TypeAlias = "Entry | tuple[int, ...]"


CACHE_BYTES: Final = 2
"""Of each number in the cache of keys and values, which llama.cpp's server keeps as f16 unless it is told otherwise."""

MAX_LAYERS: Final = 1024


@dataclass(frozen=True, slots=True)
class GgufHead:
    """What a file says about itself. `context_tokens`, `layers` and `cache_bytes`, which each token of the context takes in the
    cache of keys and values, are None when it does not say."""

    arch: str
    name: str
    quantisation: str
    licence: str
    context_tokens: int | None
    layers: int | None
    cache_bytes: int | None = None


class _Unreadable(Exception):
    """Not GGUF, or not within bounds."""


def read_head(path: Path) -> GgufHead:
    """The head of a GGUF file. Raises Misconfigured when the file is missing, or is none."""
    try:
        with path.open("rb") as file:
            return _describe(_read_entries(file))
    except OSError as error:
        raise Misconfigured(f"the model file `{path.name}` does not read: {error.strerror}") from None
    except (_Unreadable, struct.error, ValueError):
        raise Misconfigured(f"`{path.name}` is not a GGUF model file of version 2 or 3") from None


def read_entry_named(path: Path, key: str) -> Entry | None:
    """One scalar or text of a GGUF file, also of those that stand behind the tokenizer's lists; None where it is not there.

    Raises Misconfigured when the file is missing, or is none.
    """
    try:
        with path.open("rb") as file:
            for found in _entries(file):
                if found == key:
                    value = _read_value(file, _read_number(file, "<I"))
                    return None if isinstance(value, tuple) else value
                _pass_over(file, _read_number(file, "<I"))
            return None
    except OSError as error:
        raise Misconfigured(f"the model file `{path.name}` does not read: {error.strerror}") from None
    except (_Unreadable, struct.error, ValueError):
        raise Misconfigured(f"`{path.name}` is not a GGUF model file of version 2 or 3") from None


def _describe(entries: Mapping[str, _Value]) -> GgufHead:
    arch = entries.get("general.architecture")
    if not isinstance(arch, str) or not arch:
        raise _Unreadable
    context = entries.get(f"{arch}.context_length")
    layers = entries.get(f"{arch}.block_count")
    file_type = entries.get("general.file_type")
    return GgufHead(
        arch=arch[:64],
        name=_text(entries, "general.name"),
        quantisation=_FILE_TYPES.get(file_type, "unknown") if isinstance(file_type, int) else "unknown",
        licence=_text(entries, "general.license") or "unknown",
        context_tokens=context if isinstance(context, int) and context > 0 else None,
        layers=layers if isinstance(layers, int) and layers > 0 else None,
        cache_bytes=_cache_bytes(entries, arch),
    )


def _cache_bytes(entries: Mapping[str, _Value], arch: str) -> int | None:
    """An upper bound: layers that look back over a window only, or have no such cache, take less than is reckoned here."""
    layers, heads, width = (entries.get(f"{arch}.{name}") for name in ("block_count", "attention.head_count", "embedding_length"))
    per_layer = entries.get(f"{arch}.attention.head_count_kv", heads)
    if not isinstance(layers, int) or not 0 < layers <= MAX_LAYERS:
        return None
    kept = sum(per_layer) if isinstance(per_layer, tuple) else layers * per_layer if isinstance(per_layer, int) else 0
    each = width // heads if isinstance(width, int) and isinstance(heads, int) and heads > 0 else 0
    key, value = (entries.get(f"{arch}.attention.{name}_length", each) for name in ("key", "value"))
    if not isinstance(key, int) or not isinstance(value, int) or min(kept, key + value) <= 0:
        return None
    return kept * (key + value) * CACHE_BYTES


def _text(entries: Mapping[str, _Value], key: str) -> str:
    value = entries.get(key, "")
    return value[:128] if isinstance(value, str) else ""


def _read_entries(file: BinaryIO) -> dict[str, _Value]:
    entries: dict[str, _Value] = {}
    for key in _entries(file):
        if key.startswith("tokenizer."):
            break
        value = _read_value(file, _read_number(file, "<I"))
        if value is not None:
            entries[key] = value
    return entries


def _entries(file: BinaryIO) -> Generator[str]:
    """The keys of the head; whoever asks reads or passes over the value before the next."""
    if _take(file, 4) != MAGIC:
        raise _Unreadable
    version, _tensors, count = struct.unpack("<IQQ", _take(file, 20))
    if version not in VERSIONS or count > MAX_ENTRIES:
        raise _Unreadable
    for _ in range(count):
        yield _read_string(file)


def _pass_over(file: BinaryIO, kind: int) -> None:
    """Skip a value. Vocabularies are longer than any list that is read."""
    if kind == _STRING:
        _skip(file, _read_number(file, "<Q"), MAX_STRING)
    elif kind == _ARRAY:
        element, length = _read_number(file, "<I"), _read_number(file, "<Q")
        if length > MAX_VOCABULARY or element == _ARRAY:
            raise _Unreadable
        if element in _SCALARS:
            _skip(file, length * struct.calcsize(_SCALARS[element]), MAX_VOCABULARY * 8)
        else:
            for _ in range(length):
                _pass_over(file, element)
    elif kind in _SCALARS:
        _skip(file, struct.calcsize(_SCALARS[kind]), MAX_STRING)
    else:
        raise _Unreadable


def _skip(file: BinaryIO, count: int, most: int) -> None:
    if count > most:
        raise _Unreadable
    file.seek(count, os.SEEK_CUR)


def _read_value(file: BinaryIO, kind: int) -> _Value | None:
    """A scalar, a string or whole numbers, one for each layer; None for any other array, which is passed over."""
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        element, length = _read_number(file, "<I"), _read_number(file, "<Q")
        if length > MAX_ARRAY or element == _ARRAY:
            raise _Unreadable
        values = [_read_value(file, element) for _ in range(length)]
        return tuple(each for each in values if type(each) is int) if element in _WHOLE and length <= MAX_LAYERS else None
    if kind not in _SCALARS:
        raise _Unreadable
    layout = _SCALARS[kind]
    (value,) = cast("tuple[Entry]", struct.unpack(layout, _take(file, struct.calcsize(layout))))
    return value


def _read_number(file: BinaryIO, layout: str) -> int:
    (number,) = cast("tuple[int]", struct.unpack(layout, _take(file, struct.calcsize(layout))))
    return number


def _read_string(file: BinaryIO) -> str:
    length = _read_number(file, "<Q")
    if length > MAX_STRING:
        raise _Unreadable
    return _take(file, length).decode("utf-8")


def _take(file: BinaryIO, count: int) -> bytes:
    octets = file.read(count)
    if len(octets) != count:
        raise _Unreadable
    return octets
