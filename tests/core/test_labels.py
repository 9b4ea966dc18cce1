"""Labels and taint only rise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.labels import Exposure, expose
from gateway.core.vocabulary import Label, Trust

marks = st.sampled_from(["label:public", "label:internal", "label:confidential", "label:high", "label:", "pii", "HIGH", ""])
results = st.lists(st.tuples(st.sampled_from(Trust), st.lists(marks, max_size=4)), max_size=12)


@pytest.mark.requirement("002-70", "no order of results lowers a conversation's label")
@given(results)
def test_exposure_never_falls(history: list[tuple[Trust, list[str]]]) -> None:
    exposure = Exposure()
    for trust, labels in history:
        after = expose(exposure, trust, labels)
        assert after.taint >= exposure.taint
        assert after.label >= exposure.label
        exposure = after


@given(results)
def test_the_order_of_results_does_not_matter(history: list[tuple[Trust, list[str]]]) -> None:
    forwards = backwards = Exposure()
    for trust, labels in history:
        forwards = expose(forwards, trust, labels)
    for trust, labels in reversed(history):
        backwards = expose(backwards, trust, labels)
    assert forwards == backwards


def test_a_fresh_conversation_has_seen_nothing() -> None:
    assert Exposure() == Exposure(taint=0, label=Label.PUBLIC)


def test_untrusted_content_taints_and_trusted_content_does_not_clean() -> None:
    tainted = expose(Exposure(), Trust.UNTRUSTED, ())
    assert tainted.taint == 1
    assert expose(tainted, Trust.TRUSTED, ()).taint == 1
    assert expose(Exposure(), Trust.TRUSTED, ()).taint == 0


@pytest.mark.parametrize("label", Label)
def test_each_level_has_its_label(label: Label) -> None:
    assert expose(Exposure(), Trust.TRUSTED, [f"label:{label.name.lower()}"]).label == label


def test_the_highest_label_of_a_result_counts() -> None:
    assert expose(Exposure(), Trust.TRUSTED, ["label:internal", "label:high", "label:public"]).label == Label.HIGH


def test_other_marks_say_nothing_about_confidentiality() -> None:
    assert expose(Exposure(label=Label.INTERNAL), Trust.TRUSTED, ["pii", "label:unheard-of"]).label == Label.INTERNAL
