// @vitest-environment jsdom
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  localStorage.clear();
  vi.resetModules();
});

/** The mechanism as a page has it whose person wants these languages, with a catalogue of its own in place of the German. */
async function inLanguages(tags: readonly string[], german: Readonly<Record<string, string>> = {}) {
  vi.resetModules();
  vi.spyOn(navigator, "languages", "get").mockReturnValue(tags);
  vi.doMock("../../../src/language/de/console.ts", () => ({ default: german }));
  const { language } = await import("../../../src/language/language.ts");
  const { t } = await import("../../../src/language/t.ts");
  const { rich } = await import("../../../src/language/rich.ts");
  return { language, t, rich };
}

function htmlOf(node: ReactNode): string {
  return render(node).container.innerHTML;
}

test.each([
  [["de-AT", "en"], "de"],
  [["fr", "de"], "de"],
  [["fr", "it"], "en"],
  [["en-GB", "de"], "en"],
  [[], "en"],
])("of %j the page speaks %s, and says so in its root", async (tags, expected) => {
  const { language } = await inLanguages(tags);
  expect(language).toBe(expected);
  expect(document.documentElement.lang).toBe(expected);
});

test("what was chosen here comes before what the browser has, unless it is no language of ours", async () => {
  localStorage.setItem("countersign.language", "de");
  expect((await inLanguages(["en"])).language).toBe("de");
  localStorage.setItem("countersign.language", "xx");
  expect((await inLanguages(["en"])).language).toBe("en");
});

test("an English text is what the source says, on one line, with its numbers and the form of a word for them", async () => {
  const { t } = await inLanguages(["en"]);
  const said = (calls: number, name: string) => t`${calls} {call|calls} of
    ${name} {0:waits|wait}`;
  expect(said(1, "a")).toBe("1 call of a waits");
  expect(said(1234, "{0}")).toBe("1,234 calls of {0} wait");
  expect(t`An object, like {}`).toBe("An object, like {}");
});

test("a German text has its own order, its own forms and its own numbers", async () => {
  const { t } = await inLanguages(["de"], {
    "{0} {call|calls} of {1}": "Von {1} {0:wartet|warten} {0} {Aufruf|Aufrufe}",
  });
  const said = (calls: number, name: string) => t`${calls} {call|calls} of ${name}`;
  expect(said(1, "a")).toBe("Von a wartet 1 Aufruf");
  expect(said(1234, "b")).toBe("Von b warten 1.234 Aufrufe");
  expect(t`Not in the catalogue`).toBe("Not in the catalogue");
});

test("a sentence with elements is one message, and what a link says is a part of it", async () => {
  const source = ({ rich }: Awaited<ReturnType<typeof inLanguages>>) => (
    <p>
      {rich`Read ${(inner) => <a href="/help">{inner}</a>}<the ${"short"} help>, then press ${<kbd>F6</kbd>} ${2} {time|times}.`}
    </p>
  );
  expect(htmlOf(source(await inLanguages(["en"])))).toBe(
    '<p>Read <a href="/help">the short help</a>, then press <kbd>F6</kbd> 2 times.</p>',
  );
  const german = {
    "Read {0}<the {1} help>, then press {2} {3} {time|times}.":
      "Drücken Sie {3} Mal {2}, wenn Sie {0}<die Hilfe ({1})> gelesen haben.",
  };
  expect(htmlOf(source(await inLanguages(["de"], german)))).toBe(
    '<p>Drücken Sie 2 Mal <kbd>F6</kbd>, wenn Sie <a href="/help">die Hilfe (short)</a> gelesen haben.</p>',
  );
});

test("markup in a value stays text", async () => {
  const { rich } = await inLanguages(["en"]);
  expect(htmlOf(rich`Of ${"<b>{0}</b>"}`)).toBe("Of &lt;b&gt;{0}&lt;/b&gt;");
});
