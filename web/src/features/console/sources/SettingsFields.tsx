import { t } from "../../../language/t.ts";
import { CheckField, Field, SelectField, TextAreaField } from "../../../ui/Field.tsx";
import type { Draft, DraftFault } from "./draft.ts";

interface SettingsFieldsProps {
  readonly draft: Draft;
  readonly fault: DraftFault | null;
  readonly keepsDocument: boolean;
  /** What can only be read. */
  readonly kept: ReadonlySet<keyof Draft>;
  readonly onChange: (part: Partial<Draft>) => void;
}

/** The members of a draft that are texts. */
type TextMember = { [Member in keyof Draft]: string extends Draft[Member] ? Member : never }[keyof Draft];

const SECRET_HINT = t`A secret is written as \${secret:NAME}.`;

/** What is said at a field that can only be read. */
export const KEPT_HINT = t`It stays as it is: this form cannot show or write it whole. It is changed on the command line.`;

/** The fields of the kind of source that is chosen. */
export function SettingsFields({ draft, fault, keepsDocument, kept, onChange }: SettingsFieldsProps) {
  const wire = (member: TextMember) => ({
    value: draft[member],
    error: fault?.field === member ? fault.message : undefined,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ [member]: event.currentTarget.value }),
    ...(kept.has(member) && { readOnly: true, hint: KEPT_HINT }),
  });
  const text = { autoComplete: "off", spellCheck: false } as const;
  const headers = (
    <TextAreaField label={t`Headers`} hint={t`One on each line: Name: value. ${SECRET_HINT}`} {...wire("headers")} />
  );
  const inside = (
    <CheckField
      label={t`Its host may be on a private network`}
      checked={draft.allowPrivate}
      onChange={(event) => onChange({ allowPrivate: event.currentTarget.checked })}
    />
  );
  const asks = (
    <CheckField
      label={t`It may ask me something during a call`}
      hint={t`A form on this console, for whoever the call is for. What they write goes to the server. Otherwise such a question is refused.`}
      checked={draft.asks}
      onChange={(event) => onChange({ asks: event.currentTarget.checked })}
    />
  );
  switch (draft.form) {
    case "program":
      return (
        <>
          <Field
            label={t`Program`}
            hint={t`A name or a whole path, such as npx.`}
            required
            {...text}
            {...wire("command")}
          />
          <TextAreaField label={t`Arguments`} hint={t`One on each line, without quotes.`} {...wire("args")} />
          <TextAreaField label={t`Variables`} hint={t`One on each line: NAME=value. ${SECRET_HINT}`} {...wire("env")} />
          <TextAreaField label={t`Folders it may read`} hint={t`Whole paths, one on each line.`} {...wire("folders")} />
          <TextAreaField
            label={t`Folders it may change`}
            hint={t`Whole paths, one on each line. It has a folder of its own in any case.`}
            {...wire("writable")}
          />
          <CheckField
            label={t`It may reach the network`}
            hint={t`Any address. Package runners such as npx need it.`}
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
            label={t`Address`}
            type="url"
            required
            placeholder="https://tools.example.com/mcp"
            {...text}
            {...wire("url")}
          />
          {headers}
          {inside}
          {asks}
        </>
      );
    case "api":
      return (
        <>
          <Field
            label={t`Base URL`}
            hint={t`Every request goes beneath it, and nowhere else.`}
            type="url"
            required
            placeholder="https://api.example.com/v1"
            {...text}
            {...wire("baseUrl")}
          />
          <SelectField
            label={t`OpenAPI document`}
            options={[
              ["file", t`a file on the gateway's machine`],
              ["url", t`an address at the same host`],
              ["text", t`pasted here`],
            ]}
            value={draft.documentFrom}
            disabled={kept.has("documentPlace")}
            onChange={(event) => onChange({ documentFrom: event.currentTarget.value as Draft["documentFrom"] })}
          />
          {draft.documentFrom === "text" ? (
            <TextAreaField
              label={t`Text of the document`}
              hint={keepsDocument ? t`Empty: the text that was pasted before stays.` : undefined}
              rows={8}
              required={!keepsDocument}
              {...wire("documentText")}
            />
          ) : (
            <Field
              label={draft.documentFrom === "file" ? t`Path of the document` : t`Address of the document`}
              required
              {...text}
              {...wire("documentPlace")}
            />
          )}
          {headers}
          {inside}
        </>
      );
    case "database":
      return (
        <>
          <Field
            label={t`Database URL`}
            hint={t`Such as sqlite:////var/lib/shop/orders.db or postgresql+pg8000://reader:PASSWORD@host/shop. ${SECRET_HINT}`}
            required
            {...text}
            {...wire("database")}
          />
          <SelectField
            label={t`Role`}
            options={[
              ["query", t`may only read`],
              ["change", t`may read and change`],
            ]}
            value={draft.role}
            onChange={(event) => onChange({ role: event.currentTarget.value as Draft["role"] })}
          />
        </>
      );
  }
}
