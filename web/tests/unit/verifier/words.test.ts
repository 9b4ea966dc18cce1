// @vitest-environment jsdom
import { Blob } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import german from "../../../src/language/de/verifier.json" with { type: "json" };
import germanSentences from "../../../src/language/de/verifier-events.json" with { type: "json" };
import faults from "../../../src/language/de/verifier-faults.json" with { type: "json" };
import { RECORDED_EVENTS } from "../../../src/verifier/events.ts";

const root = `${import.meta.dirname}/../../../`;
const page = readFileSync(`${root}verifier/index.html`, "utf8");
const sources = readdirSync(`${root}src/verifier`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`${root}src/verifier/${name}`, "utf8"))
  .join("\n");

/** The other language has its own name. */
const SAME = new Set(["Deutsch"]);

afterEach(() => {
  vi.resetModules();
  location.hash = "";
  // The other files draw into the same document.
  document.body.replaceChildren();
  document.title = "";
  document.documentElement.lang = "";
});

async function wordsIn(language: string) {
  vi.resetModules();
  location.hash = `#${language}`;
  return await import("../../../src/verifier/page/words.ts");
}

function textsOf(html: Document): string[] {
  const walker = html.createTreeWalker(html.body, NodeFilter.SHOW_TEXT);
  const found: string[] = [];
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent?.closest("code, noscript, script") === null)
      found.push((walker.currentNode.textContent ?? "").replaceAll(/\s+/g, " ").trim());
  }
  return found.filter((text) => text !== "" && !SAME.has(text));
}

test("every word of the page has a German one, and reads so", async () => {
  const html = new DOMParser().parseFromString(page, "text/html");
  const texts = textsOf(html);
  expect(texts.filter((text) => !Object.hasOwn(german, text))).toEqual([]);
  document.body.replaceChildren(...html.body.children);
  document.title = html.title;
  (await wordsIn("de")).translatePage();
  expect(document.title).toBe("Einen Beleg oder ein Protokoll prüfen");
  expect(document.documentElement.lang).toBe("de");
  const unchanged = texts.filter((text) => german[text as keyof typeof german] !== text);
  expect(textsOf(document).filter((text) => unchanged.includes(text))).toEqual([]);
});

test("what the check says of a file is German, with its values, and a key or an id stays", async () => {
  const { say, sayOf } = await wordsIn("de");
  expect(say("3 records under 2 checkpoints; the one you gave among them")).toBe(
    "3 Einträge unter 2 Prüfpunkten; darunter der, den Sie angegeben haben",
  );
  expect(say("Over 57 records; the one you gave")).toBe("Über 57 Einträge; der, den Sie angegeben haben");
  expect(say("log.example; taken from the receipt")).toBe("log.example; aus dem Beleg");
  expect(say("4 calls, 2 run; 1 under way")).toBe("4 Aufrufe, 2 davon gelaufen; 1 unterwegs");
  expect(
    say("The cosigner w signed the log's first 3 records at 2026-01-02T03:04:05Z; with the key that you gave"),
  ).toBe(
    "Der Mitzeichner w unterschrieb die ersten 3 Einträge des Protokolls, 2026-01-02T03:04:05Z; mit dem Schlüssel, den Sie angegeben haben",
  );
  expect(sayOf("Checking {0}", "$& <b>")).toBe("$& <b> wird geprüft");
  expect(say("log+0123abcd+Zm9v")).toBe("log+0123abcd+Zm9v");
  const english = await wordsIn("en");
  expect(english.say("It has closed")).toBe("It has closed");
});

test("what is wrong with a file is German, with the reason that it gives, and English where no catalogue has it", async () => {
  const { sayFault } = await wordsIn("de");
  expect(sayFault("record 7 was changed")).toBe("Eintrag 7 wurde geändert");
  expect(sayFault("call `c1` is not what approval `a1` showed")).toBe(
    "der Aufruf `c1` ist nicht das, was die Freigabe `a1` zeigte",
  );
  expect(sayFault("the checkpoint proves nothing: its signature does not verify")).toBe(
    "der Prüfpunkt beweist nichts: seine Unterschrift stimmt nicht",
  );
  expect(sayFault("a fault of tomorrow")).toBeNull();
  expect((await wordsIn("en")).sayFault("record 7 was changed")).toBeNull();
});

test("what the check finds wrong has a German text, and none is left of what it no longer finds", () => {
  const found = [...sources.matchAll(/new Malformed\(\s*"([^"]+)"/g)].map(([, text]) => text ?? "");
  expect(found.length).toBeGreaterThan(50);
  expect(found.filter((text) => !Object.hasOwn(faults, text) && !/^(?:its )?`\w+` is no /.test(text))).toEqual([]);
  const gone = Object.keys(faults).filter(
    (english) => !(english.match(/[A-Za-z']+/g) ?? []).every((word) => sources.includes(word)),
  );
  expect(gone).toEqual([]);
});

test("what the check and its page can say has a German text, and none is left of what they no longer say", () => {
  const quoted = [...sources.matchAll(/(?:say|sayOf)\(\s*"([^"]+)"|hold\(\s*"[a-z]+",\s*"([^"]+)"/g)].map(
    ([, said, held]) => said ?? held,
  );
  expect(quoted.length).toBeGreaterThan(8);
  const titles = [...sources.matchAll(/TITLES = \{([^}]*)\}/g)].flatMap(([, body = ""]) =>
    [...body.matchAll(/"([^"]+)"/g)].map(([, text]) => text),
  );
  expect(titles.length).toBeGreaterThan(15);
  expect([...quoted, ...titles].filter((text) => !Object.hasOwn(german, text ?? ""))).toEqual([]);
  const said = `${page.replaceAll(/\s+/g, " ")}\n${sources}`;
  // Numbers and the forms that go with them are put in where something is said, so it is known by its words.
  const gone = Object.keys(german).filter(
    (english) => !(english.match(/[A-Za-z']+/g) ?? []).every((word) => said.includes(word.replace(/s$/, ""))),
  );
  expect(gone).toEqual([]);
});

test("every record that a log can have is told in a sentence, in both languages, with the tool's name made harmless", async () => {
  for (const language of ["en", "de"]) {
    await wordsIn(language);
    const { sentenceOf } = await import("../../../src/verifier/page/sentences.ts");
    const told = [...RECORDED_EVENTS].map((event) => sentenceOf({ event, tool: "read_file" }));
    expect(told.filter((sentence) => sentence === null)).toEqual([]);
    const english = Object.keys(germanSentences).map((sentence) => sentence.replace("{tool}", "“read_file”"));
    expect(told.filter((sentence) => english.includes(sentence ?? "") === (language === "de"))).toEqual([]);
    expect(sentenceOf({ event: "tomorrow:invented" })).toBeNull();
    expect(sentenceOf({ event: "constructor", status: "toString" })).toBeNull();
  }
  await wordsIn("en");
  const { sentenceOf } = await import("../../../src/verifier/page/sentences.ts");
  const tool = "$&\u202e<b>";
  expect(sentenceOf({ event: "call:closed", executed: true, outcome: "timedOut", tool })).toBe(
    "“$&\\u{202e}<b>” was ended because it took too long",
  );
  expect(sentenceOf({ event: "approval:resolved", status: "denied" })).toBe("The call that was asked about was denied");
  expect(sentenceOf({ event: "call:closed", outcome: "of tomorrow" })).toBe("The call of “?” ended");
});

test("every sentence about a record has a German one with the same tool in it, and none is left of what is no longer said", async () => {
  const { EVENT_SENTENCES } = await import("../../../src/verifier/page/sentences.ts");
  const sentences = [...new Set(Object.values(EVENT_SENTENCES))].toSorted();
  expect(Object.keys(germanSentences).toSorted()).toEqual(sentences);
  const unlike = Object.entries(germanSentences).filter(
    ([english, told]) => english === told || english.includes("{tool}") !== told.includes("{tool}"),
  );
  expect(unlike).toEqual([]);
});

test.each([
  [true, "ok", null, "“t” ran and gave a result"],
  [true, "executionError", "toolError", "“t” ran and failed"],
  [true, "executionError", "sourceUnavailable", "“t” did not come to a result"],
  [true, "timedOut", "toolTimeout", "“t” was ended because it took too long"],
  [true, "cancelled", null, "The call of “t” was cancelled while it ran"],
  [true, "of tomorrow", null, "The call of “t” ended"],
  // What nobody approved in time, what cannot work as things are, and what broke in the gateway.
  [false, "timedOut", "approvalExpired", "“t” did not run: it was not approved in time"],
  [false, "timedOut", "toolTimeout", "“t” did not run: it could not begin in time"],
  [false, "executionError", "toolError", "“t” did not run: it could not be carried out"],
  [false, "executionError", "sourceUnavailable", "“t” did not run: it could not be carried out"],
  [false, "refusedByPolicy", "forbidden", "“t” did not run: the policy forbids it"],
  [false, "refusedByPolicy", "turnClosed", "“t” did not run: the gateway refused it"],
  [false, "cancelled", "sessionEnded", "The call of “t” was cancelled before it ran"],
  [false, "of tomorrow", null, "“t” did not run"],
])(
  "a call of which it is %s that it ran, and that closed as %s for %s, is told so",
  async (executed, outcome, reason, told) => {
    await wordsIn("en");
    const { sentenceOf } = await import("../../../src/verifier/page/sentences.ts");
    expect(sentenceOf({ event: "call:closed", executed, outcome, reason, tool: "t" })).toBe(told);
  },
);

test("of a long log the newest records are listed, in its order", async () => {
  const { readNewest } = await import("../../../src/verifier/page/newest.ts");
  const line = (index: number, text = "") => `{"type":"leaf","index":${index},"payload":"${text}"}\n`;
  const log = (...lines: string[]) => new Blob(['{"type":"log"}\n', ...lines, '{"type":"end","lines":9}\n']);
  const indices = async (file: Blob) => (await readNewest(file as unknown as File, 3)).map(({ index }) => index);
  expect(await indices(log(...[0, 1, 2, 3, 4].map((each) => line(each))))).toEqual([2, 3, 4]);
  expect(await indices(log())).toEqual([]);
  // No more is held than a page can bear, and always the newest.
  expect(await indices(log(line(0), line(1, "x".repeat(5 << 20)), line(2, "x".repeat(5 << 20))))).toEqual([2]);
  expect(await indices(log(line(0), line(1, "x".repeat(9 << 20))))).toEqual([1]);
});
