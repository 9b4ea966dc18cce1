"""Checks of the route table as data."""

from __future__ import annotations

from gateway.server.access import Permission, Site, Source
from gateway.server.routes import ROWS, Tag

PUBLIC = {
    # Public: pages and files contain no person's data, and ceremonies come before any session.
    ("POST", Site.CONSOLE, "/enrol/options"),
    ("POST", Site.CONSOLE, "/enrol/verify"),
    ("POST", Site.CONSOLE, "/signin/options"),
    ("POST", Site.CONSOLE, "/signin/verify"),
    ("POST", Site.CONSOLE, "/devices/options"),
    ("POST", Site.CONSOLE, "/devices/verify"),
    ("GET", Site.AGENT, "/login"),
    ("GET", Site.AGENT, "/callback"),
    # The same file for everybody, with nothing of this gateway in it.
    ("GET", Site.CONSOLE, "/verifier"),
    *(("POST", site, "/csp-report") for site in Site),
    *(("GET", site, path) for site in Site for path in ("/healthz", "/readyz", "/assets/{name:path}", "/{name}")),
}


def test_no_two_rows_are_the_same_endpoint() -> None:
    keys = [(row.method, row.site, row.path) for row in ROWS]
    assert len(set(keys)) == len(keys)


def test_only_the_listed_rows_are_public() -> None:
    """A new public endpoint must be added to this list too."""
    assert {(row.method, row.site, row.path) for row in ROWS if row.permission is Permission.PUBLIC} == PUBLIC


def test_every_tag_has_a_row_and_every_post_from_a_page_checks_its_origin() -> None:
    assert {row.tag for row in ROWS} == set(Tag)
    unchecked = {(row.path) for row in ROWS if row.method == "POST" and row.source is Source.ANYWHERE}
    assert unchecked == {"/csp-report"}


def test_nothing_on_the_agent_origin_can_approve_or_hold_a_ceremony() -> None:
    """docs/PROTOCOL.md section 1."""
    paths = {row.path for row in ROWS if row.site is Site.AGENT}
    assert not any(word in path for path in paths for word in ("approv", "grant", "passkey", "enrol", "signin", "policy"))
