import { t } from "../../../language/t.ts";
import type { Person } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { AliveSessions } from "./AliveSessions.tsx";
import { Invite } from "./Invite.tsx";
import { PersonCard } from "./PersonCard.tsx";
import { usePeople } from "./queries.ts";

/** Who is enrolled and what they may do, their sessions, and the invitation of the next person. */
export function People() {
  const people = usePeople();
  const enrolled = (people.data ?? []).filter(({ passkeys }) => passkeys > 0);
  const gone = (people.data ?? []).filter(({ passkeys }) => passkeys === 0);
  return (
    <>
      <PageHeading
        lead={t`Whoever is enrolled here signs in with a passkey of their own. What you take from somebody ends at once, in every window that they have open.`}
      >
        {t`People`}
      </PageHeading>
      {people.isError && <Banner tone="danger" urgent title={explain(people.error)} />}
      {people.isPending && <Spinner label={t`Reading who is enrolled`} />}
      <Cards title={t`Enrolled`} people={enrolled} />
      <Invite />
      <AliveSessions />
      <Cards title={t`Without a passkey`} people={gone} />
    </>
  );
}

function Cards({ title, people }: { readonly title: string; readonly people: readonly Person[] }) {
  if (people.length === 0) return null;
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul className="stack">
        {people.map((person) => (
          <PersonCard key={person.id} person={person} />
        ))}
      </ul>
    </section>
  );
}
