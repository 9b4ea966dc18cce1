import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
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
  ["1", "the last day"],
  ["7", "the last 7 days"],
  ["30", "the last 30 days"],
  ["365", "the last 365 days"],
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
        <SelectField label="Calls of" value={days} options={SPANS} onChange={(event) => setDays(event.target.value)} />
        <Button busy={run.isPending} onClick={() => run.mutate({ texts, days: Number(days) })}>
          Rehearse
        </Button>
        {run.isPending && <Button onClick={() => stop.mutate()}>Stop</Button>}
      </div>
      {run.isPending && <Spinner label={`Calls judged again: ${judged.toLocaleString("en")}`} />}
      {stopped && <p role="status">The rehearsal was stopped.</p>}
      {run.isError && !stopped && <Banner tone="danger" urgent title={explain(run.error)} />}
      {run.data !== undefined && (
        <>
          {run.variables.texts !== texts && <p className="note">The draft was changed since.</p>}
          <p role="status">
            <strong>{summariseRehearsal(run.data, run.variables.days)}</strong>
          </p>
          <p className="note">
            Calls judged again: {run.data.judged.toLocaleString("en")}. Questions to people:{" "}
            {run.data.questionsBefore.toLocaleString("en")} before, {run.data.questionsAfter.toLocaleString("en")} under
            the draft.
            {run.data.unjudged > 0 && ` Calls that cannot be judged again: ${run.data.unjudged.toLocaleString("en")}.`}
          </p>
          {run.data.unlike > 0 && (
            <Banner tone="danger" title="The record does not come out as it stands">
              <p>
                {run.data.unlike} calls are decided otherwise under their own version. Do not rely on this rehearsal.
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
