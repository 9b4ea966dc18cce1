import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colours by role; what they stand for is said by the words themselves. */
export const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent-ink)", fontWeight: "var(--weight-strong)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--brass)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--info)" },
  { tag: [tags.meta, tags.definition(tags.propertyName)], color: "var(--ok)" },
  { tag: tags.typeName, color: "var(--info)" },
  { tag: tags.variableName, fontWeight: "var(--weight-strong)" },
  { tag: tags.comment, color: "var(--ink-faint)" },
]);

/**
 * How the editor looks. CodeMirror's own marks are pictures in `data:` addresses, which the content policy does not load, so
 * each of them is drawn anew.
 */
export const look = EditorView.theme({
  "&": { height: "28rem", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "var(--text-body)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "var(--leading)" },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "var(--space-2)" },
  ".cm-gutters": {
    backgroundColor: "var(--surface-sunk)",
    color: "var(--ink-soft)",
    borderInlineEnd: "1px solid var(--line)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--accent-ink)",
  },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": {
    backgroundColor: "var(--danger-soft)",
    color: "var(--danger)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--brass-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--brass-soft)", outline: "1px solid var(--brass-line)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--danger)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--brass-line)" },
  ".cm-lintPoint": { "&:after": { borderBottomColor: "var(--danger)" } },
  ".cm-lint-marker": { content: "normal", borderRadius: "50%", width: "0.7em", height: "0.7em", margin: "0.35em auto" },
  ".cm-lint-marker-error": { backgroundColor: "var(--danger)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--brass-line)", borderRadius: "0" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    boxShadow: "var(--shadow-high)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "1" },
  ".cm-diagnostic-error": { borderInlineStartColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderInlineStartColor: "var(--brass-line)" },
  ".cm-panels": { backgroundColor: "var(--surface-sunk)", color: "var(--ink)" },
  ".cm-panels-top": { borderBlockEnd: "1px solid var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--edge)" },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
  },
});
