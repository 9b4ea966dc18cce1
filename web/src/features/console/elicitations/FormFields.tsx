import { t } from "../../../language/t.ts";
import type { FormField } from "../../../protocol/generated.ts";
import { CheckField, Field, SelectField } from "../../../ui/Field.tsx";
import { segment } from "../../../ui/text-segments.ts";
import type { FormDraft } from "./form-values.ts";

interface FormFieldsProps {
  readonly fields: readonly FormField[];
  readonly draft: FormDraft;
  readonly onChange: (draft: FormDraft) => void;
}

/** The fields of a server's form, each with its own control and with what is expected in it. */
export function FormFields({ fields, draft, onChange }: FormFieldsProps) {
  return fields.map((field) => (
    <Control
      key={field.name}
      field={field}
      value={draft[field.name]}
      onChange={(value) => onChange({ ...draft, [field.name]: value })}
    />
  ));
}

interface ControlProps {
  readonly field: FormField;
  readonly value: FormDraft[string] | undefined;
  readonly onChange: (value: FormDraft[string]) => void;
}

function Control({ field, value, onChange }: ControlProps) {
  const label = labelOf(field);
  const hint = [field.description && plain(field.description), expected(field)].filter(Boolean).join(" · ");
  switch (field.kind) {
    case "boolean":
      return (
        <CheckField
          label={label}
          hint={hint}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case "choice":
      return (
        <SelectField
          label={label}
          hint={hint}
          value={String(value)}
          options={[["", "—"], ...field.options.map(({ value: each, label: words }) => [each, plain(words)] as const)]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "choices":
      return <Choices field={field} chosen={Array.isArray(value) ? value : []} onChange={onChange} />;
    case "text":
    case "number":
    case "integer":
      return (
        <Field
          label={label}
          hint={hint}
          value={String(value)}
          inputMode={field.kind === "text" ? undefined : "decimal"}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

interface ChoicesProps {
  readonly field: FormField;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function Choices({ field, chosen, onChange }: ChoicesProps) {
  return (
    <fieldset className="stack">
      <legend>{labelOf(field)}</legend>
      {field.options.map(({ value, label }) => (
        <CheckField
          key={value}
          label={plain(label)}
          checked={chosen.includes(value)}
          onChange={(event) =>
            onChange(event.currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
          }
        />
      ))}
    </fieldset>
  );
}

/** The server's title, and always the name under which the value is sent. */
function labelOf({ name, title, required }: FormField): string {
  const shown = title === undefined || title === name ? name : `${plain(title)} (${name})`;
  return required ? shown : t`${shown}, optional`;
}

/** What goes into the field, in the console's own words. */
function expected({ kind, format, least, most }: FormField): string {
  const what = { text: format ?? t`text`, number: t`number`, integer: t`whole number`, boolean: t`yes or no` };
  const unit = kind === "text" ? t` characters` : "";
  const bounds = [
    least !== undefined && t`at least ${least}${unit}`,
    most !== undefined && t`at most ${most}${unit}`,
  ].filter(Boolean);
  return [kind === "choice" || kind === "choices" ? "" : what[kind], ...bounds].filter(Boolean).join(", ");
}

/** The server's words where only text can stand; what cannot be seen is spelt out. */
function plain(text: string): string {
  return segment(text)
    .map((part) => (part.kind === "escape" ? part.code : part.text))
    .join("");
}
