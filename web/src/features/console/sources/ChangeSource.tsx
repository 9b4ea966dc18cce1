import { useState } from "react";
import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { useToast } from "../../../ui/Toast.tsx";
import { draftFromSource, hasPastedDocument, keptFields, readChange } from "./change.ts";
import { type DraftFault, isFault } from "./draft.ts";
import { useChangeSource } from "./queries.ts";
import { SourceForm } from "./SourceForm.tsx";

interface ChangeSourceProps {
  readonly source: Source;
  readonly onClose: () => void;
}

/** The form that changes the settings of a source under its name. */
export function ChangeSource({ source, onClose }: ChangeSourceProps) {
  // As it was when the form was opened: a change is made to what was looked at, and the gateway refuses any other.
  const [seen] = useState(source);
  const [draft, setDraft] = useState(() => draftFromSource(seen));
  const [fault, setFault] = useState<DraftFault | null>(null);
  const toast = useToast();
  const change = useChangeSource();
  const onSubmit = () => {
    const read = readChange(seen, draft);
    setFault(isFault(read) ? read : null);
    if (isFault(read)) return;
    change.mutate(read, {
      onSuccess: ({ name }) => {
        toast(t`${name} was changed. It is asked anew what it offers.`);
        onClose();
      },
    });
  };
  return (
    <SourceForm
      title={t`Change ${source.name}`}
      draft={draft}
      fault={fault}
      onChange={(part) => setDraft({ ...draft, ...part })}
      keepsDocument={hasPastedDocument(seen)}
      kept={keptFields(seen)}
      submit={t`Change it`}
      busy={change.isPending}
      failure={change.error}
      refused={t`The gateway did not change it`}
      onSubmit={onSubmit}
      onClose={onClose}
    >
      <p>
        {t`It is connected anew and asked what it offers. A tool that is then still what was decided about stays as it is. Any other cannot be called until somebody decides again: these are all of them with another program, other arguments or another address, and where it may change other folders, reach the network or ask questions from now on, or may not any more. Another variable, or another folder that it may only read, changes none of them.`}
      </p>
    </SourceForm>
  );
}
