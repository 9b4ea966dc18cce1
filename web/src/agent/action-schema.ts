import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import type { JsonSchema } from "./chat.ts";
import { type CopyableStrings, choicesFor } from "./copied.ts";
import { spokenArguments } from "./optional.ts";
import { isObject } from "./parse.ts";
import { requiredOf } from "./render.ts";
import { vocabulary } from "./vocabulary.ts";

/**
 * What may be replied by a model that writes JSON: a call of one of these tools with arguments that fit it, or an answer, where that may be. Tools
 * that only read may copy from `readable`, the others from `from`. An optional argument is there where the `wish` speaks of it, with
 * what it says. The order of members is the order in which a constrained
 * model writes them.
 */
export function actionSchema(
  tools: readonly ToolDescriptor[],
  from: CopyableStrings,
  readable: CopyableStrings = from,
  wish = "",
  canAnswer = true,
): JsonSchema {
  const calls = tools.flatMap((tool) => {
    const given = argumentsSchema(tool, tool.category === "read" ? readable : from, wish);
    return given === null ? [] : [objectOf({ tool: { const: tool.name }, arguments: given })];
  });
  const answer = objectOf({ answer: { type: "string", maxLength: words.action.answerLength } });
  return { oneOf: canAnswer ? [...calls, answer] : calls };
}

/** The needed arguments of a tool and those that are spoken of; null when one would have to be something that nobody said. */
function argumentsSchema(tool: ToolDescriptor, from: CopyableStrings, wish: string): JsonSchema | null {
  const { properties } = tool.paramSchema;
  const known = isObject(properties) ? properties : {};
  const members: [string, JsonSchema][] = [];
  for (const name of requiredOf(tool.paramSchema)) {
    const choices = choicesFor(tool.name, name, from);
    if (choices?.length === 0) return null;
    members.push([name, choices === null ? constrain(Object.hasOwn(known, name) && known[name]) : { enum: choices }]);
  }
  const spoken = Object.entries(spokenArguments(tool.paramSchema, wish, tool.name));
  return objectOf(
    Object.fromEntries([...members, ...spoken.map(([name, value]) => [name, { enum: [value] }] as const)]),
  );
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** Keywords that a grammar is made from. The rest is for people, or for the gateway, which checks the whole schema. */
const SHAPING = vocabulary.schemaKeywords;

/** A schema as far as constrained decoding can hold a model to it. References reach outside, so they free the value. */
export function constrain(schema: unknown): JsonSchema {
  if (!isObject(schema) || "$ref" in schema) return {};
  const shaped: Record<string, unknown> = Object.fromEntries(
    SHAPING.flatMap((keyword) => (keyword in schema ? [[keyword, schema[keyword]]] : [])),
  );
  if (isObject(schema.properties))
    shaped.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, constrain(member)]),
    );
  if (isObject(schema.items)) shaped.items = constrain(schema.items);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    const options = schema[keyword];
    if (Array.isArray(options)) shaped[keyword] = options.map(constrain);
  }
  return shaped;
}
