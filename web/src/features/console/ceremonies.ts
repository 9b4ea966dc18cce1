import { t } from "../../language/t.ts";
import type { Conversation } from "../../protocol/generated.ts";
import type { ConsoleEnvironment, CreationOptions, HttpReply, RequestOptions } from "./console-environment.ts";
import { CheckFailed, Refusal } from "./errors.ts";

/** How confidential what a session works with is, from the lowest up. */
export type Label = Conversation["label"];

/** The first passkey, with the token of an enrolment link. Signs in. Rejects with Refusal when the link is used or too old. */
export async function enrol(environment: ConsoleEnvironment, token: string, name: string): Promise<void> {
  const options = await post<CreationOptions>(environment, "/enrol/options", { token });
  const credential = await environment.createPasskey(options);
  await post(environment, "/enrol/verify", { token, credential, ...named(name) });
}

/** Any passkey of this console. Signs in, always under a new session id. */
export async function signIn(environment: ConsoleEnvironment): Promise<void> {
  const options = await post<RequestOptions>(environment, "/signin/options", {});
  const credential = await environment.askPasskey(options);
  await post(environment, "/signin/verify", { credential });
}

/** A further passkey. Rejects with Refusal `stepUpRequired` when the last proof with an existing one is too old. */
export async function addPasskey(environment: ConsoleEnvironment, name: string): Promise<void> {
  const options = await post<CreationOptions>(environment, "/passkeys/options", {});
  const credential = await environment.createPasskey(options);
  await post(environment, "/passkeys/verify", { credential, ...named(name) });
}

/** A link for another browser of the same person, and its QR code: for each row of modules a string of `0` and `1` (dark). */
export interface DeviceLink {
  readonly link: string;
  readonly seconds: number;
  readonly qr: readonly string[];
}

/** Makes such a link; the one before it is void. Rejects with Refusal `stepUpRequired` when the last proof is too old. */
export function offerDevice(environment: ConsoleEnvironment): Promise<DeviceLink> {
  return post<DeviceLink>(environment, "/devices/offer", {});
}

export type DeviceState = "waiting" | "opened" | "registered" | "gone";

/** What has become of the link that this session made last. */
export async function lookAtDevice(environment: ConsoleEnvironment): Promise<DeviceState> {
  return (await post<{ readonly state: DeviceState }>(environment, "/devices/look", {})).state;
}

/** Takes the link for this browser, and says whose it is. Rejects with Refusal when another browser has it, or it is too old. */
export async function openDeviceLink(environment: ConsoleEnvironment, token: string): Promise<string> {
  return (await post<CreationOptions>(environment, "/devices/options", { token })).user.name;
}

/** Registers a passkey on this device with the token of such a link. Signs in. */
export async function addDevice(environment: ConsoleEnvironment, token: string, name: string): Promise<void> {
  const options = await post<CreationOptions>(environment, "/devices/options", { token });
  const credential = await environment.createPasskey(options);
  await post(environment, "/devices/verify", { token, credential, ...named(name) });
}

/** Ends this console session and every shell session it made. */
export async function signOut(environment: ConsoleEnvironment): Promise<void> {
  await post(environment, "/signout", {});
}

/** Gives the shell a session that starts at a label; resolves to the address to go to, which is checked to be the shell's. */
export async function authorize(
  environment: ConsoleEnvironment,
  wanted: { readonly state: string; readonly label: Label },
  agentOrigin: string,
): Promise<string> {
  const { location } = await post<{ readonly location: string }>(environment, "/authorize", {
    state: wanted.state,
    label: wanted.label,
  });
  if (!URL.canParse(location) || new URL(location).origin !== agentOrigin) {
    throw new CheckFailed(t`The gateway named an address that is not the shell's, so this page did not follow it.`);
  }
  return location;
}

/** A program that wants to act for the person: what it calls itself, and where the browser goes when they have decided. */
export interface ConnectionRequest {
  readonly client: string;
  readonly destination: string;
}

/** What a request to connect says. Rejects with Refusal for one that is unknown or too old. */
export function describeConnection(environment: ConsoleEnvironment, request: string): Promise<ConnectionRequest> {
  return post<ConnectionRequest>(environment, "/connect/describe", { request });
}

/** Decides about it; resolves to the address to go to, which is checked to be the one that was shown. */
export async function decideConnection(
  environment: ConsoleEnvironment,
  request: string,
  decision: "allow" | "deny",
  destination: string,
): Promise<string> {
  const { location } = await post<{ readonly location: string }>(environment, "/connect/decide", { request, decision });
  if (!location.startsWith(`${destination}/`) && !location.startsWith(`${destination}?`)) {
    throw new CheckFailed(
      t`The gateway named another address than the one shown here, so this page did not follow it.`,
    );
  }
  return location;
}

async function post<Answer = unknown>(
  environment: ConsoleEnvironment,
  path: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const reply = await environment.post(path, body);
  if (reply.status >= 200 && reply.status < 300) return reply.body as Answer;
  throw refusalOf(reply);
}

/** An error of the gateway is `{"error": {"code", "reason"?, "message"}}`; a proxy in between may answer anything. */
function refusalOf({ status, body }: HttpReply): Refusal {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  const read = (name: string) => (typeof error[name] === "string" ? error[name] : undefined);
  return new Refusal(read("reason") ?? read("code") ?? "refused", read("message") ?? "", status);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function named(name: string): { readonly name?: string } {
  const trimmed = name.trim();
  return trimmed === "" ? {} : { name: trimmed };
}
