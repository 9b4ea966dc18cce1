import { useEffect, useId, useMemo, useRef, useState } from "react";
import { t } from "../../language/t.ts";
import type { ToolDescriptor } from "../../protocol/generated.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field, SelectField, TextAreaField } from "../../ui/Field.tsx";
import styles from "./CallForm.module.css";
import { fieldsOf, initialTexts, othersIn, readArguments, type SchemaField } from "./schema-form.ts";

export interface CallFormProps {
  readonly tool: ToolDescriptor;
  readonly title: string;
  readonly action: string;
  /** The arguments that the form begins with. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly onCall: (given: Record<string, unknown>) => void;
  readonly onClose: () => void;
}

/** A tool's arguments as a form, made from its schema. What the fields cannot say is judged by the gateway, as for every call. */
export function CallForm({ tool, title, action, given, onCall, onClose }: CallFormProps) {
  const fields = useMemo(() => fieldsOf(tool.paramSchema), [tool]);
  const [texts, setTexts] = useState(() => initialTexts(fields, given));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);
  const formId = useId();

  // The first field that is wrong is where the person goes on.
  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [errors]);

  const submit = () => {
    const reading = readArguments(fields, texts);
    if (reading.kind === "errors") setErrors(reading.errors);
    else onCall({ ...othersIn(fields, given), ...reading.given });
  };

  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <Button variant="primary" type="submit" form={formId}>
          {action}
        </Button>
      }
    >
      <form
        ref={form}
        id={formId}
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <p className={styles.note}>{tool.description}</p>
        {fields.length === 0 && <p>{t`This tool takes no arguments.`}</p>}
        {fields.map((field) => (
          <ArgumentField
            key={field.name}
            field={field}
            text={texts[field.name] ?? ""}
            error={errors[field.name]}
            onChange={(text) => setTexts((before) => ({ ...before, [field.name]: text }))}
          />
        ))}
      </form>
    </Dialog>
  );
}

interface ArgumentFieldProps {
  readonly field: SchemaField;
  readonly text: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}

function ArgumentField({ field, text, error, onChange }: ArgumentFieldProps) {
  const { name, kind, required, options } = field;
  const hint = [field.hint, kind === "json" && t`As JSON`].filter(Boolean).join(". ") || undefined;
  const shared = { label: required ? name : `${name} (optional)`, hint, error, value: text };
  const isRequired = { "aria-required": required || undefined };
  switch (kind) {
    case "choice":
    case "yesNo": {
      const known = kind === "choice" ? options : [["true", t`Yes`] as const, ["false", t`No`] as const];
      return (
        <SelectField
          {...shared}
          {...isRequired}
          options={[["", required ? t`Choose one` : t`Not given`], ...known]}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    }
    case "text":
    case "json":
      return (
        <TextAreaField
          {...shared}
          {...isRequired}
          rows={Math.min(12, Math.max(3, text.split("\n").length))}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case "line":
    case "integer":
    case "number":
      return (
        <Field
          {...shared}
          {...isRequired}
          inputMode={kind === "line" ? "text" : kind === "integer" ? "numeric" : "decimal"}
          autoCapitalize="off"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}
