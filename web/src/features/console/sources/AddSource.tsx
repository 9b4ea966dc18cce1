import { useState } from "react";
import { useLocation } from "wouter";
import { t } from "../../../language/t.ts";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { paths } from "../paths.ts";
import { type DraftFault, type DraftForm, EMPTY_DRAFT, FORMS, isFault, readDraft } from "./draft.ts";
import { useAddSource } from "./queries.ts";
import { SourceForm } from "./SourceForm.tsx";

/** The form that adds a source. */
export function AddSource({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [fault, setFault] = useState<DraftFault | null>(null);
  const [, navigate] = useLocation();
  const toast = useToast();
  const add = useAddSource();
  const onSubmit = () => {
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
    <SourceForm
      title={t`Add a source`}
      draft={draft}
      fault={fault}
      onChange={(part) => setDraft({ ...draft, ...part })}
      submit={t`Add it`}
      busy={add.isPending}
      failure={add.error}
      refused={t`The gateway did not add it`}
      onSubmit={onSubmit}
      onClose={onClose}
    >
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
    </SourceForm>
  );
}
