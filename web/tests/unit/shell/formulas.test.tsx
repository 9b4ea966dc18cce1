// @vitest-environment jsdom
import { cleanup, render, waitFor } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { readMarkdown } from "../../../src/features/shell/log/formula-syntax.ts";
import { drawFormula, type FormulaPart } from "../../../src/features/shell/log/formula-tree.ts";
import { Markdown } from "../../../src/features/shell/log/Markdown.tsx";

afterEach(cleanup);

// The first formula loads what draws them; the tests after it find it there.
beforeAll(async () => {
  const { container, unmount } = render(<Markdown text="Before $x$ after." />);
  expect(container.textContent).toBe("Before $x$ after.");
  await waitFor(() => expect(container.querySelector("math")).not.toBeNull());
  unmount();
});

/** The formulas of a text as they are drawn, and the text with `‹›` in their places. */
function read(text: string) {
  const { container } = render(<Markdown text={text} />);
  const formulas = [...container.querySelectorAll("math")];
  const shown = formulas.map((each) => each.textContent ?? "");
  const displayed = formulas.map((each) => each.getAttribute("display") === "block");
  for (const each of formulas) each.replaceWith("‹›");
  return { shown, displayed, rest: container.textContent ?? "", container };
}

describe("what is mathematics", () => {
  test.each([
    ["Let $x$ be.", ["x"], "Let ‹› be."],
    ["So \\(a+b\\), and $c$.", ["a+b", "c"], "So ‹›, and ‹›."],
    ["$$e=1$$", ["e=1"], "‹›"],
    ["\\[\na\n- b\n= c\n\\]", ["a−b=c"], "‹›"],
    ["The sum is:\n$$\na\n+ b\n$$\nand so on.", ["a+b"], "The sum is:‹›and so on."],
    ["1. One:\n   \\[ n \\]\n2. Two", ["n"], "One:‹›Two"],
    ["| a | b |\n|-|-|\n| $x$ | 2 |", ["x"], "ab‹›2"],
    ["**bold $y$** and $p*q*r$", ["y", "p∗q∗r"], "bold ‹› and ‹›"],
    ["($z$)", ["z"], "(‹›)"],
    ["$2 \\text{ apples}$", ["2 apples"], "‹›"],
  ])("%s", (text, shown, rest) => {
    const found = read(text);
    expect(found.shown.map((each) => each.replaceAll("\u00a0", " "))).toEqual(shown);
    expect(found.rest).toBe(rest);
  });

  test("a formula on a line of its own is drawn as one, wherever it stands", () => {
    expect(read("$$x$$").displayed).toEqual([true]);
    expect(read("now $$x$$ here and \\(y\\)").displayed).toEqual([true, false]);
  });

  test("letters of a style are drawn as such by browsers that know no styles", () => {
    expect(read("$\\mathbb{R}, \\mathbf{A1}, \\mathcal{L}, \\mathfrak{g}$").shown).toEqual(["ℝ,𝐀𝟏,ℒ,𝔤"]);
  });
});

describe("what is no mathematics", () => {
  test.each([
    "It costs $5 and $10.",
    "It costs $5, or $7.50 with tax.",
    "From $5-$10 to $20/$30.",
    "US$5 and A$6$",
    "I paid $20 and she paid 30$.",
    "Set $HOME and $PATH.",
    "An unfinished $x + y",
    "An unfinished \\[ x + y",
    "$$\n\\frac{1}{2",
    "$ x $",
    "$$$$",
    "$a\n\nb$",
  ])("stays text: %s", (text) => {
    const { shown, rest } = read(text);
    expect(shown).toEqual([]);
    // A backslash before a bracket is Markdown's own, and an empty line ends a paragraph.
    expect(rest.replace(/[\s\\]/g, "")).toBe(text.replace(/[\s\\]/g, ""));
  });

  test("prices stay as they were written, to the letter", () => {
    expect(read("It costs $5 and $10, or \\$7$.").rest).toBe("It costs $5 and $10, or $7$.");
  });

  test.each([["`$x$`"], ["```\n$x$\n$$y$$\n```"], ["    \\(x\\)"], ["`$a` and `b$`"]])(
    "code stays code: %s",
    (text) => {
      expect(read(text).shown).toEqual([]);
    },
  );

  test("while an answer streams, a formula is text until it is complete", () => {
    const { container, rerender } = render(<Markdown text="so $$a_1" />);
    expect(container.textContent).toBe("so $$a_1");
    rerender(<Markdown text="so $$a_1$$" />);
    expect(container.querySelector("math")?.textContent).toBe("a1");
  });
});

/** Every element name and attribute of a formula. */
function namesIn(part: FormulaPart | null): string[] {
  if (part === null || typeof part === "string") return [];
  return [part.name, ...Object.keys(part.attributes), ...part.parts.flatMap(namesIn)];
}

describe("hostile formulas", () => {
  test.each([
    "\\href{https://evil.example}{x}",
    "\\href{javascript:alert(1)}{x}",
    "\\url{https://evil.example}",
    "\\includegraphics{https://evil.example/x.png}",
    "\\htmlId{main}{x}",
    "\\htmlClass{x}{y}",
    "\\htmlStyle{color:red}{y}",
    "\\htmlData{a=b}{y}",
    "\\unknown{x}",
    "\\frac{1}",
    "x}",
    "\\def\\a{\\b\\b}\\a",
    "\\newcommand{\\a}{xx}\\a",
    "\\gdef\\a{x}\\a",
    "\\let\\a=b",
    "\\kern-100em x",
    "\\!".repeat(100),
    "\\raisebox{90em}{x}",
    "\\rule{1em}{1em}",
  ])("are shown as they were written: %s", (tex) => {
    expect(drawFormula(tex, false)).toBeNull();
    const { shown, rest, container } = read(`\\(${tex}\\)`);
    expect([shown, rest]).toEqual([[], `\\(${tex}\\)`]);
    expect(container.querySelector("a, img, [id], [style]")).toBeNull();
  });

  test("have no colour, and move nothing over what stands beside them", () => {
    for (const tex of ["\\color{white} x", "\\colorbox{red}{x}", "\\llap{over there}", "\\smash{x}"]) {
      const part = drawFormula(tex, false);
      expect(part).not.toBeNull();
      const names = namesIn(part);
      for (const name of ["mathcolor", "mathbackground", "lspace", "width", "height"])
        expect(names).not.toContain(name);
    }
  });

  // Each would take seconds, gigabytes or the stack if it were expanded or drawn to its end.
  test.each([
    ["nested definitions", `\\def\\a{xx}${"\\def\\a{\\a\\a}".repeat(60)}\\a`],
    ["10,000 braces", `${"{".repeat(10_000)}x${"}".repeat(10_000)}`],
    ["braces within the length that is read", `${"{".repeat(990)}x${"}".repeat(990)}`],
    ["fractions in fractions", `${"\\frac{1}{".repeat(190)}x${"}".repeat(190)}`],
    ["roots", "\\sqrt".repeat(390)],
    ["powers", "x^{".repeat(480)],
    ["brackets", `${"\\left(".repeat(180)}${"\\right)".repeat(120)}`],
    ["cells", `\\begin{matrix}${"&".repeat(1_900)}\\end{matrix}`],
    ["macros of KaTeX", "\\iiiint\\TeX\\KaTeX\\LaTeX".repeat(80)],
  ])("freeze nothing: %s", (_, tex) => {
    const begun = performance.now();
    const { container } = render(<Markdown text={`before \\(${tex}\\)\n\nafter`} />);
    expect(container.textContent).toContain("after");
    expect(container.querySelectorAll("*").length).toBeLessThan(5_000);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  test("one message has room for some hundred of them, and the rest of it is text", () => {
    const { shown, rest } = read("$x$ ".repeat(600));
    expect(shown).toHaveLength(466);
    expect(rest.match(/\$x\$/g)).toHaveLength(600 - 466);
    expect(read(`\\(${"1".repeat(1_900)}\\) `.repeat(20)).shown).toHaveLength(11);
  });

  // As long as a message may be, and made so that each sign seems to begin a formula.
  test.each(["$ *a* ", "\\( ", "$$ ", "$a", "\n$$\n", "$a` ", "\\[\n\n", "$\\"])(
    "signs of %j without end are text",
    (piece) => {
      const begun = performance.now();
      readMarkdown(piece.repeat(100_000 / piece.length));
      expect(performance.now() - begun).toBeLessThan(5_000);
    },
  );

  test("any formula is MathML alone", () => {
    const pieces = fc.constantFrom(
      ..."x 1 { } ^ _ & \\\\ $ < > # % ~ ' \" \\frac \\sqrt \\left( \\right) \\text \\href \\htmlId \\color{red} \\begin{matrix} \\end{matrix} \\mathbb <script> \\( \\)".split(
        " ",
      ),
      "\n",
    );
    const allowed = /^(DIV|P|BR|SPAN|EM|H2|BLOCKQUOTE|math|m[a-z]+)$/;
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
        const { container, unmount } = render(<Markdown text={`$$${parts.join("")}$$`} />);
        for (const element of container.querySelectorAll("*")) {
          expect(element.tagName).toMatch(allowed);
          for (const { name } of element.attributes)
            expect(name).not.toMatch(/^(on|id$|style$|href|src|xlink|math(col|back))/);
        }
        unmount();
      }),
      { numRuns: 150 },
    );
  });
});
