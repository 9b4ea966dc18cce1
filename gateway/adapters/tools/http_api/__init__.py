"""HTTP APIs as a source of tools: calls that the operator declares, and the operations of an OpenAPI document.

settings     what the operator says: base URL, headers, document, calls
documents    bytes of a document as JSON, within bounds, and its frame checked by `openapi-pydantic`
references   `$ref` inside the document, never beyond it
dialect      its schemas as JSON Schema 2020-12, closed in themselves
reading      its operations, and what of them cannot be offered, by name
operations   one operation: where each argument goes
requests     the request of one call: what is shown is what is sent
sending      the request on its way through the egress guard, and what comes back
answers      what came back as a result
driver       all of it as a SourceDriver
"""
