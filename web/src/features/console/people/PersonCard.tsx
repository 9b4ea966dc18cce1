import { useState } from "react";
import { t } from "../../../language/t.ts";
import type { Person } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { PROFILE_NAMES } from "../profile-names.ts";
import { useDescription } from "../session.tsx";
import { ChangeDialog } from "./ChangeDialog.tsx";
import { CHANGES, type Change, changesOf } from "./changes.ts";

/** One person: what they are, when they were last here, and what can be done about it. */
export function PersonCard({ person }: { readonly person: Person }) {
  const [chosen, setChosen] = useState<Change | null>(null);
  const changes = changesOf(person);
  const you = useDescription().data?.session.principal === person.id;
  return (
    <Card as="li" label={person.name}>
      <div className="row">
        <h3>
          <VisibleText text={person.name} prose />
        </h3>
        <Tag tone={person.profile === "operator" ? "accent" : "plain"}>{PROFILE_NAMES[person.profile]}</Tag>
        {you && <Tag tone="info">{t`you`}</Tag>}
        {person.suspended && <Tag tone="danger">{t`suspended`}</Tag>}
      </div>
      <KeyValue
        rows={[
          { name: t`Id`, value: <code>{person.id}</code> },
          { name: t`Passkeys`, value: String(person.passkeys) },
          {
            name: t`Last passkey used`,
            value: person.lastUsedAt === undefined ? t`none` : <TimeAgo at={person.lastUsedAt} />,
          },
          { name: t`Sessions of the agent`, value: String(person.sessions) },
        ]}
      />
      {changes.length > 0 && (
        <div className="row">
          {changes.map((change) => (
            <Button
              key={change}
              variant={CHANGES[change].gives ? "secondary" : "danger"}
              onClick={() => setChosen(change)}
            >
              {CHANGES[change].label}
            </Button>
          ))}
        </div>
      )}
      <ChangeDialog person={person} change={chosen} you={you} onClose={() => setChosen(null)} />
    </Card>
  );
}
