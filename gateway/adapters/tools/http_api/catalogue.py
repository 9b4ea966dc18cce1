"""All operations of one API with what its document says about their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gateway.adapters.tools.http_api.documents import MAX_JSON, ApiDocument, read_document
from gateway.adapters.tools.http_api.operations import ApiOperation
from gateway.adapters.tools.http_api.reading import OperationReader, read_call
from gateway.adapters.tools.http_api.references import NotOffered
from gateway.adapters.tools.http_api.settings import HttpApiSettings
from gateway.adapters.tools.http_api.wording import tell
from gateway.adapters.tools.regular_files import read_regular
from gateway.adapters.tools.schemas import Validator
from gateway.core.canonical import Json
from gateway.core.effects import show
from gateway.core.errors import Misconfigured
from gateway.runtime.ports import ArgumentFault

_ANY: Final = "body"
"""Answers need not be objects, and a Validator takes only those: the body is checked as this member of one."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What was read. `reader` is None without a document."""

    operations: Mapping[str, ApiOperation]
    refused: Mapping[str, str]
    title: str = ""
    version: str = ""
    reader: OperationReader | None = None
    validators: dict[tuple[str, int, str], tuple[Validator | None, tuple[str, ...]]] = field(
        default_factory=dict[tuple[str, int, str], tuple[Validator | None, tuple[str, ...]]]
    )

    def checker(self, operation: ApiOperation) -> DocumentedAnswers:
        """What the document says about the answers of one operation."""
        return DocumentedAnswers(self, operation)

    def find_validator(self, operation: ApiOperation, status: int, media_type: str) -> tuple[Validator | None, tuple[str, ...]]:
        """The compiled schema of an answer, and the media types that are known for it."""
        key = (operation.name, status, media_type)
        if key not in self.validators:
            self.validators[key] = self._make_validator(operation, status, media_type)
        return self.validators[key]

    def _make_validator(self, operation: ApiOperation, status: int, media_type: str) -> tuple[Validator | None, tuple[str, ...]]:
        if self.reader is None:
            return None, ()
        try:
            schema, known = self.reader.read_answer_schema(operation, status, media_type)
            if schema is None:
                return None, known
            return Validator({"type": "object", "properties": {_ANY: schema}}), known
        except (NotOffered, Misconfigured):
            # A schema that nobody can check is as good as none; the call itself is not touched by it.
            return None, ()


@dataclass(frozen=True, slots=True)
class DocumentedAnswers:
    """The answers of one operation, as the document has them."""

    catalogue: Catalogue
    operation: ApiOperation

    def find_mismatches(self, status: int, media_type: str, body: Json) -> Sequence[ArgumentFault]:
        """See AnswerChecker."""
        validator, known = self.catalogue.find_validator(self.operation, status, media_type)
        if known and not _is_known(media_type, known):
            return (ArgumentFault("", f"is {tell(media_type, 100)}, and the document says {', '.join(map(show, known[:5]))}"),)
        if validator is None or body is None:
            return ()
        found = validator.find_faults({_ANY: body})
        return tuple(ArgumentFault(fault.path.removeprefix(f"/{_ANY}"), fault.message) for fault in found)


def read_catalogue(settings: HttpApiSettings, fetched: bytes | None) -> Catalogue:
    """All that the settings name; `fetched` is the document where it was fetched. Takes its time, so not for the event loop.

    Raises Misconfigured for a document that is none, and where nothing at all can be offered.
    """
    taken = frozenset(name.lower() for name in settings.headers)
    raw = fetched if fetched is not None else _load(settings)
    found: dict[str, ApiOperation] = {}
    refused: dict[str, str] = {}
    document: ApiDocument | None = None
    reader: OperationReader | None = None
    for call in settings.calls:
        try:
            operation = read_call(call, taken)
        except NotOffered as error:
            refused[tell(call.name, 200)] = error.message
            continue
        if operation.name in found:
            refused[f"{operation.name} ({call.method} {tell(call.path, 200)})"] = "another call has this name already"
        else:
            found[operation.name] = operation
    if raw is not None:
        document = read_document(raw)
        reader = OperationReader(document, taken)
        for operation in reader.read_all(settings.operations):
            if operation.name in found:
                refused[f"{operation.name} (of the document)"] = "a declared call has this name already"
            else:
                found[operation.name] = operation
        refused |= reader.refused
    if not found and not refused:
        raise Misconfigured("the document has no operation that could be called")
    title, version = (document.title, document.version) if document is not None else ("", "")
    return Catalogue(found, refused, title, version, reader)


def _load(settings: HttpApiSettings) -> bytes | None:
    path, text = settings.document_file, settings.document
    if text is not None:
        if _is_document(text):
            return text.encode("utf-8", "surrogatepass")
        path = Path(text)
    if path is None:
        return None
    try:
        return read_regular(path, MAX_JSON)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "its name holds a NUL character"
        raise Misconfigured(f"the document {show(path.name)} cannot be read: {why}") from None


def _is_document(text: str) -> bool:
    """Whether it is a document itself and not the path of one: YAML takes several lines, and JSON begins with a brace."""
    return "\n" in text or text.lstrip()[:1] in ("{", "[", '"', "")


def _is_known(media_type: str, known: Sequence[str]) -> bool:
    return any(name in (media_type, f"{media_type.split('/', 1)[0]}/*", "*/*") for name in known)
