import { expect, test } from "vitest";
import { actionSchema } from "../../../src/agent/action-schema.ts";
import { copyableStrings } from "../../../src/agent/copied.ts";
import { spokenArguments } from "../../../src/agent/optional.ts";
import { requirement } from "../../requirement.ts";
import { descriptor } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: {
    name: string;
    tool?: string;
    schema: Record<string, unknown> & { required?: string[] };
    wish: string;
    spoken: Record<string, unknown>;
  }[];
}

const { cases } = readVectors<Vectors>("optional");

test.each(cases)("an optional argument is what the wish says of it: $name", ({ tool, schema, wish, spoken }) => {
  expect(spokenArguments(schema, wish, tool)).toEqual(spoken);
});

test.each(cases)(
  "a model can write those that are spoken of and no others: $name",
  ({ tool = "made_up", schema, wish, spoken }) => {
    requirement("000-22", "an optional argument can be given, and only where it is spoken of");
    const own = copyableStrings([]);
    const made = descriptor(tool, { paramSchema: schema });
    const [call] = actionSchema([made], own, own, wish).oneOf as {
      properties: { arguments: { required: string[] } };
    }[];
    expect(call?.properties.arguments.required).toEqual([...(schema.required ?? []), ...Object.keys(spoken)]);
  },
);
