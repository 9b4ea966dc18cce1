import { isObject } from "./parse.ts";

/*
 * Which call a fragment of a streamed reply belongs to.
 *
 * OpenAI numbers the calls of a reply and names each once. Others leave the number out, give every call the number 0, repeat id
 * and name with each fragment, or write arguments as an object. What counts here: an id or a whole name that is new begins a call.
 */

/** A piece of a tool call; `index` says of which. */
export interface CallDelta {
  readonly kind: "call";
  readonly index: number;
  readonly name?: string;
  readonly arguments?: string;
}

/** A call that has begun. `last` is the last character of its arguments that is no white space. */
interface OpenCall {
  readonly number: number;
  readonly id: string;
  name: string;
  last: string;
}

/** Reads the `tool_calls` of one reply, chunk after chunk. */
export class CallSorter {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byId = new Map<string, OpenCall>();

  /** The fragments of one chunk, each with the number of its call. */
  *read(fragments: readonly unknown[]): Iterable<CallDelta> {
    for (const [place, fragment] of fragments.entries())
      if (isObject(fragment)) yield this.#readOne(fragment, fragments.length > 1 ? place : null);
  }

  #readOne(fragment: Record<string, unknown>, place: number | null): CallDelta {
    const named = isObject(fragment.function) ? fragment.function : {};
    const name = textOf(named.name);
    const given = isObject(named.arguments) ? JSON.stringify(named.arguments) : textOf(named.arguments);
    const id = textOf(fragment.id);
    const index = Number.isInteger(fragment.index) ? (fragment.index as number) : null;
    const found = this.#find(index, id, place);
    const call = found === undefined || isOther(found, id, name, given) ? this.#open(index, id) : found;
    const added = name === call.name ? "" : name;
    call.name += added;
    call.last = given.trim().slice(-1) || call.last;
    return { kind: "call", index: call.number, name: added, arguments: given };
  }

  #find(index: number | null, id: string, place: number | null): OpenCall | undefined {
    if (index !== null) return this.#byIndex.get(index);
    // Without any number, fragments that come together are told apart by their place.
    return this.#byId.get(id) ?? this.#calls.at(place ?? -1);
  }

  #open(index: number | null, id: string): OpenCall {
    const call: OpenCall = { number: this.#calls.length, id, name: "", last: "" };
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    if (id !== "") this.#byId.set(id, call);
    return call;
  }
}

/** Whether a fragment begins another call. One without a name continues, whatever id it has: some give each a new one. */
function isOther(call: OpenCall, id: string, name: string, given: string): boolean {
  if (name === "") return false;
  if (id !== "" && call.id !== "") return id !== call.id;
  const beginsAnew = call.last === "}" && given.trim().startsWith("{");
  return beginsAnew || (call.last !== "" && name !== call.name);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
