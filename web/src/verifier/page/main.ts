/** The page: a file is chosen or dropped, checked piece by piece, and each part of the check is shown with how it came out. */

import "./page.css";
import { readCertificates } from "../certificates.ts";
import { isJsonObject, type Json, type JsonObject, Malformed } from "../json.ts";
import type { CheckProgress } from "../lines.ts";
import { RECEIPT_LIMIT } from "../receipt.ts";
import type { CheckedPart, Kept, Verdict } from "../verdict.ts";
import { checkFile } from "../verify.ts";
import { readNewest } from "./newest.ts";
import { sentenceOf } from "./sentences.ts";
import { recordPlace, shown, shownJson } from "./shown.ts";
import { pageLanguage, say, sayFault, sayOf, translatePage } from "./words.ts";

const STANDINGS: Readonly<Record<CheckedPart["standing"], string>> = {
  held: "✓ holds",
  failed: "✗ fails",
  "not reached": "– not reached",
};

const HEADINGS: Readonly<Record<Verdict["kind"], readonly [sound: string, unsound: string]>> = {
  receipt: ["The receipt holds", "The receipt does not hold"],
  export: ["The log holds", "The log does not hold"],
  neither: ["", "This is neither a receipt nor an exported log"],
};

/** Milliseconds of work between two looks at what the person does: a key press is answered within a tenth of a second. */
const PIECE = 50;

/** Records that are listed; more than a receipt has. */
const LISTED = 500;

/** Bytes of an authority's certificates; more than any has. */
const AUTHORITY_LIMIT = 1 << 20;

class Stopped extends Error {}

function find<Kind extends HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found as Kind;
}

const drop = find("drop");
const file = find<HTMLInputElement>("file");
const working = find("working");
const bar = find<HTMLProgressElement>("progress");
const result = find("result");
const verdictLine = find("verdict");
const status = find("status");

/** The check under way: whatever an older one still says is not shown. */
let current = 0;

/** Throws Malformed for a file of an authority that is none: nothing else would say so where there is no time stamp. */
async function keptThings(): Promise<Kept> {
  const key = find<HTMLInputElement>("key").value.trim();
  const cosigner = find<HTMLInputElement>("cosigner").value.trim();
  const authority = find<HTMLInputElement>("authority").files?.[0]?.slice(0, AUTHORITY_LIMIT);
  const checkpoint = find<HTMLTextAreaElement>("checkpoint").value.trim();
  return {
    key: key === "" ? undefined : key,
    cosigner: cosigner === "" ? undefined : cosigner,
    authority: authority === undefined ? undefined : await readAuthority(authority),
    // A note ends with a newline, which is easily lost in copying.
    checkpoint: checkpoint === "" ? undefined : `${checkpoint}\n`,
    everySignature: find<HTMLInputElement>("every").checked,
  };
}

async function readAuthority(file: Blob): Promise<Uint8Array> {
  const raw = new Uint8Array(await file.arrayBuffer());
  try {
    readCertificates(raw);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new Malformed("the authority's file holds no certificates in PEM or DER");
  }
  return raw;
}

async function check(chosen: File): Promise<void> {
  const number = ++current;
  result.hidden = true;
  working.hidden = false;
  bar.value = 0;
  find("doing").textContent = sayOf("Checking {0}", shown(chosen.name));
  status.textContent = say("Checking");
  let paused = performance.now();
  const progress: CheckProgress = async (done, size) => {
    if (performance.now() - paused < PIECE) return;
    bar.value = done / size;
    await new Promise((resume) => setTimeout(resume));
    paused = performance.now();
    if (number !== current) throw new Stopped();
  };
  try {
    const verdict = await checkFile(chosen, await keptThings(), progress);
    if (number === current) await show(chosen, verdict, number, progress);
  } catch (error) {
    if (!(error instanceof Stopped) && number === current) tell(false, describe(error));
  } finally {
    if (number === current) working.hidden = true;
  }
}

function describe(error: unknown): string {
  if (error instanceof DOMException && error.name === "NotReadableError")
    return say("The file cannot be read: it was changed or taken away meanwhile. Choose it again");
  const why = error instanceof Malformed ? error.message : String(error);
  return `${say("The check could not be made")}: ${shown(sayFault(why) ?? why)}`;
}

function tell(sound: boolean, text: string): void {
  for (const id of ["parts", "facts", "records"]) find(id).replaceChildren();
  find("fault").hidden = true;
  verdictLine.dataset.sound = String(sound);
  verdictLine.textContent = text;
  status.textContent = text;
  result.hidden = false;
  verdictLine.focus();
}

/** `number` is that of the check: what comes after its records were read is shown only while it is the newest. */
async function show(chosen: File, verdict: Verdict, number: number, progress: CheckProgress): Promise<void> {
  const { kind, fault, parts } = verdict;
  tell(fault === null, say(HEADINGS[kind][fault === null ? 0 : 1]));
  if (fault !== null) {
    const place = find("fault");
    const said = faultText(fault.detail);
    place.replaceChildren(`${sayOf("First wrong at {0}", shown(fault.place))}: `, said);
    place.hidden = false;
    // What is read out is in one language.
    const isRead = pageLanguage === "en" || said.lang === "";
    status.textContent += `. ${isRead ? place.textContent : sayOf("First wrong at {0}", shown(fault.place))}`;
  }
  find("parts").replaceChildren(...parts.map(row));
  find("facts").replaceChildren(...facts(verdict));
  const records = find("records");
  records.hidden = fault !== null;
  if (records.hidden) return;
  find("doing").textContent = sayOf("Listing the records of {0}", shown(chosen.name));
  const listed = kind === "receipt" ? await recordsOf(chosen) : await readNewest(chosen, LISTED, progress);
  if (number !== current) return;
  records.replaceChildren(...list(listed, kind === "receipt" ? listed.length : verdict.size));
}

function row({ title, standing, detail }: CheckedPart): HTMLElement {
  const line = element("li", "");
  line.dataset.standing = standing;
  const mark = element("span", say(STANDINGS[standing]));
  mark.className = "standing";
  line.append(mark, element("span", say(title)));
  if (detail !== "") {
    const note = standing === "failed" ? faultText(detail) : element("span", shown(say(detail)));
    note.className = "note";
    line.append(note);
  }
  return line;
}

function facts({ key, size, root, signatures, withheld, erased, anchors, anchored }: Verdict): readonly HTMLElement[] {
  const told: readonly (readonly [string, string])[] = [
    ["Key that signed the checkpoint", key],
    ["Records that the checkpoint covers", size === 0 ? "" : size.toLocaleString(pageLanguage)],
    ["Root of the tree", root],
    ["Passkeys' signatures that hold", String(signatures)],
    ["Payloads that were erased, as the log says", erased === 0 ? "" : String(erased)],
    ["Payloads that the file does not have otherwise", withheld === erased ? "" : String(withheld - erased)],
    ...(anchors.length === 0 ? ["No anchor"] : anchors).map((each) => ["Anchor", each] as const),
    ["Compared with the checkpoint that you gave", anchored ? "it is the same log" : ""],
  ];
  return told
    .filter(([, value]) => value !== "")
    .flatMap(([name, value]) => [element("dt", say(name)), element("dd", shown(say(value)))]);
}

async function recordsOf(receipt: File): Promise<readonly JsonObject[]> {
  const whole = JSON.parse(await receipt.slice(0, RECEIPT_LIMIT + 2).text()) as { readonly records: readonly Json[] };
  return whole.records.filter(isJsonObject).slice(0, LISTED);
}

/** What a file that holds says, record by record. `all`: how many there are, if not all of them are given. */
function list(records: readonly JsonObject[], all: number): readonly HTMLElement[] {
  const left = all - records.length;
  const note = element(
    "p",
    sayOf("The newest records; {0} older ones are not listed", left.toLocaleString(pageLanguage)),
  );
  note.className = "note";
  return [element("h3", say("What it says")), ...(left > 0 ? [note] : []), ...records.map(item)];
}

function item({ index, body, payload }: JsonObject): HTMLElement {
  const told = isJsonObject(body) ? body : {};
  const made = document.createElement("details");
  const title = element("summary", "");
  const place = element("span", recordPlace(Number(index), told));
  place.className = "note";
  const sentence = sentenceOf(told);
  title.append(...(sentence === null ? [] : [`${sentence} `]), place);
  made.append(title);
  // When it is asked for: the records of a log are many, and a payload is long.
  const show = () => made.append(element("pre", shownJson({ record: body ?? null, payload: payload ?? null })));
  made.addEventListener("toggle", show, { once: true });
  return made;
}

/** What is wrong: in the page's language, else in the words of the check. */
function faultText(detail: string): HTMLElement {
  const said = sayFault(detail);
  const made = element("span", shown(said ?? detail));
  if (said === null) made.lang = "en";
  return made;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

translatePage();
// Nothing is kept: the choice is the end of the address.
const other = find("language");
if (pageLanguage === "de") [other.lang, other.textContent] = ["en", "English"];
other.addEventListener("click", () => {
  location.hash = other.lang;
});
window.addEventListener("hashchange", () => location.reload());

file.addEventListener("change", () => {
  const [chosen] = file.files ?? [];
  if (chosen !== undefined) void check(chosen);
  // The same file can be chosen again after it was changed.
  file.value = "";
});

find("stop").addEventListener("click", () => {
  current++;
  working.hidden = true;
  status.textContent = say("Stopped");
  file.focus();
});

// Anywhere on the page: a file that is dropped beside the frame would take its place in the tab.
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.dataset.over = "";
});
document.addEventListener("dragleave", () => {
  delete drop.dataset.over;
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  delete drop.dataset.over;
  const chosen = event.dataTransfer?.files[0];
  if (chosen !== undefined) void check(chosen);
});
