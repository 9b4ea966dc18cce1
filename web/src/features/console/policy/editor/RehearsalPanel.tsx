import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { t } from "../../../../language/t.ts";
import { RpcError } from "../../../../protocol/rpc.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { SelectField } from "../../../../ui/Field.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { useAsk, useSession } from "../../session.tsx";
import { ChangedCalls } from "./ChangedCalls.tsx";
import { summariseRehearsal } from "./sentences.ts";
import { documentsOf, type Texts } from "./texts.ts";

const SPANS = [
  ["1", t`the last day`],
  ["7", t`the last 7 days`],
  ["30", t`the last 30 days`],
  ["365", t`the last 365 days`],
] as const;

const FIRST_DAYS = "7";

interface RehearsalPanelProps {
  readonly texts: Texts;
  /** Whether it begins by itself, with the last 7 days. */
  readonly begin?: boolean | undefined;
}

/** A draft put to the calls on record. It runs on the gateway and can be stopped. */
export function RehearsalPanel({ texts, begin = false }: RehearsalPanelProps) {
  const ask = useAsk();
  const { client } = useSession();
  const [days, setDays] = useState<string>(FIRST_DAYS);
  const [judged, setJudged] = useState(0);
  useEffect(() => client.on("policy/rehearsing", (progress) => setJudged(progress.judged)), [client]);
  const run = useMutation({
    mutationFn: async (given: { readonly texts: Texts; readonly days: number }) => {
      setJudged(0);
      const documents = documentsOf(given.texts) ?? [{ name: "", text: "" }];
      return ask("policy/rehearse", { documents, days: given.days });
    },
  });
  const { mutate } = run;
  const wanted = useRef(begin);
  useEffect(() => {
    if (!wanted.current) return;
    wanted.current = false;
    mutate({ texts, days: Number(FIRST_DAYS) });
  }, [mutate, texts]);
  const stop = useMutation({ mutationFn: () => ask("policy/stop-rehearsal", {}) });
  const stopped = run.error instanceof RpcError && run.error.word === "stopped";
  return (
    <div className="stack">
      <div className="row">
        <SelectField
          label={t`Calls of`}
          value={days}
          options={SPANS}
          onChange={(event) => setDays(event.target.value)}
        />
        <Button busy={run.isPending} onClick={() => run.mutate({ texts, days: Number(days) })}>
          {t`Rehearse`}
        </Button>
        {run.isPending && <Button onClick={() => stop.mutate()}>{t`Stop`}</Button>}
      </div>
      {run.isPending && <Spinner label={t`Calls judged again: ${judged}`} />}
      {stopped && <p role="status">{t`The rehearsal was stopped.`}</p>}
      {run.isError && !stopped && <Banner tone="danger" urgent title={explain(run.error)} />}
      {run.data !== undefined && (
        <>
          {run.variables.texts !== texts && <p className="note">{t`The draft was changed since.`}</p>}
          <p role="status">
            <strong>{summariseRehearsal(run.data, run.variables.days)}</strong>
          </p>
          <p className="note">
            {t`Calls judged again: ${run.data.judged}. Questions to people: ${run.data.questionsBefore} before, ${run.data.questionsAfter} under the draft.`}
            {run.data.unjudged > 0 && t` Calls that cannot be judged again: ${run.data.unjudged}.`}
          </p>
          {run.data.unlike > 0 && (
            <Banner tone="danger" title={t`The record does not come out as it stands`}>
              <p>
                {t`${run.data.unlike} calls are decided otherwise under their own version. Do not rely on this rehearsal.`}
              </p>
            </Banner>
          )}
          {run.data.changes.map((change) => (
            <ChangedCalls key={change.change} change={change} />
          ))}
        </>
      )}
    </div>
  );
}
