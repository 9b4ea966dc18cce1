import type { CallFilter } from "../../protocol/generated.ts";

/** Every address of the console, built and read in one place. */
export const paths = {
  home: "/",
  enrol: "/enrol",
  device: "/device",
  signIn: "/signin",
  authorize: "/authorize",
  connect: "/connect",
  approvals: "/approvals",
  approval: (id: string) => `/approvals/${encodeURIComponent(id)}`,
  grants: "/grants",
  clients: "/clients",
  passkeys: "/passkeys",
  backup: "/backup",
  settings: "/settings",
  people: "/people",
  sources: "/sources",
  source: (name: string) => `/sources/${encodeURIComponent(name)}`,
  policy: "/policy",
  policyEditor: "/policy/editor",
  policyExplain: "/policy/explain",
  explainCall: (conversationId: string, callId: string) =>
    `/policy/explain?${new URLSearchParams({ conversation: conversationId, call: callId })}`,
  audit: "/audit",
  auditCall: (position: number) => `/audit/calls/${position}`,
  auditCompare: "/audit/compare",
  compare: (first: string, second = "") =>
    `/audit/compare?${new URLSearchParams({ first, ...(second !== "" && { second }) })}`,
  auditLoad: "/audit/load",
  auditModels: "/audit/models",
  auditRecords: "/audit/records",
  receipt: (conversationId: string, callId: string) =>
    `/receipt?${new URLSearchParams({ conversation: conversationId, call: callId })}`,
  export: (format: string, filter: CallFilter) => `/export?${new URLSearchParams({ format, ...filter })}`,
  auditOf: (conversationId: string) => `/audit?range=400d&conversation=${encodeURIComponent(conversationId)}`,
  verifier: "/verifier",
} as const;

/** The sign-in page that comes back to `next` afterwards. */
export function signInThen(next: string): string {
  return next === paths.home ? paths.signIn : `${paths.signIn}?next=${encodeURIComponent(next)}`;
}

/**
 * Where to go after signing in: an address of this console or its home page. What is asked for may come from a link that
 * somebody else made, so anything that a browser could read as another host counts as home (docs/SECURITY.md case 45).
 */
export function destination(search: string, origin: string): string {
  const next = new URLSearchParams(search).get("next");
  if (next === null || !next.startsWith("/")) return paths.home;
  const url = new URL(next, origin);
  return url.origin === origin && url.pathname !== paths.signIn ? url.pathname + url.search : paths.home;
}

/** Whether a destination is the page that gives the shell a session. */
export function leadsToShell(next: string): boolean {
  return next.split("?")[0] === paths.authorize;
}

/** The one-time token of an enrolment link, or of one for a further device. It stands behind `#`, so it reaches no log of any server. */
export function enrolmentToken(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("t") || null;
}
