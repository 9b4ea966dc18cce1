// @vitest-environment jsdom
import { forEachDiagnostic } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { cleanup, render } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { CodeEditor } from "../../../src/features/console/policy/editor/code/CodeEditor.tsx";
import { prepareDocument } from "../ui/document.ts";

beforeAll(prepareDocument);
afterEach(cleanup);

const file = { name: "team.cedar", schema: "", tools: [], faults: [], onChange: () => {}, ref: null };

function viewOf(container: HTMLElement): EditorView {
  const content = container.querySelector("div")?.shadowRoot?.querySelector<HTMLElement>(".cm-content");
  const view = content && EditorView.findFromDOM(content);
  if (!view) throw new Error("no editor is shown");
  return view;
}

test("gives back what was typed, to the letter, and takes a text from outside without calling it a change", () => {
  const onChange = vi.fn();
  const { container, rerender } = render(<CodeEditor {...file} text={"a\r\nb"} onChange={onChange} />);
  const view = viewOf(container);
  view.dispatch({ changes: { from: 0, insert: "x" } });
  expect(onChange.mock.calls).toEqual([["xa\r\nb"]]);
  rerender(<CodeEditor {...file} text="other" onChange={onChange} />);
  expect(view.state.sliceDoc()).toBe("other");
  expect(onChange).toHaveBeenCalledTimes(1);
});

test("marks a fault where it stands", () => {
  const fault = { file: "team.cedar", line: 2, column: 3, severity: "error", message: "<b>no</b>" } as const;
  const { container } = render(<CodeEditor {...file} text={"first\nsecond"} faults={[fault]} />);
  const view = viewOf(container);
  const marks: [number, number, string][] = [];
  forEachDiagnostic(view.state, ({ message }, from, to) => marks.push([from, to, message]));
  expect(marks).toEqual([[8, 9, "<b>no</b>"]]);
});

test("is named for who cannot see it, and colours what is no rule too", () => {
  const { container } = render(<CodeEditor {...file} name="profiles.toml" text="[guest]" />);
  expect(viewOf(container).contentDOM.getAttribute("aria-label")).toBe("Text of profiles.toml");
});
