import { type FormEvent, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { explain } from "../errors.ts";
import { paths } from "../paths.ts";
import { type DraftFault, type DraftForm, EMPTY_DRAFT, FORMS, isFault, LABELS, readDraft } from "./draft.ts";
import { useAddSource } from "./queries.ts";
import { SettingsFields } from "./SettingsFields.tsx";

/** The form that adds a source. What the settings mean is checked by the gateway, and its answer stands at the form. */
export function AddSource({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [fault, setFault] = useState<DraftFault | null>(null);
  const [, navigate] = useLocation();
  const toast = useToast();
  const add = useAddSource();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (add.isPending) return;
    const read = readDraft(draft);
    setFault(isFault(read) ? read : null);
    if (isFault(read)) return;
    add.mutate(read, {
      onSuccess: ({ name }) => {
        toast(t`${name} was added. Nothing of it can be called before you decide.`);
        navigate(paths.source(name));
      },
    });
  };
  return (
    <Card as="section" label={t`Add a source`}>
      <h2 ref={heading} tabIndex={-1}>
        {t`Add a source`}
      </h2>
      <form className="stack" aria-label={t`Add a source`} onSubmit={submit}>
        <SelectField
          label={t`Kind`}
          options={FORMS}
          value={draft.form}
          onChange={(event) => setDraft({ ...draft, form: event.currentTarget.value as DraftForm })}
        />
        <Field
          label={t`Name`}
          hint={t`Its tools are published as name__tool. Lower-case letters, digits and single hyphens.`}
          value={draft.name}
          maxLength={32}
          required
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
        />
        <SettingsFields draft={draft} fault={fault} onChange={(part) => setDraft({ ...draft, ...part })} />
        <SelectField
          label={t`Confidentiality of what it answers`}
          options={LABELS}
          value={draft.label}
          onChange={(event) => setDraft({ ...draft, label: event.currentTarget.value })}
        />
        {add.isError && (
          <Banner tone="danger" urgent title={t`The gateway did not add it`}>
            <p>{explain(add.error)}</p>
          </Banner>
        )}
        <div className="row">
          <Button type="submit" variant="primary" busy={add.isPending}>
            {t`Add it`}
          </Button>
          <Button variant="quiet" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </div>
      </form>
    </Card>
  );
}
