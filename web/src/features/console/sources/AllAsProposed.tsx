import { useState } from "react";
import { t } from "../../../language/t.ts";
import type { Source, SourceDecision } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { explain } from "../errors.ts";
import { ConfirmDecisions } from "./ConfirmDecisions.tsx";
import { useDecide, useReadUndecided } from "./queries.ts";
import { countedTools } from "./words.ts";

/** Gives every undecided tool that is searched for its proposed category, after all of them were listed with it. */
export function AllAsProposed({ source, search }: { readonly source: Source; readonly search: string }) {
  // Taken when the dialog opens, so that nothing is decided that does not stand in it.
  const [asked, setAsked] = useState<readonly SourceDecision[] | null>(null);
  const read = useReadUndecided(source.name);
  const decide = useDecide(source.name);
  const toast = useToast();
  const open = () =>
    read.mutate(search, {
      onSuccess: (tools) => {
        if (tools.length === 0) toast(t`No undecided tool matches.`);
        else setAsked(tools.map(({ tool, pin, proposed }) => ({ tool, pin, category: proposed })));
      },
    });
  const confirm = () =>
    decide.mutate(asked ?? [], {
      onSuccess: (decided) => toast(t`${countedTools(decided.length)} decided as proposed.`),
      onSettled: () => setAsked(null),
    });
  const failure = read.error ?? decide.error;
  return (
    <>
      {source.counts.proposed > 0 && (
        <Button size="small" busy={read.isPending} onClick={open}>
          {search === "" ? t`All undecided as proposed` : t`All undecided that match as proposed`}
        </Button>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <ConfirmDecisions decisions={asked} busy={decide.isPending} onConfirm={confirm} onClose={() => setAsked(null)} />
    </>
  );
}
