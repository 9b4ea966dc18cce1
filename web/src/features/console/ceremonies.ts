import { Halted, Refusal } from "./faults.ts";
import type { CreationOptions, Reply, RequestOptions, Surroundings } from "./surroundings.ts";

/** The first passkey, with the token of an enrolment link. Signs in. Rejects with Refusal when the link is used or too old. */
export async function enrol(around: Surroundings, token: string, name: string): Promise<void> {
  const options = await ask<CreationOptions>(around, "/enrol/options", { token });
  const credential = await around.createPasskey(options);
  await ask(around, "/enrol/verify", { token, credential, ...named(name) });
}

/** Any passkey of this console. Signs in, always under a new session id. */
export async function signIn(around: Surroundings): Promise<void> {
  const options = await ask<RequestOptions>(around, "/signin/options", {});
  const credential = await around.askPasskey(options);
  await ask(around, "/signin/verify", { credential });
}

/** A further passkey. Rejects with Refusal `stepUpRequired` when the last proof with an existing one is too old. */
export async function addPasskey(around: Surroundings, name: string): Promise<void> {
  const options = await ask<CreationOptions>(around, "/passkeys/options", {});
  const credential = await around.createPasskey(options);
  await ask(around, "/passkeys/verify", { credential, ...named(name) });
}

/** Ends this console session and every shell session it made. */
export async function signOut(around: Surroundings): Promise<void> {
  await ask(around, "/signout", {});
}

/** Lends a session to the shell; resolves to the address to go on to, which is checked to be the shell's. */
export async function authorize(around: Surroundings, state: string, agentOrigin: string): Promise<string> {
  const { location } = await ask<{ readonly location: string }>(around, "/authorize", { state });
  if (!URL.canParse(location) || new URL(location).origin !== agentOrigin) {
    throw new Halted("The gateway named an address that is not the shell's, so this page did not follow it.");
  }
  return location;
}

async function ask<Answer = unknown>(
  around: Surroundings,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const reply = await around.post(path, body);
  if (reply.status >= 200 && reply.status < 300) return reply.body as Answer;
  throw refusalOf(reply);
}

/** An error of the gateway is `{"error": {"code", "reason"?, "message"}}`; a proxy in between may answer anything. */
function refusalOf({ status, body }: Reply): Refusal {
  const told = isRecord(body) && isRecord(body.error) ? body.error : {};
  const word = (name: string) => (typeof told[name] === "string" ? told[name] : undefined);
  return new Refusal(word("reason") ?? word("code") ?? "refused", word("message") ?? "", status);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function named(name: string): { readonly name?: string } {
  const trimmed = name.trim();
  return trimmed === "" ? {} : { name: trimmed };
}
