import { useMutation, useQueryClient } from "@tanstack/react-query";
import { t } from "../../../language/t.ts";
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
const LABEL_NAMES = { public: t`public`, internal: t`internal`, confidential: t`confidential`, high: t`high` } as const;

/** The sessions in which agents work now, with the two things that take authority from one: a higher label, and its end. */
export function AliveSessions() {
  const sessions = useAliveSessions();
  return (
    <section className="stack" aria-labelledby="alive">
      <h2 id="alive">{t`Sessions of the agent`}</h2>
      {sessions.isError && <Banner tone="danger" urgent title={explain(sessions.error)} />}
      {sessions.isPending && <Spinner label={t`Reading the sessions`} />}
      {sessions.data?.length === 0 && (
        <EmptyState title={t`No session is open`}>
          <p>{t`A session begins when somebody continues from this console to the shell, or connects a program.`}</p>
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
    onSuccess: () => toast(t`The session has ended.`),
    onSettled,
  });
  const restrict = useMutation({
    mutationFn: (label: AliveSession["label"]) => ask("sessions/restrict", { sessionId: session.id, label }),
    onSuccess: () => toast(t`The session may do less now.`),
    onSettled,
  });
  const failure = end.error ?? restrict.error;
  // A label never falls, so what is lower is no choice.
  const choices = LABELS.slice(LABELS.indexOf(session.label)).map((label) => [label, LABEL_NAMES[label]] as const);
  return (
    <Card as="li">
      <KeyValue
        rows={[
          { name: t`Of`, value: <VisibleText text={session.principalName} prose /> },
          { name: t`Session`, value: <code>{session.id}</code> },
          { name: t`Ends`, value: <TimeAgo at={session.expiresAt} /> },
        ]}
      />
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <SelectField
        label={t`Label`}
        hint={t`A higher one lets it do less, at once and for as long as it lasts. It never falls.`}
        options={choices}
        value={session.label}
        disabled={choices.length === 1 || restrict.isPending}
        onChange={(event) => restrict.mutate(event.target.value as AliveSession["label"])}
      />
      <div>
        <Button variant="danger" busy={end.isPending} onClick={() => end.mutate()}>
          {t`End this session`}
        </Button>
      </div>
    </Card>
  );
}
