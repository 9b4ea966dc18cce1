// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.resetModules();
});

const OWN = "This changes files, so it needs your yes";

/** The component as a page in that language loads it. */
async function ruleSentence(language: string) {
  localStorage.setItem("countersign.language", language);
  vi.resetModules();
  return (await import("../../../src/ui/RuleSentence.tsx")).RuleSentence;
}

test("a rule of the gateway's own speaks the page's language, and one of a policy's author the author's", async () => {
  const German = await ruleSentence("de");
  render(<German why={OWN} />);
  expect(screen.getByText("Das ändert Dateien, darum ist Ihr Ja nötig")).toBeDefined();
  cleanup();
  render(<German why={`${OWN}; Only Anna may do this`} plain />);
  expect(screen.getByText(`${OWN}; Only Anna may do this`)).toBeDefined();
  cleanup();
  render(<German why={"Only An\u200bna may do this"} />);
  expect(document.body.textContent).toContain("U+200B");
  cleanup();
  const English = await ruleSentence("en");
  render(<English why={OWN} />);
  expect(screen.getByText(OWN)).toBeDefined();
});
