"""Everything that was asked for, one row each, in our own words; and for what no test names, the reason why.

`test_requirements.py` holds it both ways: a row without a reason is claimed by at least one test, a row with one by none. A row
that is kept only in part has its claims and says what is missing. The first three digits say which source a row comes from: 000
an agent on the command line, 001 a planner for models on the device, 002 language models and the agent runtime of an operating
system, 003 a synthetic `respond` tool, 004 loops for small local models.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Requirement(NamedTuple):
    """One row. `untested` is why no test claims it; None where tests do. `partly` is what is missing beside what they claim."""

    id: str
    says: str
    untested: str | None = None
    partly: str | None = None


MEASURED: Final = "documentation: docs/MODELS.md tells what `make eval` measures, and does not name the worst limits yet"
DIRECT: Final = "comes with providers that a browser may reach directly; until then there is no such way"
SCOPE: Final = "says what belongs to the subject; what is built of it has rows of its own"
LIMIT: Final = "a limit that its source states; docs/LIMITATIONS.md tells it, and nothing runs"
PHASE: Final = "a stage of its source's plan; its parts have rows of their own"

REQUIREMENTS: Final = (
    # ── 000: an agent on the command line ──
    Requirement("000-01", "`agent MODEL --tools tools.json` runs any model file, catalogue name or provider"),
    Requirement(
        "000-02",
        "A model proposes JSON, the host executes it, the result goes into the same conversation",
        partly="the lane of small models never shows a result to the prompt that picks the next call",
    ),
    Requirement("000-03", "The system prompt lists the tools and pins the allowed JSON shapes, one call at a time"),
    Requirement("000-04", "Two shapes are valid: a tool with arguments, or an answer"),
    Requirement("000-05", "Generation stops at the first complete object, aware of strings and escapes"),
    Requirement("000-06", "Text of neither shape is logged and answered calmly"),
    Requirement(
        "000-07",
        "At most 8 rounds a turn and 256 tokens a step, unless told otherwise",
        partly="the lane of native tools allows 1024 tokens a step by default",
    ),
    Requirement("000-08", "Objects inside an answer's string and text after the object are tolerated"),
    Requirement("000-09", "Template markers inside untrusted content are never read as roles"),
    Requirement("000-10", "The prompt only grows at its end, so that caches hit"),
    Requirement("000-11", "A saved prompt cache is keyed by everything that went into it"),
    Requirement("000-12", "A later launch says that it loaded the cache and skipped the prefill"),
    Requirement("000-13", "Logits are not stored; the last token is evaluated again", "what the model server does inside itself"),
    Requirement("000-14", "Cache memory may be allocated ahead", "what the model server does inside itself"),
    Requirement("000-15", "At the context limit the person is warned and nothing is dropped silently"),
    Requirement("000-16", "A window that slides over old turns is left for later", LIMIT),
    Requirement("000-17", "Tool files come in both common shapes"),
    Requirement(
        "000-18",
        "Tool names are identifiers; other systems' names are mapped",
        partly="no source with names of another form exists, so nothing is mapped yet",
    ),
    Requirement("000-19", "The description stands in the prompt beside the signature"),
    Requirement("000-20", "Parameters are JSON Schema, checked in full and passed on untouched"),
    Requirement("000-21", "A subprocess tool names its command and the order of its arguments"),
    Requirement(
        "000-22",
        "A tool renders the same in every launch: required first, then optional by name",
        partly="optional arguments and types are not shown",
    ),
    Requirement("000-23", "Arguments reach the shell as variables, never as part of the command"),
    Requirement("000-24", "Values are quoted and argument names are identifiers"),
    Requirement("000-25", "A child sees PATH, HOME and LANG only"),
    Requirement("000-26", "A tool has 30 seconds, then a request to end, then no choice"),
    Requirement("000-27", "Output is capped at 8 KB with a marker that says how much is missing"),
    Requirement("000-28", "How long a tool ran is recorded"),
    Requirement("000-29", "Schemas, prompts and models are threats of their own, each with its mitigation"),
    Requirement("000-30", "The person may be asked before each call"),
    Requirement("000-31", "A runtime alone is no sandbox"),
    Requirement("000-32", "An agent gets no more tools than it needs"),
    Requirement("000-33", "One question, or a conversation at a prompt"),
    Requirement("000-34", "Events can be printed as one JSON object a line"),
    Requirement("000-35", "A transcript holds every call and every result"),
    Requirement("000-36", "Trajectories carry the tokens that were really generated"),
    Requirement(
        "000-37",
        "A small set of tools to try it with",
        partly="run_test is never run by a test, and the debugger's four steps have none",
    ),
    Requirement("000-38", "A model that talks nonsense ends in a clean fallback"),
    Requirement("000-39", "The documentation says what small models cannot do, with numbers", MEASURED),
    Requirement("000-40", "Next steps lie in training data and evaluation"),
    # ── 001: a planner for models on the device ──
    Requirement("001-01", "Remote and local lanes run independently, with no fallback between them"),
    Requirement("001-02", "Resilience for small models stays inside their planner"),
    Requirement("001-03", "No bundled runtime, no routing", LIMIT),
    Requirement(
        "001-03a",
        "The planner fits the seam that planners have, in both languages",
        partly="no part of the product uses the planner yet",
    ),
    Requirement("001-04", "A function that generates text is all that it needs"),
    Requirement("001-05", "Options have the stated defaults"),
    Requirement("001-06", "The action vocabulary has a default part and an opt-in part"),
    Requirement("001-07", "Planning streams, and falls back to waiting"),
    Requirement("001-08", "The prompt is rendered from role, tools and a terse transcript"),
    Requirement("001-09", "Over budget, the oldest goes first and the essentials never"),
    Requirement("001-10", "Parsing strips fences and prose and checks each action's fields"),
    Requirement("001-11", "A bad reply is answered with one strict sentence, a bounded number of times"),
    Requirement("001-12", "Repairs are the planner's own affair; then it fails as any planner fails"),
    Requirement("001-13", "Both languages behave alike"),
    Requirement("001-14", "Both are covered in full by their own tests"),
    Requirement("001-15", "Scripted generators cover every kind of reply"),
    Requirement("001-16", "Lanes may share a memory", partly="a memory is passed through; there is no manager of memories"),
    Requirement("001-17", "Grammars, batches and token-aware compaction are left for later", LIMIT),
    # ── 002: language models and the agent runtime ──
    Requirement(
        "002-01",
        "A model is a service without session, secrets, tools or inbound network",
    ),
    Requirement("002-02", "Prompts and outputs are data; free text is never a command"),
    Requirement("002-03", "Tool calls are proposals that somebody trusted executes, asks about or refuses"),
    Requirement("002-04", "Permission stands on each tool's descriptor; there is no approval of plans"),
    Requirement("002-05", "Administration of models is an interface apart from their use"),
    Requirement("002-06", "Model backends are exchangeable and callers cannot tell"),
    Requirement("002-07", "Weights are shared and read-only", partly="no test sees that one server maps one file for everybody"),
    Requirement("002-08", "Policy lives in one place: who gets which tools, in which modes, and how much"),
    Requirement("002-09", "A person's interrupt beats the model: the call ends, or its result is withheld"),
    Requirement("002-10", "A browser agent is a user interface with revocable, short-lived credentials"),
    Requirement("002-11", "Every executed call is on record, written by the gateway and not by the model"),
    Requirement("002-12", "Chat, tools, embeddings and a built-in local model are in scope", SCOPE),
    Requirement("002-13", "Training, voice, swarms and federated inference are out of scope", LIMIT),
    Requirement(
        "002-14",
        "A turn in seven steps, from message to audited calls",
        partly="the lane of small models never shows a result to the prompt that picks the next call",
    ),
    Requirement("002-15", "The same turn when a browser runs the loop and the gateway the tools"),
    Requirement("002-16", "Stale, unknown, mismatched, replayed and unproven requests are refused"),
    Requirement("002-17", "What a browser sends is untrusted even from the intended page"),
    Requirement("002-18", "Tokens stream, and calls are shown as what they are"),
    Requirement("002-19", "An interrupt cancels inference or the call under way"),
    Requirement("002-20", "Reading runs by itself, writing asks, destroying takes a step-up or is forbidden"),
    Requirement("002-21", "Near the context limit a second completion compacts old turns"),
    Requirement(
        "002-22",
        "A conversation can be kept, resumed, forked and compared",
        partly="no page forks or compares, and the terminal cannot resume",
    ),
    Requirement("002-23", "Direct commands bypass the model", partly="the terminal knows :quit only"),
    Requirement("002-24", "An agent of its own shares the way to sign in"),
    Requirement("002-25", "Descriptors are made from the tools' own signatures"),
    Requirement("002-26", "JSON messages over a WebSocket mirror the shapes of the design"),
    Requirement("002-27", "Provider credentials are short-lived and only where policy allows"),
    Requirement("002-28", "A snapshot is bound to session, conversation, turn, connection and expiry"),
    Requirement("002-29", "Only the server side's session authority executes anything"),
    Requirement("002-30", "Three tiers of consent, enforced by the server"),
    Requirement("002-31", "Results are redacted and cut as the tool's policy says"),
    Requirement(
        "002-32",
        "Logout, timeout, a lost tab, a lower session and a new policy end what was granted",
    ),
    Requirement("002-33", "A mutating call needs a fresh server-side challenge over exactly that call"),
    Requirement("002-34", "The browser shows the gateway's own prompts and takes its denials as final"),
    Requirement("002-34a", "The browser holds no capability and no long-lived credential"),
    Requirement("002-35", "Untrusted input keeps its role and provenance and never enters a system prompt"),
    Requirement("002-36", "No code reads free text as a request for authority"),
    Requirement("002-37", "Where a browser reaches the network, prompts are treated as exposed", DIRECT),
    Requirement("002-38", "The shape of a chat message"),
    Requirement("002-39", "The shape of a tool descriptor", partly="the model is not shown what a tool's permission is"),
    Requirement("002-40", "The four permission modes"),
    Requirement("002-41", "The shape of a tool call"),
    Requirement("002-42", "The shape of a tool result"),
    Requirement("002-43", "The nine outcomes"),
    Requirement(
        "002-44",
        "The shape of an inference request and its answer",
        partly="no answer is checked against a response schema",
    ),
    Requirement("002-45", "A model completes, streams and stops when told"),
    Requirement("002-46", "A model embeds texts", partly="for `semantic_search`; no session gets a token for it"),
    Requirement("002-47", "A model is known by the digest of its weights and its architecture"),
    Requirement("002-48", "A catalogue lists and opens models; loading them is not for sessions"),
    Requirement("002-49", "The proxy describes tools, invokes them and cancels turns"),
    Requirement("002-50", "No capability arguments, no tools run by models, no dispatcher of plans"),
    Requirement("002-51", "A model switched within a run is a new client of the broker"),
    Requirement("002-52", "The tool table is rebuilt after every change of authority"),
    Requirement("002-53", "A tool can be suppressed, and then looks like none", partly="per profile, not per conversation"),
    Requirement(
        "002-54",
        "A turn's states, with calls one at a time and every denial fed back",
        partly="the lane of small models never shows a result to the prompt that picks the next call",
    ),
    Requirement("002-55", "Limits per tool, per turn and per session"),
    Requirement("002-56", "A conversation's state is messages, model, descriptors of each turn and the record"),
    Requirement("002-57", "It works offline, with a model that is on the machine"),
    Requirement(
        "002-58", "The built-in model has one to three billion parameters", "the catalogue names smaller ones, as measured"
    ),
    Requirement(
        "002-59",
        "The built-in model was trained for tools, with 4 to 8 thousand tokens of context",
        partly="those that were trained for tools are fetched by name; the default was chosen by its calls as measured",
    ),
    Requirement(
        "002-60",
        "Weights are checked against a digest before they are used",
        partly="a pinned digest is checked, nobody's signature",
    ),
    Requirement("002-61", "A model file is checked, registered and opened on demand"),
    Requirement("002-62", "A model server has one backend and nothing but its socket"),
    Requirement(
        "002-63",
        "A remote provider is one endpoint, and its key is shown to nobody",
        partly="no policy can demand that what goes to a provider be logged whole",
    ),
    Requirement("002-64", "Declared tools match the turn's descriptors, and a turn's token is for one model and one turn"),
    Requirement("002-65", "Operators and guests get models as their profile says, strangers none"),
    Requirement("002-66", "Remote models take an operator's step-up", "profiles say who may; a step-up for it comes with opt-in"),
    Requirement(
        "002-67",
        "Rates and quotas per session and per person",
        partly="no rates; model tokens are counted per session only and forgotten at a restart",
    ),
    Requirement("002-68", "The permission map per tool is the main knob"),
    Requirement("002-69", "A policy of what may leave towards which provider", DIRECT),
    Requirement(
        "002-70",
        "High labels rule out what would carry them away",
    ),
    Requirement(
        "002-71",
        "The broker's decisions are on record with their reasons",
    ),
    Requirement(
        "002-72",
        "An audit record names session, person, turn, call, model, descriptor, arguments and outcome",
    ),
    Requirement("002-73", "Messages are on record by role, length and digest"),
    Requirement(
        "002-74",
        "The record alone answers what was done last week, by which model, with which tools in sight",
        partly="no filter by time",
    ),
    Requirement("002-75", "Prompts, pages, tool output, model and browser are hostile"),
    Requirement("002-76", "The host, the gateway, its policy and its loader are trusted", LIMIT),
    Requirement("002-77", "Side channels, backdoors and jailbreaks are out", LIMIT),
    Requirement("002-78", "Workloads to show it with", partly="no character of a game and no first set-up is among them"),
    Requirement("002-79", "A scripted model exercises every mode without a real one"),
    Requirement("002-80", "One engine and one tool-capable model make a first real loop"),
    Requirement("002-81", "Streaming, compaction, consent, audit and the proxy for browsers", PHASE),
    Requirement("002-82", "Graphics cards, a remote provider and direct mode", PHASE),
    Requirement("002-83", "Response schemas, retrieval, replay of audits and step-up", PHASE),
    Requirement("002-84", "The gateway's transport is authenticated, with sessions tracked on the server"),
    Requirement("002-85", "What the design does not want to be", LIMIT),
    Requirement(
        "002-86",
        "Nine questions that the source leaves open",
        "questions and no demands; what was decided on them has rows of its own",
    ),
    # ── 003: a synthetic respond tool ──
    Requirement("003-01", "Small models emit bare text in the middle of a loop"),
    Requirement("003-02", "`respond(message)` is offered inside the loop and invisible outside it"),
    Requirement("003-03", "It is left out without tools or where a tool has its name, and no list is changed"),
    Requirement("003-04", "Every lane of inference has it", partly="the JSON lane accepts it and never offers it"),
    Requirement("003-05", "Its unwrapping has a fixed order of events"),
    Requirement("003-06", "Malformed and empty messages end cleanly, and nothing is executed"),
    Requirement("003-07", "Prose that only plans is nudged, three times at most"),
    Requirement("003-08", "Without tools, or with real calls, nothing changes"),
    Requirement("003-09", "Leaving early still reports usage"),
    Requirement("003-10", "Entries are checked for their type, and sources of tools are merged"),
    Requirement("003-11", "Its own list of tests"),
    Requirement("003-12", "Its origin is attributed"),
    # ── 004: loops for small local models ──
    Requirement("004-01", "One sentence may ask for several actions"),
    Requirement("004-02", "One runner owns the invariants, whatever the runtime"),
    Requirement("004-03", "Each step is normalised, dispatched, focused, emitted and summarised"),
    Requirement("004-04", "Eight steps at most, then calm words"),
    Requirement("004-05", "Work that is done is never done again"),
    Requirement("004-06", "One path of dispatch and one copy of failure for all"),
    Requirement("004-07", "A typed focus carries the first step into the second"),
    Requirement("004-08", "No step at first means rephrase; no step later keeps the work"),
    Requirement(
        "004-09",
        "Completed actions stand in the next prompt as bounded summaries",
        partly="a model names its next action or answers; there is no field more that announces one",
    ),
    Requirement("004-10", "A failure to parse is safe words at first and an end later"),
    Requirement("004-11", "The size of a schema is a budget"),
    Requirement("004-12", "Further actions are probed for only where words hint at them"),
    Requirement("004-13", "Only plausible tools are shown in a turn", partly="only above sixteen tools"),
    Requirement("004-14", "Days are those of the person's zone"),
    Requirement("004-15", "Enrichment fills only what is empty"),
    Requirement("004-16", "An amount is what looks like money"),
    Requirement(
        "004-17",
        "Readiness is about the model that is meant, with its own template flags",
    ),
    Requirement("004-18", "The catalogue chooses the best tool caller that may be used and fits"),
    Requirement("004-19", "The loop's invariants are evaluated"),
    Requirement("004-20", "Cancellation, memory, zones and templates are the runtime's concern"),
    Requirement("004-21", "Native protocols and deep memory are open", LIMIT),
)
