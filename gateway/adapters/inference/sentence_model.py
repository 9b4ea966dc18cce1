"""Makes the GGUF file of the sentence model all-MiniLM-L6-v2 out of what its publisher ships, in a process of its own.

Plain Python, and byte for byte the same each time: no library for tensors has to be installed for a file that is made once.
Matrices become 16-bit floats, everything else stays as it is. The layout is version 3 of GGUF, llama.cpp's format.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

WIDTH: Final = 384
LAYERS: Final = 6
CONTEXT: Final = 512

ALIGNMENT: Final = 32
F32: Final = 0
F16: Final = 1
_U32: Final = 4
_I32: Final = 5
_FLOAT: Final = 6
_BOOL: Final = 7
_STRING: Final = 8
_ARRAY: Final = 9

_CHUNK: Final = 1 << 16
"""Numbers that are converted at a time."""

_OUTER: Final = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_INNER: Final = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def tensor_names() -> dict[str, str]:
    """What each tensor is called there, and in GGUF."""
    inner = {
        f"encoder.layer.{layer}.{old}.{kind}": f"blk.{layer}.{new}.{kind}"
        for layer in range(LAYERS)
        for old, new in _INNER.items()
        for kind in ("weight", "bias")
    }
    return {**_OUTER, **inner}


def convert(weights: Path, vocabulary: Path, target: Path) -> None:
    """Write `target`. Raises KeyError, ValueError or OSError for inputs that are not that model."""
    words = vocabulary.read_text(encoding="utf-8").split("\n")[:-1]
    with weights.open("rb") as source, target.open("wb") as sink:
        (length,) = struct.unpack("<Q", source.read(8))
        head: dict[str, Any] = json.loads(source.read(length))
        body = 8 + length
        placed: list[tuple[str, list[int], int, int, int]] = []
        offset = 0
        for old, new in tensor_names().items():
            found = head[old]
            if found["dtype"] != "F32":
                raise ValueError(f"{old} is not in 32-bit floats")
            begin, end = found["data_offsets"]
            # llama.cpp adds the positions and kinds of tokens to other 32-bit numbers.
            kind = F16 if len(found["shape"]) == 2 and new not in ("position_embd.weight", "token_types.weight") else F32
            placed.append((new, found["shape"], kind, begin, offset))
            size = (end - begin) // (2 if kind == F16 else 1)
            offset += size + -size % ALIGNMENT
        metadata = list(_metadata(words))
        sink.write(struct.pack("<4sIQQ", b"GGUF", 3, len(placed), len(metadata)) + b"".join(metadata))
        for name, shape, kind, _, place in placed:
            dimensions = shape[::-1]
            sink.write(_text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, place))
        _pad(sink)
        for _, shape, kind, begin, _ in placed:
            source.seek(body + begin)
            _copy(source, sink, _count(shape), kind)
            _pad(sink)


def _copy(source: BinaryIO, sink: BinaryIO, count: int, kind: int) -> None:
    while count:
        taken = min(count, _CHUNK)
        data = source.read(4 * taken)
        if len(data) < 4 * taken:
            raise ValueError("the weights end early")
        sink.write(data if kind == F32 else struct.pack(f"<{taken}e", *struct.unpack(f"<{taken}f", data)))
        count -= taken


def _metadata(words: list[str]) -> Iterator[bytes]:
    yield _entry("general.architecture", _STRING, _text("bert"))
    yield _entry("general.name", _STRING, _text("all-MiniLM-L6-v2"))
    yield _entry("general.license", _STRING, _text("apache-2.0"))
    for name, value in (
        ("general.file_type", 1),
        ("bert.block_count", LAYERS),
        ("bert.context_length", CONTEXT),
        ("bert.embedding_length", WIDTH),
        ("bert.feed_forward_length", 4 * WIDTH),
        ("bert.attention.head_count", 12),
        # The mean over all tokens.
        ("bert.pooling_type", 1),
        ("tokenizer.ggml.token_type_count", 2),
        ("tokenizer.ggml.bos_token_id", words.index("[CLS]")),
        ("tokenizer.ggml.cls_token_id", words.index("[CLS]")),
        ("tokenizer.ggml.eos_token_id", words.index("[SEP]")),
        ("tokenizer.ggml.seperator_token_id", words.index("[SEP]")),
        ("tokenizer.ggml.unknown_token_id", words.index("[UNK]")),
        ("tokenizer.ggml.padding_token_id", words.index("[PAD]")),
        ("tokenizer.ggml.mask_token_id", words.index("[MASK]")),
    ):
        yield _entry(name, _U32, struct.pack("<I", value))
    yield _entry("bert.attention.layer_norm_epsilon", _FLOAT, struct.pack("<f", 1e-12))
    yield _entry("bert.attention.causal", _BOOL, b"\0")
    yield _entry("tokenizer.ggml.model", _STRING, _text("bert"))
    yield _entry("tokenizer.ggml.tokens", _ARRAY, struct.pack("<IQ", _STRING, len(words)) + b"".join(map(_token, words)))
    kinds = [3 if _is_special(word) else 1 for word in words]
    yield _entry("tokenizer.ggml.token_type", _ARRAY, struct.pack(f"<IQ{len(kinds)}i", _I32, len(kinds), *kinds))


def _token(word: str) -> bytes:
    """As llama.cpp's tokenizer for BERT wants it: the beginning of a word is marked, not what continues one."""
    if _is_special(word):
        return _text(word)
    return _text(word[2:] if word.startswith("##") else f"\u2581{word}")


def _is_special(word: str) -> bool:
    return word.startswith("[") and word.endswith("]") and len(word) > 2


def _entry(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _count(shape: list[int]) -> int:
    count = 1
    for each in shape:
        count *= each
    return count


def _pad(sink: BinaryIO) -> None:
    sink.write(bytes(-sink.tell() % ALIGNMENT))


if __name__ == "__main__":
    convert(*map(Path, sys.argv[1:4]))
