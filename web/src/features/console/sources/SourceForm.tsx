import { type FormEvent, type ReactNode, useEffect, useRef } from "react";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { explain } from "../errors.ts";
import { type Draft, type DraftFault, LABELS } from "./draft.ts";
import { KEPT_HINT, SettingsFields } from "./SettingsFields.tsx";

interface SourceFormProps {
  readonly title: string;
  readonly draft: Draft;
  readonly fault: DraftFault | null;
  readonly onChange: (part: Partial<Draft>) => void;
  /** What stands before the settings. */
  readonly children: ReactNode;
  /** A document that was pasted stays while the field for one is empty. */
  readonly keepsDocument?: boolean;
  /** What can only be read, and stays as it is. */
  readonly kept?: ReadonlySet<keyof Draft>;
  readonly submit: string;
  readonly busy: boolean;
  /** Why the gateway did not take it, under a title that says so. */
  readonly failure: Error | null;
  readonly refused: string;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}

const NONE: ReadonlySet<keyof Draft> = new Set();

/** The form that describes a source. What the settings mean is checked by the gateway, and its answer stands at the form. */
export function SourceForm(props: SourceFormProps) {
  const { title, draft, fault, kept = NONE, onChange, busy, failure } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) props.onSubmit();
  };
  return (
    <Card as="section" label={title}>
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      <form className="stack" aria-label={title} onSubmit={submit}>
        {props.children}
        <SettingsFields
          draft={draft}
          fault={fault}
          keepsDocument={props.keepsDocument ?? false}
          kept={kept}
          onChange={onChange}
        />
        {kept.has("label") ? (
          <Field label={t`Confidentiality of what it answers`} value={draft.label} hint={KEPT_HINT} readOnly />
        ) : (
          <SelectField
            label={t`Confidentiality of what it answers`}
            options={LABELS}
            value={draft.label}
            onChange={(event) => onChange({ label: event.currentTarget.value })}
          />
        )}
        {failure !== null && (
          <Banner tone="danger" urgent title={props.refused}>
            <p>{explain(failure)}</p>
          </Banner>
        )}
        <div className="row">
          <Button type="submit" variant="primary" busy={busy}>
            {props.submit}
          </Button>
          <Button variant="quiet" onClick={props.onClose}>
            {t`Cancel`}
          </Button>
        </div>
      </form>
    </Card>
  );
}
