import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { AliveSession } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { SelectField } from "../../../ui/Field.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { useAsk } from "../session.tsx";
import { refetchPeople, useAliveSessions } from "./queries.ts";

const LABELS = ["public", "internal", "confidential", "high"] as const;

/** The sessions in which agents work now, with the two things that take authority from one: a higher label, and its end. */
export function AliveSessions() {
  const sessions = useAliveSessions();
  return (
    <section className="stack" aria-labelledby="alive">
      <h2 id="alive">Sessions of the agent</h2>
      {sessions.isError && <Banner tone="danger" urgent title={explain(sessions.error)} />}
      {sessions.isPending && <Spinner label="Reading the sessions" />}
      {sessions.data?.length === 0 && (
        <EmptyState title="No session is open">
          <p>A session begins when somebody continues from this console to the shell, or connects a program.</p>
        </EmptyState>
      )}
      {sessions.data !== undefined && sessions.data.length > 0 && (
        <ul className="stack">
          {sessions.data.map((session) => (
            <SessionCard key={session.id} session={session} />
          ))}
        </ul>
      )}
    </section>
  );
}

function SessionCard({ session }: { readonly session: AliveSession }) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  const onSettled = () => refetchPeople(cache);
  const end = useMutation({
    mutationFn: () => ask("sessions/end", { sessionId: session.id }),
    onSuccess: () => toast("The session has ended."),
    onSettled,
  });
  const restrict = useMutation({
    mutationFn: (label: AliveSession["label"]) => ask("sessions/restrict", { sessionId: session.id, label }),
    onSuccess: () => toast("The session may do less now."),
    onSettled,
  });
  const failure = end.error ?? restrict.error;
  // A label never falls, so what is lower is no choice.
  const choices = LABELS.slice(LABELS.indexOf(session.label)).map((label) => [label, label] as const);
  return (
    <Card as="li">
      <KeyValue
        rows={[
          { name: "Of", value: <VisibleText text={session.principalName} prose /> },
          { name: "Session", value: <code>{session.id}</code> },
          { name: "Ends", value: <TimeAgo at={session.expiresAt} /> },
        ]}
      />
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <SelectField
        label="Label"
        hint="A higher one lets it do less, at once and for as long as it lasts. It never falls."
        options={choices}
        value={session.label}
        disabled={choices.length === 1 || restrict.isPending}
        onChange={(event) => restrict.mutate(event.target.value as AliveSession["label"])}
      />
      <div>
        <Button variant="danger" busy={end.isPending} onClick={() => end.mutate()}>
          End this session
        </Button>
      </div>
    </Card>
  );
}
