import { CheckField, Field, SelectField, TextAreaField } from "../../../ui/Field.tsx";
import type { Draft, DraftFault } from "./draft.ts";

interface SettingsFieldsProps {
  readonly draft: Draft;
  readonly fault: DraftFault | null;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** The members of a draft that are texts. */
type TextMember = { [Member in keyof Draft]: string extends Draft[Member] ? Member : never }[keyof Draft];

// biome-ignore lint/suspicious/noTemplateCurlyInString: settings are written like this
const SECRET_HINT = "A secret is written as ${secret:NAME}.";

/** The fields of the kind of source that is chosen. */
export function SettingsFields({ draft, fault, onChange }: SettingsFieldsProps) {
  const wire = (member: TextMember) => ({
    value: draft[member],
    error: fault?.field === member ? fault.message : undefined,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ [member]: event.currentTarget.value }),
  });
  const text = { autoComplete: "off", spellCheck: false } as const;
  const headers = (
    <TextAreaField label="Headers" hint={`One on each line: Name: value. ${SECRET_HINT}`} {...wire("headers")} />
  );
  const asks = (
    <CheckField
      label="It may ask me something during a call"
      hint="A form on this console, for whoever the call is for. What they write goes to the server. Otherwise such a question is refused."
      checked={draft.asks}
      onChange={(event) => onChange({ asks: event.currentTarget.checked })}
    />
  );
  switch (draft.form) {
    case "program":
      return (
        <>
          <Field label="Program" hint="A name or a whole path, such as npx." required {...text} {...wire("command")} />
          <TextAreaField label="Arguments" hint="One on each line, without quotes." {...wire("args")} />
          <TextAreaField label="Variables" hint={`One on each line: NAME=value. ${SECRET_HINT}`} {...wire("env")} />
          <TextAreaField label="Folders it may read" hint="Whole paths, one on each line." {...wire("folders")} />
          <TextAreaField
            label="Folders it may change"
            hint="Whole paths, one on each line. It has a folder of its own in any case."
            {...wire("writable")}
          />
          <CheckField
            label="It may reach the network"
            hint="Any address. Package runners such as npx need it."
            checked={draft.network}
            onChange={(event) => onChange({ network: event.currentTarget.checked })}
          />
          {asks}
        </>
      );
    case "address":
      return (
        <>
          <Field
            label="Address"
            type="url"
            required
            placeholder="https://tools.example.com/mcp"
            {...text}
            {...wire("url")}
          />
          {headers}
          {asks}
        </>
      );
    case "api":
      return (
        <>
          <Field
            label="Base URL"
            hint="Every request goes beneath it, and nowhere else."
            type="url"
            required
            placeholder="https://api.example.com/v1"
            {...text}
            {...wire("baseUrl")}
          />
          <SelectField
            label="OpenAPI document"
            options={[
              ["file", "a file on the gateway's machine"],
              ["url", "an address at the same host"],
              ["text", "pasted here"],
            ]}
            value={draft.documentFrom}
            onChange={(event) => onChange({ documentFrom: event.currentTarget.value as Draft["documentFrom"] })}
          />
          {draft.documentFrom === "text" ? (
            <TextAreaField label="Text of the document" rows={8} required {...wire("documentText")} />
          ) : (
            <Field
              label={draft.documentFrom === "file" ? "Path of the document" : "Address of the document"}
              required
              {...text}
              {...wire("documentPlace")}
            />
          )}
          {headers}
          <CheckField
            label="Its host may be on a private network"
            checked={draft.allowPrivate}
            onChange={(event) => onChange({ allowPrivate: event.currentTarget.checked })}
          />
        </>
      );
    case "database":
      return (
        <>
          <Field
            label="Database URL"
            hint={`Such as sqlite:////var/lib/shop/orders.db or postgresql+pg8000://reader:PASSWORD@host/shop. ${SECRET_HINT}`}
            required
            {...text}
            {...wire("database")}
          />
          <SelectField
            label="Role"
            options={[
              ["query", "may only read"],
              ["change", "may read and change"],
            ]}
            value={draft.role}
            onChange={(event) => onChange({ role: event.currentTarget.value as Draft["role"] })}
          />
        </>
      );
  }
}
