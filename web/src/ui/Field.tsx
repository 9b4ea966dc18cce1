import { type InputHTMLAttributes, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from "react";
import { classes } from "./classes.ts";
import styles from "./Field.module.css";

interface Described {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value cannot be taken; the control is marked invalid while it is set. */
  readonly error?: string | undefined;
}

export interface FieldProps
  extends Described,
    Omit<InputHTMLAttributes<HTMLInputElement>, "className" | "style" | "id"> {}

/** A labelled text input with its hint and its error, wired so that all three are read together. */
export function Field({ label, hint, error, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input {...input} {...wiring(id, hint, error)} className={styles.control} />
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

export interface SelectFieldProps
  extends Described,
    Omit<SelectHTMLAttributes<HTMLSelectElement>, "className" | "style" | "id"> {
  /** Value and words of each choice. */
  readonly options: readonly (readonly [string, string])[];
}

/** The browser's own select, labelled in the same way. */
export function SelectField({ label, hint, error, options, ...select }: SelectFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <select {...select} {...wiring(id, hint, error)} className={styles.control}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

export interface TextAreaFieldProps
  extends Described,
    Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "className" | "style" | "id"> {}

/** Several lines of text, such as a list with one entry on each line. Nothing in it is corrected or completed. */
export function TextAreaField({ label, hint, error, ...area }: TextAreaFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <textarea
        rows={3}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        {...area}
        {...wiring(id, hint, error)}
        className={classes(styles.control, styles.area)}
      />
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

export interface CheckFieldProps
  extends Described,
    Omit<InputHTMLAttributes<HTMLInputElement>, "className" | "style" | "id" | "type"> {}

/** A box to tick, with its label beside it. */
export function CheckField({ label, hint, error, ...input }: CheckFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <span className={styles.check}>
        <input {...input} {...wiring(id, hint, error)} type="checkbox" />
        <label htmlFor={id}>{label}</label>
      </span>
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

function Notes({
  id,
  hint,
  error,
}: {
  readonly id: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
}) {
  return (
    <>
      {hint !== undefined && (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} className={styles.error} role="alert">
          {error}
        </span>
      )}
    </>
  );
}

function wiring(id: string, hint: string | undefined, error: string | undefined) {
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(" ");
  return { id, "aria-describedby": described || undefined, "aria-invalid": error !== undefined || undefined };
}
