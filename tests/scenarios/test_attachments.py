"""Bytes that come with results, fetched from the running gateway by those who may and by those who may not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.harness.http import Reply
from tests.harness.person import Person, Turn
from tests.harness.process import GatewayProcess
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
MODULE = """
from gateway.adapters.tools import tool
from gateway.core.model import ToolOutput

PNG = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(64)

@tool(category="read", trust="untrusted")
def picture(what: str) -> ToolOutput:
    'Give bytes.'
    given = {
        "png": PNG,
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "html": b"<html><script>alert(1)</script></html>",
        "huge": PNG + bytes(3_000_000),
    }
    return ToolOutput("[image/png]", attached=(given[what],))
"""


def headers_of(reply: Reply) -> dict[str, str]:
    """The headers by their names in lower case."""
    return {name.lower(): value for name, value in reply.headers.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProcess]:
    home = tmp_path_factory.mktemp("gateway")
    (home / "modules").mkdir()
    (home / "modules" / "pictures.py").write_text(MODULE)
    settings = {"COUNTERSIGN_TOOLS_MODULES": '["pictures"]', "PYTHONPATH": f"{ROOT}:{home / 'modules'}"}
    process = GatewayProcess(home, settings=settings)
    await process.start()
    yield process
    assert await process.stop() == 0, process.output
    assert "Traceback" not in process.output


@pytest.mark.requirement("002-31", "an image is shown by its own signature, and everything else is bytes to be saved")
async def test_an_image_is_fetched_by_its_person_and_nobody_else(scene: Scene, ada: Person, gateway: GatewayProcess) -> None:
    turn = await Turn.begin(scene.shell)
    result = await turn.invoke("picture", {"what": "png"}, "c1")
    (attachment,) = result["attachments"]
    assert (attachment["mediaType"], attachment["bytes"]) == ("image/png", 72)
    address = f"{gateway.agent_origin}/attachments/{attachment['id']}"
    fetched = await ada.browser.get(address)
    assert (fetched.status, headers_of(fetched)["content-type"]) == (200, "image/png")
    assert headers_of(fetched)["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers_of(fetched)["content-security-policy"]
    grace = await scene.another("Grace", "operator")
    await grace.agent()
    assert (await grace.browser.get(address)).status == 404
    await grace.leave()
    assert (await Person.at(gateway).browser.get(address)).status == 401
    for other in ("res_unknown", "..%2f..%2fstate", "c1"):
        assert (await ada.browser.get(f"{gateway.agent_origin}/attachments/{other}")).status == 404
    assert (await ada.browser.get(f"{gateway.console_origin}/attachments/{attachment['id']}")).status == 404
    await scene.shell.call("turns/cancel", {"conversationId": turn.conversation_id, "turnId": turn.snapshot["turnId"]})
    await scene.shell.call("conversations/delete", {"conversationId": turn.conversation_id})
    assert (await ada.browser.get(address)).status == 404


@pytest.mark.parametrize("what", ["svg", "html"])
async def test_a_document_that_a_browser_would_run_is_a_file_to_be_saved(
    scene: Scene, ada: Person, gateway: GatewayProcess, what: str
) -> None:
    turn = await Turn.begin(scene.shell)
    (attachment,) = (await turn.invoke("picture", {"what": what}, "c1"))["attachments"]
    assert attachment["mediaType"] == "application/octet-stream"
    fetched = await ada.browser.get(f"{gateway.agent_origin}/attachments/{attachment['id']}")
    assert headers_of(fetched)["content-type"] == "application/octet-stream"
    assert headers_of(fetched)["content-disposition"].startswith("attachment;")


async def test_what_is_too_large_is_spoken_of_and_not_kept(scene: Scene) -> None:
    turn = await Turn.begin(scene.shell)
    result = await turn.invoke("picture", {"what": "huge"}, "c1")
    assert result["outcome"] == "ok"
    assert "attachments" not in result


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("tax\u202egpj.exe", "aGVsbG8=", "hello"),
        ("a\x1b[2J\r\nInvoice: paid", "aGVsbG8=", "hello"),
        ("../../../etc/passwd", "aGVsbG8=", "hello"),
        ("C:\\nul:stream\u2028", "aGVsbG8=", "hello"),
        ("same", "aGVsbG8=", "hello"),
        ("same", "YnllYnll", "byebye"),
        ("empty", "", "0 bytes"),
        ("n" * 200, "aGVsbG8=", "hello"),
        ("n" * 201, "aGVsbG8=", None),
        ("", "aGVsbG8=", None),
        ("large", "A" * 170_001, None),
        ("odd", "aGVsbG8", None),
        ("urlsafe", "_-__", None),
        ("spaced", "aGVs bG8=", None),
        ("utf-16", "//5oAGkA", "hi"),
        ("nul", "YQBi", None),
        ("page", "PGh0bWw+PHNjcmlwdD4=", "<html>"),
        ("half a picture", "iVBORw0KGgo=", None),
        ("phar", "R0lGODlhPD9waHAg", None),
    ],
)
async def test_case_322_whatever_a_file_is_called_and_holds_it_is_text_or_a_whole_image(
    scene: Scene, gateway: GatewayProcess, name: str, data: str, told: str | None
) -> None:
    before = sorted(path.name for path in gateway.home.rglob("*") if "state" not in path.parts)
    result = await (await scene.begin()).invoke("read_attachment", {"name": name, "data": data})
    assert (result["outcome"] == "ok") == (told is not None), result
    assert (told or "") in result["content"]
    shown = f"{result['content']}{result.get('error')}"
    assert not {"\x1b", "\u202e", "\u2028", "\r"} & {*shown}
    assert "attachments" not in result
    assert (told is None) or result["trust"] == "untrusted"
    assert sorted(path.name for path in gateway.home.rglob("*") if "state" not in path.parts) == before
