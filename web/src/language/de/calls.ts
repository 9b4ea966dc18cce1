import type { Outcome, Reason } from "../../protocol/generated.ts";

/** What became of a call, by the reason that the gateway gave. `{why}` are the gateway's or the tool's own words. */
const reasons: Readonly<Record<Reason, string>> = {
  replayConflict: "{tool} lief nicht: Die Nummer des Aufrufs war schon für etwas anderes benutzt.",
  turnClosed: "{tool} lief nicht: Der Durchgang ist vorbei. Bitte fragen Sie noch einmal.",
  staleSnapshot: "{tool} lief nicht: Die Liste der Werkzeuge war veraltet. Bitte fragen Sie noch einmal.",
  snapshotExpired: "{tool} lief nicht: Die Liste der Werkzeuge war abgelaufen. Bitte fragen Sie noch einmal.",
  wrongConnection: "{tool} lief nicht: Der Durchgang gehört zu einer anderen Verbindung.",
  notAdvertised: "{tool} gehört nicht zu den Werkzeugen dieses Durchgangs.",
  policyChanged: "Die Richtlinie hat sich inzwischen geändert, darum lief {tool} nicht. Bitte fragen Sie noch einmal.",
  policyFrozen: "{tool} lief nicht: Zurzeit ist alles eingefroren.",
  schema: "{tool} lief nicht: Die Argumente passen nicht{why}",
  quotaExceeded: "{tool} lief nicht: Es waren zu viele Aufrufe.",
  forbidden: "Die Richtlinie erlaubt {tool} hier nicht.",
  denied: "Sie haben nein gesagt, darum lief {tool} nicht.",
  approvalExpired: "Niemand hat {tool} rechtzeitig freigegeben, darum lief es nicht.",
  assertionInvalid: "Der Passkey hat {tool} nicht bestätigt, darum lief es nicht.",
  noCredential: "Kein Passkey darf {tool} bestätigen, darum lief es nicht.",
  sessionEnded: "{tool} wurde abgebrochen, weil der Durchgang oder die Sitzung zu Ende ist.",
  toolTimeout: "{tool} dauerte zu lange und wurde angehalten. Ein Teil der Arbeit kann getan sein.",
  toolError: "{tool} ist gescheitert{why}",
  sourceUnavailable: "{tool} kann gerade nicht laufen: Die Quelle ist nicht zu erreichen{why}",
  signInNeeded: "{tool} kann gerade nicht laufen: Die Quelle verlangt eine Anmeldung auf der Konsole.",
  sandboxUnavailable: "{tool} kann gerade nicht laufen: Die Sandbox fehlt{why}",
  notInOrder: "{tool} lief nicht: Es war nicht an der Reihe.",
  earlierCallFailed: "{tool} lief nicht, weil ein früherer Schritt gescheitert ist.",
  ledgerUnavailable: "{tool} lief nicht, weil es nicht aufgezeichnet werden konnte.",
  outcomeUnknown:
    "Das Gateway hielt an, während {tool} lief. Ob es gewirkt hat, ist unbekannt, und es wird nicht wiederholt. Bitte sehen Sie nach, bevor Sie noch einmal fragen.",
};

/** The same where no reason was given. */
const outcomes: Readonly<Record<Outcome, string>> = {
  ok: "{tool} ist fertig.",
  refusedByPolicy: "Die Richtlinie erlaubt {tool} hier nicht.",
  deniedByUser: "Sie haben nein gesagt, darum lief {tool} nicht.",
  stepUpFailed: "Der Passkey hat {tool} nicht bestätigt, darum lief es nicht.",
  executionError: "{tool} ist gescheitert{why}",
  timedOut: "Niemand hat {tool} rechtzeitig freigegeben, darum lief es nicht.",
  cancelled: "{tool} wurde abgebrochen{why}",
  invalidArguments: "{tool} lief nicht: Die Argumente passen nicht{why}",
  unknownTool: "Ein Werkzeug namens {tool} gibt es hier nicht.",
};

export default Object.fromEntries([
  ...Object.entries(reasons).map(([reason, text]) => [`reason:${reason}`, text]),
  ...Object.entries(outcomes).map(([outcome, text]) => [`outcome:${outcome}`, text]),
]);
