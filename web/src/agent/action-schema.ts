import type { ToolDescriptor } from "../protocol/generated.ts";
import type { JsonSchema } from "./chat.ts";
import { isObject } from "./parse.ts";

/** What may be replied in the JSON lane: a call of one of these tools with arguments that fit it, or an answer. */
export function actionSchema(tools: readonly ToolDescriptor[]): JsonSchema {
  return {
    oneOf: [
      ...tools.map((tool) => objectOf({ tool: { const: tool.name }, arguments: constrain(tool.paramSchema) })),
      objectOf({ answer: { type: "string" } }),
    ],
  };
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/** Keywords that a grammar is made from. The rest is for people, or for the gateway, which checks the whole schema. */
const SHAPING = ["type", "const", "enum", "required", "additionalProperties", "minItems", "maxItems"];

/** A tool's schema as far as constrained decoding can hold a model to it. References reach outside, so they free the value. */
function constrain(schema: unknown): JsonSchema {
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
