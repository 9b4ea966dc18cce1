import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { ShadowView } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Field } from "../../../../ui/Field.tsx";
import { TimeAgo } from "../../../../ui/TimeAgo.tsx";
import { explain } from "../../errors.ts";
import { useAsk } from "../../session.tsx";
import { ChangedCalls } from "./ChangedCalls.tsx";
import { documentsOf, type Texts } from "./texts.ts";

const key = ["policy-editor", "shadow"] as const;

/** How often the counts are asked for while a policy runs in shadow. */
const COUNTED_EVERY_MS = 5_000;

function useShadow() {
  const ask = useAsk();
  return useQuery({
    queryKey: key,
    queryFn: () => ask("policy/shadow", {}),
    refetchInterval: ({ state }) => (state.data?.shadow === undefined ? false : COUNTED_EVERY_MS),
  });
}

/** The policy that runs beside the one in force, with the calls that it would have decided otherwise. Nothing where none runs. */
export function Shadow() {
  const ask = useAsk();
  const cache = useQueryClient();
  const state = useShadow();
  const stop = useMutation({
    mutationFn: () => ask("policy/stop-shadow", {}),
    onSettled: () => cache.invalidateQueries({ queryKey: key }),
  });
  const shadow = state.data?.shadow;
  if (state.isError) return <Banner tone="danger" urgent title={explain(state.error)} />;
  if (shadow === undefined) return null;
  return (
    <Card as="section" labelledBy="policy-shadow">
      <h2 id="policy-shadow">{t`In shadow`}</h2>
      <p>
        {rich`${<code title={shadow.version}>{shadow.version.slice(0, 12)}</code>} runs beside the policy in force since ${<TimeAgo at={shadow.at} />} and decides nothing.`}
      </p>
      <Counts shadow={shadow} />
      {stop.isError && <Banner tone="danger" urgent title={explain(stop.error)} />}
      <div className="row">
        <Button busy={stop.isPending} onClick={() => stop.mutate()}>
          {t`Stop it`}
        </Button>
      </div>
    </Card>
  );
}

function Counts({ shadow }: { readonly shadow: ShadowView }) {
  const differing = shadow.changes.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <p role="status">
        <strong>{t`Of ${shadow.judged} calls it decides ${differing} otherwise.`}</strong>
      </p>
      {shadow.changes.map((change) => (
        <ChangedCalls key={change.change} change={change} />
      ))}
      {shadow.unjudged > 0 && <p className="note">{t`Calls that cannot be judged again: ${shadow.unjudged}.`}</p>}
      {shadow.unlike > 0 && (
        <Banner tone="danger" title={t`The record does not come out as it stands`}>
          <p>{t`${shadow.unlike} calls are decided otherwise under their own version. Do not rely on these counts.`}</p>
        </Banner>
      )}
      {shadow.behind && <p className="note">{t`More calls are on record, and are compared by and by.`}</p>}
    </>
  );
}

/** Runs a draft beside the policy in force, for a reason that goes on record. */
export function RunInShadow({ texts }: { readonly texts: Texts }) {
  const ask = useAsk();
  const cache = useQueryClient();
  const [why, setWhy] = useState("");
  const start = useMutation({
    mutationFn: () => ask("policy/start-shadow", { why, documents: documentsOf(texts) ?? [{ name: "", text: "" }] }),
    onSuccess: (state) => cache.setQueryData(key, state),
  });
  return (
    <details>
      <summary>{t`Run it in shadow first`}</summary>
      <p>{t`It is put to every call from then on and decides none, until you stop it or it comes into force.`}</p>
      <Field label={t`Why it is tried`} value={why} onChange={(event) => setWhy(event.target.value)} />
      {start.isError && <Banner tone="danger" urgent title={explain(start.error)} />}
      {start.isSuccess && <p role="status">{t`It runs in shadow.`}</p>}
      <Button busy={start.isPending} disabled={why.trim() === ""} onClick={() => start.mutate()}>
        {t`Run it in shadow`}
      </Button>
    </details>
  );
}
