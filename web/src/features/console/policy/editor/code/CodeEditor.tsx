import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { t } from "../../../../../language/t.ts";
import styles from "../Editor.module.css";
import type { TextEditorProps } from "../TextEditor.tsx";
import { offsetOf } from "../texts.ts";
import { cedar } from "./cedar.ts";
import { completeCedar } from "./completion.ts";
import { colours, look } from "./look.ts";
import { readVocabulary } from "./vocabulary.ts";

/** A text that was put into the editor from outside, which is no change of the person's. */
const fromOutside = Annotation.define<true>();

interface CodeEditorProps extends TextEditorProps {
  readonly schema: string;
  readonly tools: readonly string[];
}

/**
 * A file of the policy with colours, completion, search, and its faults where they stand. One component for each file: give
 * it the file's name as key.
 *
 * It lives in a shadow root: in the document itself CodeMirror writes a style element, which the content policy forbids.
 */
export function CodeEditor({ name, text, faults, schema, tools, onChange, ref }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const first = useRef({ name, text });
  const latest = useRef({ onChange, vocabulary: readVocabulary(schema, tools) });
  useEffect(() => {
    latest.current = { onChange, vocabulary: readVocabulary(schema, tools) };
  }, [onChange, schema, tools]);

  useLayoutEffect(() => {
    if (host.current === null) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const created = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.text,
        extensions: extensionsFor(first.current.name, {
          vocabulary: () => latest.current.vocabulary,
          change: (changed) => latest.current.onChange(changed),
        }),
      }),
    });
    view.current = created;
    return () => created.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.sliceDoc() === text) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: text },
      annotations: fromOutside.of(true),
    });
  }, [text]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const whole = editor.state.sliceDoc();
    const marks = faults.map(({ line, column, severity, message }) => {
      const from = offsetOf(whole, line, column);
      return { from, to: Math.min(from + 1, whole.length), severity, message };
    });
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [faults]);

  useImperativeHandle(ref, () => ({
    goTo: (line, column) => {
      const editor = view.current;
      if (editor === null) return;
      const at = offsetOf(editor.state.sliceDoc(), line, column);
      editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      editor.focus();
    },
  }));
  return <div ref={host} className={styles.code} />;
}

interface Source {
  readonly vocabulary: () => ReturnType<typeof readVocabulary>;
  readonly change: (text: string) => void;
}

function extensionsFor(name: string, { vocabulary, change }: Source): Extension {
  const rules = name.endsWith(".cedar");
  return [
    // Else a text of other line ends would come back changed.
    EditorState.lineSeparator.of("\n"),
    lineNumbers(),
    history(),
    bracketMatching(),
    search({ top: true }),
    highlightSelectionMatches(),
    lintGutter(),
    name.endsWith(".toml") ? StreamLanguage.define(toml) : cedar,
    rules ? autocompletion({ override: [(context) => completeCedar(vocabulary())(context)] }) : [],
    // Tab is not among them: it leaves the field, as in any form.
    keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...(rules ? completionKeymap : [])]),
    EditorView.domEventHandlers({ beforeinput: typeOver }),
    syntaxHighlighting(colours),
    look,
    EditorView.contentAttributes.of({
      "aria-label": t`Text of ${name}`,
      // axe counts no field as one that can be focused but for this.
      tabindex: "0",
      spellcheck: "false",
      autocapitalize: "off",
      autocorrect: "off",
    }),
    EditorView.updateListener.of((update) => {
      const ours = update.transactions.some((transaction) => transaction.annotation(fromOutside));
      if (update.docChanged && !ours) change(update.state.sliceDoc());
    }),
  ];
}

/**
 * Typing over a selection of several lines. Left to itself Chromium joins the lines with style attributes, which the content
 * policy blocks and reports.
 */
function typeOver(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) {
    return false;
  }
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}
