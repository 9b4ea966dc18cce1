// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { CutTitle } from "../../../src/features/console/CutTitle.tsx";

afterEach(cleanup);

test.each([
  ["write a plan", "write a plan"],
  ["list the files in…", "list the files in…"],
  ["what he said … was", "what he said …U+2026 was"],
  ["……", "…U+2026…"],
  ["…", "…U+2026"],
])("of the title %j the mark of its cut is no look-alike, and any other is", (title, read) => {
  const { container } = render(<CutTitle title={title} />);
  expect(container.textContent).toBe(read);
});
