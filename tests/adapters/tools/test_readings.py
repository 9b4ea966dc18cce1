"""What the statement shows is what a Python function gets, whatever type it asks for."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, AnyUrl, BaseModel, ByteSize, ImportString, Json, SecretStr, StringConstraints

from gateway.adapters.tools.schemas import Signature, Validator, read_signature
from gateway.core.errors import Misconfigured


class Size(enum.Enum):
    SMALL = "small"


class Rank(enum.IntEnum):
    FIRST = 1


class Line(BaseModel):
    day: date
    times: int = 1


@dataclass
class Spot:
    x: float
    y: float = 0.0


class Pair(NamedTuple):
    left: int
    right: str


def taking(kind: object) -> Signature:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = kind
    return read_signature(function)


def faults_of(kind: object, value: Any) -> list[str]:
    signature = taking(kind)
    found = Validator(signature.schema).find_faults({"value": value}) or signature.find_faults({"value": value})
    return [fault.message for fault in found]


ONE_FORM: list[tuple[object, dict[Any, object], list[Any]]] = [
    (bool, {True: True}, [1, 0, "true", "yes", "on", 1.5, None]),
    (int, {3: 3}, [True, "1", "1_0", 1.5, "1.0", None]),
    (float, {1.5: 1.5, 2: 2.0}, [True, "1.5", "1e3", "NaN", None]),
    (str, {"é": "é"}, [1, True, None]),
    (bytes, {"aé": "aé".encode()}, [1, ["a"]]),
    (bool | int, {True: True, 7: 7}, [1.0]),
    (int | str, {1: 1, "1": "1"}, [True]),
    (
        datetime,
        {
            "2026-01-01T10:00:00": datetime.fromisoformat("2026-01-01T10:00:00"),
            "2026-01-01T10:00:00Z": datetime.fromisoformat("2026-01-01T10:00:00Z"),
            "2026-01-01T10:00:00+00:00": datetime.fromisoformat("2026-01-01T10:00:00Z"),
            "2026-01-01T10:00:00.250Z": datetime.fromisoformat("2026-01-01T10:00:00.250Z"),
            "2026-01-01T10:00:00-05:30": datetime.fromisoformat("2026-01-01T10:00:00-05:30"),
        },
        [
            *("1767225600", "1767225600000", "20260101", "2026-01-01", "2026-01-01 10:00:00", "2026-01-01T10:00", "+5"),
            *("2026-01-01t10:00:00z", "2026-01-01T10:00:00.1234567Z", "2026-01-01T24:00:00", "2026-02-30T10:00:00", "٢٠٢٦"),
            *(1767225600, 1.5, True),
        ],
    ),
    (date, {"2026-01-01": date(2026, 1, 1)}, ["1767225600", "20260101", "2026-01-01T00:00:00", "2026-W01-1", 0]),
    (time, {"10:00:00": time(10)}, ["36000", "10:00", "10", "10:00:00.0000000", 36000]),
    (timedelta, {"PT1H": timedelta(hours=1), "P1D": timedelta(1)}, ["1 day", "3600", "01:00:00", "PT60M", 60]),
    (
        Decimal,
        {"12.50": Decimal("12.50"), "0.0000001": Decimal("0.0000001"), "-3": Decimal(-3), 7: Decimal(7), 0.1: Decimal("0.1")},
        ["١٢", "1_000", "1,000", "+5", " 5", "5 ", "5\n", "1e3", "1E+3", "007", ".5", "5.", "NaN", "Infinity", "-0x1", True],
    ),
    (
        UUID,
        {"12345678-1234-5678-1234-56781234567a": UUID("12345678-1234-5678-1234-56781234567a")},
        [
            "12345678-1234-5678-1234-56781234567A",
            "1234567812345678123456781234567a",
            "{12345678-1234-5678-1234-56781234567a}",
            "urn:uuid:12345678-1234-5678-1234-56781234567a",
            1,
        ],
    ),
    (Size, {"small": Size.SMALL}, ["SMALL", "Small", 0]),
    (Rank, {1: Rank.FIRST}, ["1", True, "FIRST"]),
    (Literal["a", 1], {"a": "a", 1: 1}, [True, "1"]),
    (Path, {"notes/a.txt": Path("notes/a.txt"), "../x": Path("../x")}, ["a//b", "./a", "a/", "", 1]),
    (IPv4Address, {"127.0.0.1": IPv4Address("127.0.0.1")}, ["127.1", "0127.0.0.1", 1]),
    (IPv4Network, {"10.0.0.0/8": IPv4Network("10.0.0.0/8")}, ["10.0.0.0", "10.0.0.0/255.0.0.0"]),
    (
        AnyUrl,
        {"http://a.example/": AnyUrl("http://a.example/")},
        ["http://A.example/", "http://a.example", "http://a.example/a b"],
    ),
    (Fraction, {"1/3": Fraction(1, 3)}, ["1_0/3", "2/6", "١", "1e3", True]),
    (ByteSize, {1000: ByteSize(1000)}, ["1kb", "1_000", "1000"]),
    (Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)], {"a": "a"}, [" a", "A"]),
]


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"), ONE_FORM, ids=lambda value: getattr(value, "__name__", None) and str(value)
)
def test_a_type_reads_the_form_that_people_read_and_refuses_others(
    kind: object, accepted: dict[Any, object], refused: list[Any]
) -> None:
    for given_value, wanted in accepted.items():
        assert faults_of(kind, given_value) == [], given_value
        read = taking(kind).read({"value": given_value})["value"]
        assert (type(read), read) == (type(wanted), wanted)
    for given_value in refused:
        assert faults_of(kind, given_value), given_value


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (list[datetime], ["2026-01-01T10:00:00Z"], ["1767225600"]),
        (dict[str, Decimal], {"a": "1.5"}, {"a": "1_5"}),
        (dict[int, str], {"1": "a"}, {"01": "a"}),
        (dict[int, str], {"1": "a"}, {"١": "a"}),
        (tuple[date, int], ["2026-01-01", 1], ["1767225600", 1]),
        (set[str], ["b", "a"], None),
        (set[Decimal], ["1.5", "2"], ["1.5", "1_0"]),
        (Line, {"day": "2026-01-01"}, {"day": "1767225600"}),
        (list[Line], [{"day": "2026-01-01", "times": 2}], [{"day": "2026-01-01", "times": "2"}]),
        (Spot, {"x": 1}, {"x": "1"}),
        (Pair, [1, "a"], ["1", "a"]),
        (Path | None, "a", "a//b"),
        (datetime | None, None, "0"),
    ],
)
def test_the_same_holds_inside_of_other_types(kind: object, good: Any, bad: Any) -> None:
    assert faults_of(kind, good) == []
    assert bad is None or faults_of(kind, bad)


def test_a_refusal_says_how_the_value_would_have_been_read() -> None:
    assert faults_of(datetime, "1767225600") == ["would be read as 2026-01-01T00:00:00Z: write it so"]
    assert faults_of(Path, "a//b") == ["would be read as a/b: write it so"]
    assert faults_of(bool | int, 1.0) == ["would be read as true: write it so"]


def test_a_validator_of_the_author_that_changes_the_value_changes_it_before_nobody() -> None:
    elsewhere = Annotated[str, AfterValidator(lambda path: f"/etc/{path}")]
    assert faults_of(elsewhere, "motd") == ["would be read as /etc/motd: write it so"]


def test_a_validator_of_the_author_that_breaks_is_a_fault_of_the_argument() -> None:
    def break_down(_text: str) -> str:
        raise KeyError("inner detail")

    assert faults_of(Annotated[str, AfterValidator(break_down)], "x") == ["cannot be read (KeyError)"]


@pytest.mark.parametrize(
    "kind",
    [
        ImportString,
        ImportString[Callable[..., object]],
        Json,
        Json[int],
        complex,
        Iterable[int],
        Callable[[], None],
        list[ImportString[Any]],
    ],
    ids=str,
)
def test_a_type_that_no_argument_can_be_shown_for_is_refused_when_the_tool_is_registered(kind: object) -> None:
    with pytest.raises(Misconfigured, match="may not"):
        taking(kind)


def test_a_hidden_type_reads_nothing() -> None:
    assert faults_of(SecretStr, "visible")


@given(st.sampled_from([kind for kind, _, _ in ONE_FORM]), st.text(alphabet="0123456789-+:.TZ_eE١ PDHaAn/", max_size=24))
def test_what_is_read_is_written_back_as_it_was_given(kind: object, text: str) -> None:
    """Whatever passes: two calls that people see as different are different to the tool too."""
    if faults_of(kind, text):
        return
    signature = taking(kind)
    read = signature.read({"value": text})["value"]
    assert read == signature.read({"value": text})["value"]
    assert not isinstance(read, int | float)
    assert not isinstance(read, str) or read == text
