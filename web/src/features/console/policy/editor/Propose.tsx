import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Field } from "../../../../ui/Field.tsx";
import { explain } from "../../errors.ts";
import { useAsk } from "../../session.tsx";
import { documentsOf, type Texts } from "./texts.ts";

interface ProposeProps {
  readonly texts: Texts;
  /** The version that the texts were made from. */
  readonly base: string;
  /** A reason that can be kept as it is. */
  readonly suggestion?: string | undefined;
  readonly onProposed: (answer: PolicyProposed) => void;
}

/** Has a draft signed, for a reason that goes on record. */
export function Propose({ texts, base, suggestion = "", onProposed }: ProposeProps) {
  const ask = useAsk();
  const [reason, setReason] = useState(suggestion);
  const propose = useMutation({
    mutationFn: () => {
      const documents = documentsOf(texts);
      return ask("policy/propose", { base, reason, ...(documents && { documents }) });
    },
    onSuccess: onProposed,
  });
  return (
    <>
      <h3>{t`Put it in force`}</h3>
      <Field
        label={t`Why`}
        hint={t`For the record, and for who signs it.`}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {propose.isError && <Banner tone="danger" urgent title={explain(propose.error)} />}
      <div className="row">
        <Button
          variant="primary"
          busy={propose.isPending}
          disabled={reason.trim() === ""}
          onClick={() => propose.mutate()}
        >
          {t`Propose it`}
        </Button>
      </div>
    </>
  );
}
