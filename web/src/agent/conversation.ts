import type {
  Approval,
  ApprovalStatus,
  CallView,
  Outcome,
  StoredMessage,
  ToolCall,
  ToolDescriptor,
} from "../protocol/generated.ts";
import { copy, nameTheRest } from "./copy.ts";
import type { AgentEvent, Panel } from "./events.ts";
import { CANCELLED, join, type Observation, UNHEARD } from "./messages.ts";

/** Where a call stands on the screen. */
export type CallPhase = "proposed" | "waiting" | "running" | "closed";

/** How far a call says that it is, and the last of what it has said so far: all that there is of it if it is cancelled. */
export interface CallProgress {
  readonly lines: readonly string[];
  readonly fraction?: number;
}

/** Lines of a running call that are kept. */
const LINES_KEPT = 100;

/** A call as it is shown. Everything is keyed by its id: two calls of one tool are two cards. */
export interface CallCard {
  readonly call: ToolCall;
  readonly turnId: string;
  readonly tool?: ToolDescriptor;
  readonly phase: CallPhase;
  readonly approvalId?: string;
  /** It was made in the conversation that this one was copied from. How it ended stands on record there, and not here. */
  readonly copied?: true;
  readonly approval?: Approval;
  /** What became of the question, where there was one. The result of a step of a plan comes only when those before it have theirs. */
  readonly decided?: ApprovalStatus;
  readonly progress?: CallProgress;
  readonly result?: Observation;
}

/** One thing in the log, top to bottom. `key` never changes while it is on the screen. */
export type Entry =
  | {
      readonly key: string;
      readonly kind: "user";
      readonly text: string;
      readonly turnId: string;
      /** Said while the turn was under way, between two of its steps. */
      readonly steered: boolean;
      /** Taken from a file: somebody else may have written it. */
      readonly imported?: true;
    }
  | {
      readonly key: string;
      readonly kind: "assistant";
      readonly text: string;
      readonly stopped: boolean;
      readonly imported?: true;
    }
  | { readonly key: string; readonly kind: "call"; readonly callId: string }
  | { readonly key: string; readonly kind: "panel"; readonly panel: Panel }
  | {
      readonly key: string;
      readonly kind: "notice";
      readonly tone: "info" | "waiting" | "danger";
      readonly text: string;
    };

/** What goes on right now. */
export type Activity =
  | { readonly kind: "idle" }
  | { readonly kind: "thinking" }
  /** The model is not ready; `state` is the gateway's word for why. */
  | { readonly kind: "modelAwaited"; readonly state: string | undefined }
  | { readonly kind: "streaming" }
  | { readonly kind: "calling"; readonly callId: string };

export interface Gauge {
  readonly used: number;
  readonly limit: number;
  readonly exact: boolean;
}

/** The actions of a message that asks for several, and which of them is under way. */
export interface Course {
  /** Null where the model says only whether another one follows. */
  readonly actions: readonly string[] | null;
  readonly index: number;
  /** Which of those behind it came to nothing: refused, failed, or never made into a call that fits. */
  readonly undone: readonly number[];
}

export interface Conversation {
  readonly entries: readonly Entry[];
  readonly calls: Readonly<Record<string, CallCard>>;
  readonly tools: readonly ToolDescriptor[];
  /** Every turn there was, oldest first: a branch begins at one of them. */
  readonly turnIds: readonly string[];
  readonly turnId: string | null;
  readonly activity: Activity;
  readonly course: Course | null;
  /** The answer as it comes in. */
  readonly streaming: string;
  readonly gauge: Gauge | null;
  /** Counts entries ever made, for their keys. */
  readonly made: number;
}

export const emptyConversation: Conversation = {
  entries: [],
  calls: {},
  tools: [],
  turnIds: [],
  turnId: null,
  activity: { kind: "idle" },
  course: null,
  streaming: "",
  gauge: null,
  made: 0,
};

/** A stored conversation as a page shows it after a reload: words, results, and the calls that are still under way. */
export function restore(
  stored: readonly StoredMessage[],
  views: readonly CallView[],
  openTurnId: string | null,
): Conversation {
  let state: Conversation = { ...emptyConversation, turnIds: [...new Set(stored.map(({ turnId }) => turnId))] };
  const shown = new Set<string>();
  const begun = new Set<string>();
  const recorded = new Set(views.map(({ call }) => call.id));
  for (const message of join(stored, views)) {
    const source = message.imported && { imported: true as const };
    if (message.role === "user") {
      const { content: text, turnId } = message;
      state = add(state, { kind: "user", text, turnId, steered: begun.has(turnId), ...source });
      begun.add(turnId);
    }
    if (message.role === "assistant") {
      state = addAnswer(state, message.content, false, source);
      for (const call of message.toolCalls) state = addCall(state, { call, turnId: message.turnId, phase: "proposed" });
      for (const call of message.toolCalls) shown.add(call.id);
    }
    if (message.role === "tool") {
      const { call, turnId, result } = message;
      const copied = !recorded.has(call.id) && ({ copied: true } as const);
      const card = { call, turnId, phase: "closed", result, ...copied } as const;
      state = shown.has(message.call.id) ? change(state, message.call.id, card) : addCall(state, card);
      shown.add(message.call.id);
    }
  }
  for (const view of views) {
    if (view.state === "closed") continue;
    const card: CallCard = {
      call: view.call,
      turnId: view.turnId,
      phase: view.state === "running" ? "running" : "waiting",
      ...(view.approvalId && { approvalId: view.approvalId }),
      ...(view.approval && { approval: view.approval }),
    };
    state = shown.has(view.call.id) ? change(state, view.call.id, card) : addCall(state, card);
  }
  // What an earlier page proposed and never sent in a turn that is over will not run any more.
  return cancel(state, (card) => card.phase === "proposed" && card.turnId !== openTurnId);
}

/** What the screen shows after something happened. */
export function advance(state: Conversation, event: AgentEvent): Conversation {
  switch (event.type) {
    case "turn:begun":
      return {
        // A new turn ends the one before, and with it whatever still waited there.
        ...add(
          cancel(state, () => true),
          { kind: "user", text: event.text, turnId: event.turnId, steered: false },
        ),
        turnIds: [...state.turnIds, event.turnId],
        turnId: event.turnId,
        tools: event.tools,
        activity: { kind: "thinking" },
        course: null,
      };
    case "turn:resumed":
      return { ...state, turnId: event.turnId, tools: event.tools, activity: { kind: "thinking" } };
    case "turn:steered":
      return add(state, { kind: "user", text: event.text, turnId: state.turnId ?? "", steered: true });
    case "turn:ended":
      return endTurn(state, event.ending === "stopped");
    case "actions:split":
      return { ...state, course: { actions: event.actions, index: 0, undone: [] } };
    case "action:begun":
      return { ...state, course: courseAt(state, event.index) };
    case "model:asked":
      return { ...state, activity: { kind: "thinking" } };
    case "model:waited-for":
      return { ...state, activity: { kind: "modelAwaited", state: event.state } };
    case "text:streamed":
      return { ...state, streaming: state.streaming + event.delta, activity: { kind: "streaming" } };
    case "text:discarded":
      return { ...state, streaming: "" };
    case "assistant:said":
      return { ...addAnswer(state, event.content, event.stopped), streaming: "" };
    case "call:proposed":
      return addCall(state, {
        call: event.call,
        turnId: state.turnId ?? "",
        phase: "proposed",
        ...(event.tool && { tool: event.tool }),
      });
    case "call:sent":
      return {
        ...change(state, event.callId, (card) => (card.phase === "proposed" ? { phase: "running" } : {})),
        activity: { kind: "calling", callId: event.callId },
      };
    case "call:progressed": {
      return change(state, event.callId, (card) =>
        card.phase === "closed" ? {} : { phase: "running", progress: progressed(card.progress, event) },
      );
    }
    case "call:closed":
      return change(state, event.callId, (card) => ({ phase: "closed", result: asHeard(card, event.result) }));
    case "approval:requested": {
      const { approval } = event;
      if (state.calls[approval.callId] === undefined) return state;
      return change(state, approval.callId, (card) =>
        card.phase === "closed" ? {} : { phase: "waiting", approval, approvalId: approval.id },
      );
    }
    case "approval:changed": {
      const { approval } = event;
      return change(state, approval.callId, (card) => (card.phase === "waiting" ? { approval } : {}));
    }
    case "approval:resolved":
      return change(state, event.callId, (card) => resolved(card, event.status));
    case "tokens:counted":
      return { ...state, gauge: { used: event.used, limit: event.limit, exact: event.exact } };
    case "context:condensed":
      return addNotice(state, "info", copy.summarised);
    case "context:filled":
      return addNotice(state, "waiting", copy.full);
    case "context:trimmed":
      return addNotice(state, "info", event.droppedTurns > 0 ? copy.olderLeftOut : copy.resultCut);
    case "panel:shown":
      return add(state, { kind: "panel", panel: event.panel });
    case "notice:raised":
      return addNotice(state, event.tone, event.text);
  }
}

/** A line that says the same as the one before only moves the fraction, and one without a word says nothing. */
function progressed(
  before: CallProgress | undefined,
  { message, fraction }: { readonly message: string; readonly fraction?: number },
): CallProgress {
  const lines = before?.lines ?? [];
  const isNew = message.trim() !== "" && message !== lines.at(-1);
  return {
    lines: isNew ? [...lines, message].slice(-LINES_KEPT) : lines,
    ...(fraction !== undefined && { fraction }),
  };
}

/** The calls that wait for a person, oldest first. */
export function waitingCalls(state: Conversation): CallCard[] {
  return Object.values(state.calls).filter((card) => card.phase === "waiting");
}

type NewEntry = Entry extends infer E ? (E extends Entry ? Omit<E, "key"> : never) : never;

function add(state: Conversation, entry: NewEntry): Conversation {
  const made = state.made + 1;
  return { ...state, made, entries: [...state.entries, { ...entry, key: `e${made}` } as Entry] };
}

function addAnswer(
  state: Conversation,
  text: string,
  stopped: boolean,
  source?: { readonly imported: true },
): Conversation {
  return text.trim() === "" ? state : add(state, { kind: "assistant", text, stopped, ...source });
}

/** Says a thing once; the same notice twice in a row is noise. */
function addNotice(state: Conversation, tone: "info" | "waiting" | "danger", text: string): Conversation {
  const last = state.entries.findLast((entry) => entry.kind === "notice");
  const repeated = last?.text === text && (last === state.entries.at(-1) || tone !== "danger");
  return repeated ? state : add(state, { kind: "notice", tone, text });
}

function addCall(state: Conversation, card: CallCard): Conversation {
  const { id } = card.call;
  return { ...add(state, { kind: "call", callId: id }), calls: { ...state.calls, [id]: card } };
}

function change(
  state: Conversation,
  callId: string,
  to: Partial<CallCard> | ((card: CallCard) => Partial<CallCard>),
): Conversation {
  const card = state.calls[callId];
  if (card === undefined) return state;
  const changed = { ...card, ...(typeof to === "function" ? to(card) : to) };
  return { ...state, calls: { ...state.calls, [callId]: changed } };
}

/** Nothing of a finished turn may look as if it still ran. What was proposed and never sent did not happen. */
function endTurn(state: Conversation, stopped: boolean): Conversation {
  const isOver = (card: CallCard) => card.turnId === state.turnId && (stopped || card.phase === "proposed");
  const said = stopped ? sayStopped(state) : state;
  return { ...cancel(said, isOver), turnId: null, activity: { kind: "idle" }, course: null, streaming: "" };
}

/** What a stop leaves: a page that only fell silent would look as if all that was asked for were done. */
function sayStopped(state: Conversation): Conversation {
  const { course, entries } = state;
  const last = entries.at(-1);
  const isDone = course !== null && outcomesIn(state)[course.index] === "ok";
  const rest = course?.actions?.slice(isDone ? course.index + 1 : course.index) ?? [];
  if (rest.length > 0) return addNotice(state, "info", `${copy.stopped}\n\n${nameTheRest(rest)}`);
  return last?.kind === "assistant" && last.stopped ? state : addNotice(state, "info", copy.stopped);
}

function courseAt(state: Conversation, index: number): Course {
  const undone = outcomesIn(state)
    .slice(0, index)
    .flatMap((outcome, place) => (outcome === null || outcome === "ok" ? [] : [place]));
  return { actions: state.course?.actions ?? null, index, undone };
}

/** What the last call of each action of the turn came to, null where there was none. Words end an action. */
function outcomesIn({ entries, calls }: Conversation): (Outcome | null)[] {
  const outcomes: (Outcome | null)[] = [null];
  for (const entry of entries.slice(entries.findLastIndex((each) => each.kind === "user" && !each.steered))) {
    if (entry.kind === "call") outcomes[outcomes.length - 1] = calls[entry.callId]?.result?.outcome ?? null;
    if (entry.kind === "assistant") outcomes.push(null);
  }
  return outcomes;
}

/** Close the cards of calls that the gateway has cancelled, or that it never heard of. */
function cancel(state: Conversation, isOver: (card: CallCard) => boolean): Conversation {
  const calls = Object.fromEntries(
    Object.entries(state.calls).map(([id, card]): [string, CallCard] => [
      id,
      card.phase !== "closed" && isOver(card)
        ? { ...card, phase: "closed", result: card.phase === "proposed" ? CANCELLED : asHeard(card, UNHEARD) }
        : card,
    ]),
  );
  return { ...state, calls };
}

/** What an answer to its question means for a call. One that was approved in the moment of its end may have begun after all. */
function resolved(card: CallCard, decided: ApprovalStatus): Partial<CallCard> {
  if (card.phase === "waiting") return { phase: "running", decided };
  return card.result === CANCELLED && decided === "approved" ? { result: UNHEARD } : {};
}

/** A result as far as it is known here: a call that nobody had approved did not run, whether its answer was waited for or not. */
function asHeard({ phase, decided }: CallCard, result: Observation): Observation {
  const isUndecided = phase === "waiting" || (decided !== undefined && decided !== "approved");
  return result === UNHEARD && isUndecided ? CANCELLED : result;
}
