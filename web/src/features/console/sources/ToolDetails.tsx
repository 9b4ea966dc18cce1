import { t } from "../../../language/t.ts";
import type { SourceTool } from "../../../protocol/generated.ts";
import { Digest } from "../../../ui/Digest.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { nameMember } from "./DefinitionDifference.tsx";

/** Everything that a decision about a tool is bound to: its definition, member by member, and the pin. */
export function ToolDetails({ tool: { definition, pin } }: { readonly tool: SourceTool }) {
  const rows: Row[] = Object.entries(definition)
    .filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => ({
      name: nameMember(name),
      value: name === "paramSchema" ? <Parameters schema={value} /> : <Member value={value} />,
    }));
  return <KeyValue rows={[...rows, { name: t`Pin`, value: <Digest value={pin} what={t`pin`} /> }]} />;
}

function Member({ value }: { readonly value: unknown }) {
  if (typeof value === "string") return <VisibleText text={value} prose />;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
    return (
      <ul>
        {value.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the texts of one definition never move
          <li key={index}>
            <VisibleText text={each} prose />
          </li>
        ))}
      </ul>
    );
  }
  return <JsonView value={value} />;
}

/** The parameters as a list that can be read, and the schema itself below it. */
function Parameters({ schema }: { readonly schema: unknown }) {
  const parameters = readParameters(schema);
  return (
    <div className="stack">
      {parameters.length === 0 && <p>{t`It takes no parameters.`}</p>}
      {parameters.length > 0 && (
        <ul>
          {parameters.map(({ name, type, required, description }) => (
            <li key={name}>
              <VisibleText text={name} /> <Tag>{type}</Tag> {required && <Tag tone="info">{t`required`}</Tag>}{" "}
              {description !== "" && <VisibleText text={description} prose />}
            </li>
          ))}
        </ul>
      )}
      <JsonView value={schema} openTo={0} />
    </div>
  );
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

/** JSON Schema's own words for types; what is none of them is called by no word of the source. */
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

function readParameters(schema: unknown): readonly Parameter[] {
  const { properties, required } = members(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(members(properties)).map(([name, property]) => {
    const { type, description } = members(property);
    return {
      name,
      type: typeof type === "string" && TYPES.has(type) ? type : "any",
      required: needed.has(name),
      description: typeof description === "string" ? description : "",
    };
  });
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
