"""The digest of a snapshot is that of its wire form, however it is put together, and never of a tool as it was before."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gateway.core.canonical import canonical_bytes, digest
from gateway.core.model import PublishedTool, Snapshot, ToolSpec
from gateway.core.vocabulary import Category, PermissionMode

TOOL = ToolSpec(
    name="shop__query",
    description="Query the shop.",
    interface_id="shop",
    method_name="query",
    param_schema={"type": "object", "properties": {"sql": {"type": "string"}}},
    category=Category.READ,
    source="shop",
)


def snapshot_of(*tools: PublishedTool, policy: str = "v1", turn: str = "trn_1") -> Snapshot:
    return Snapshot("snp_1", "ses_1", "con_1", "cnv_1", turn, 3, 1_700_000_000_000, 1_700_000_100_000, policy, tools)


@given(
    texts=st.lists(st.text(max_size=20), max_size=5),
    mode=st.sampled_from(PermissionMode),
    names=st.tuples(st.text(max_size=9), st.text(max_size=9)),
)
def test_the_digest_is_that_of_the_wire_form(texts: list[str], mode: PermissionMode, names: tuple[str, str]) -> None:
    tools = tuple(PublishedTool(replace(TOOL, description=text, title=text or None), mode) for text in texts)
    snapshot = snapshot_of(*tools, policy=names[0], turn=names[1])
    assert snapshot.digest == digest(snapshot.described())
    assert json.loads(b"".join(snapshot.write_wire())) == json.loads(json.dumps(snapshot.wire()))
    compact = {**snapshot.described(), "tools": [[tool.spec.digest, tool.permission.value] for tool in tools]}
    assert snapshot.write_compact() == canonical_bytes(compact)


def test_a_definition_is_written_in_each_mode_as_its_descriptor_is() -> None:
    """Only once: with another mode one member of the bytes is another."""
    for spec in (TOOL, replace(TOOL, description="é\u2028\n", title="Shop", local=True)):
        for mode in PermissionMode:
            tool = PublishedTool(spec, mode)
            assert tool.canonical() == canonical_bytes(tool.descriptor())


def test_another_mode_or_another_definition_of_a_tool_is_another_digest() -> None:
    before = snapshot_of(PublishedTool(TOOL, PermissionMode.AUTO))
    stricter = snapshot_of(PublishedTool(TOOL, PermissionMode.CONSENT))
    changed = snapshot_of(PublishedTool(replace(TOOL, description="Query the other shop."), PermissionMode.AUTO))
    recategorised = snapshot_of(PublishedTool(replace(TOOL, category=Category.WRITE), PermissionMode.AUTO))
    assert len({each.digest for each in (before, stricter, changed, recategorised)}) == 4
    for each in (before, stricter, changed, recategorised):
        assert each.digest == digest(each.described())
