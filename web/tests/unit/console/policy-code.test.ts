import { readFileSync } from "node:fs";
import { CompletionContext } from "@codemirror/autocomplete";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { describe, expect, test } from "vitest";
import { cedar } from "../../../src/features/console/policy/editor/code/cedar.ts";
import { completeCedar } from "../../../src/features/console/policy/editor/code/completion.ts";
import { readVocabulary } from "../../../src/features/console/policy/editor/code/vocabulary.ts";

const POLICY = new URL("../../../../policy/", import.meta.url);
const schema = readFileSync(new URL("schema.cedarschema", POLICY), "utf8");
const rules = readFileSync(new URL("default.cedar", POLICY), "utf8");
const vocabulary = readVocabulary(schema, ["read_file", "mail__send"]);

function offered(text: string): readonly string[] | null {
  const context = new CompletionContext(EditorState.create({ doc: text }), text.length, true);
  return completeCedar(vocabulary)(context)?.options.map(({ label }) => label) ?? null;
}

/** The text with what is chosen first put in. */
function accepted(text: string, label: string): string {
  const context = new CompletionContext(EditorState.create({ doc: text }), text.length, true);
  const found = completeCedar(vocabulary)(context);
  const option = found?.options.find((each) => each.label === label);
  return text.slice(0, found?.from) + (option?.apply ?? option?.label);
}

describe("what is offered in a rule", () => {
  test("comes from the schema that this gateway ships", () => {
    expect(offered("  principal in Countersign::Profile::")).toEqual(["operator", "guest", "anonymous", "enrolled"]);
    expect(offered('resource in Countersign::Category::"wr')).toContain("destructive");
    expect(offered("action == Countersign::Action::")).toEqual(
      expect.arrayContaining(["invoke", "invoke_with_consent", "invoke_with_step_up", "infer"]),
    );
    expect(offered("when { context.")).toEqual(expect.arrayContaining(["taint", "argumentsFromUntrusted", "weekday"]));
    expect(offered("when { context.facts.ho")).toEqual(["path", "host", "bytes", "recursive"]);
    expect(offered("when { context.facts has ")).toEqual(["path", "host", "bytes", "recursive"]);
    expect(offered("unless { principal.")).toContain("autoHosts");
    expect(offered("when { resource.")).toContain("trust");
  });

  test("names the tools that the gateway has", () => {
    expect(offered('resource == Countersign::Tool::"')).toEqual(["read_file", "mail__send"]);
    expect(accepted('resource == Countersign::Tool::"ma', "mail__send")).toBe(
      'resource == Countersign::Tool::"mail__send"',
    );
    expect(accepted("resource == Countersign::Tool::", "read_file")).toBe('resource == Countersign::Tool::"read_file"');
  });

  test("begins an annotation with a value that may stand there", () => {
    expect(accepted("@max", "max_result_bytes")).toBe('@max_result_bytes("4096")');
    expect(accepted("per", "permit")).toBe("permit");
    expect(accepted("  principal in Pro", "Profile")).toBe("  principal in Countersign::Profile::");
  });

  test("is nothing in a comment, after a point that leads nowhere, or with a schema that cannot be read", () => {
    expect(offered("// the rule per")).toBeNull();
    expect(offered("nothing.")).toBeNull();
    const context = new CompletionContext(EditorState.create({ doc: "context." }), 8, true);
    expect(completeCedar(readVocabulary("}{", []))(context)).toBeNull();
  });
});

test("words of a rule have the colours of what they are", () => {
  const state = EditorState.create({ doc: rules, extensions: cedar });
  const kinds = new Map<string, string>();
  // Unless told otherwise it gives up after 50 ms, which a busy machine may take.
  ensureSyntaxTree(state, rules.length, 20_000)?.iterate({
    enter: ({ name, from, to }) => void kinds.set(state.sliceDoc(from, to), name),
  });
  expect(kinds.get("permit")).toBe("keyword");
  expect(kinds.get("@id")).toBe("meta");
  expect(kinds.get('"read.auto"')).toBe("string");
  expect(kinds.get("principal")).toBe("variableName");
  expect(kinds.get("Profile")).toBe("typeName");
});
