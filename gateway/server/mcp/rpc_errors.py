"""Errors of the gateway as errors of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from gateway.core.errors import GatewayError, InvalidParams
from gateway.protocol.codec import describe_error

SERVER_ERROR: Final = -32000
"""JSON-RPC leaves -32000 to servers. MCP has used up several of the numbers of docs/PROTOCOL.md, so the word tells them apart."""

_log = logging.getLogger(__name__)


@contextmanager
def typed_errors() -> Generator[None]:
    """Errors of the gateway's tree as errors of JSON-RPC; of anything else no more than that it is internal."""
    try:
        yield
    except MCPError:
        raise
    except GatewayError as error:
        raise _as_rpc_error(error) from None
    except Exception:  # noqa: BLE001 - whatever broke, the client gets an answer
        _log.exception("a request of an MCP client failed")
        raise MCPError(INTERNAL_ERROR, "internal error", {"code": "internal"}) from None


def _as_rpc_error(error: GatewayError) -> MCPError:
    """An error of the tree, with its stable word as `data.code`."""
    _, code, message = describe_error(error)
    return MCPError(INVALID_PARAMS if isinstance(error, InvalidParams) else SERVER_ERROR, message, {"code": code})
