import { useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ConfigurationPreview, ImportedServer } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { CheckField } from "../../../ui/Field.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { SourceTouches } from "./SourceTouches.tsx";

interface ImportPreviewProps {
  readonly preview: ConfigurationPreview;
  readonly adding: { readonly isPending: boolean; readonly isError: boolean; readonly error: unknown };
  readonly onAdd: (servers: readonly [string, ...string[]]) => void;
  readonly onBack: () => void;
}

/** Each server as it would be added, and those that cannot be, with the reason. */
export function ImportPreview({ preview: { servers, refused }, adding, onAdd, onBack }: ImportPreviewProps) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [first, ...rest] = servers.map(({ name }) => name).filter((name) => !left.has(name));
  const take = (name: string, taken: boolean) => {
    const next = new Set(left);
    if (taken) next.delete(name);
    else next.add(name);
    setLeft(next);
  };
  return (
    <>
      {refused.length > 0 && (
        <Banner tone="waiting" title={t`${refused.length} {server|servers} cannot be added`}>
          <ul aria-label={t`Servers that cannot be added`}>
            {refused.map(({ name, why }) => (
              <li key={name}>
                <VisibleText text={name} />: <VisibleText text={why} prose />
              </li>
            ))}
          </ul>
        </Banner>
      )}
      {servers.length > 0 && (
        <ul className="stack" aria-label={t`Servers`}>
          {servers.map((server) => (
            <Card as="li" key={server.name}>
              <CheckField
                label={t`Add ${server.name}`}
                checked={!left.has(server.name)}
                onChange={({ currentTarget }) => take(server.name, currentTarget.checked)}
              />
              <SourceTouches source={{ kind: "mcp", settings: server.settings }} />
              <Remarks server={server} />
            </Card>
          ))}
        </ul>
      )}
      {adding.isError && (
        <Banner tone="danger" urgent title={t`The gateway added none of it`}>
          <p>{explain(adding.error)}</p>
        </Banner>
      )}
      <div className="row">
        {first !== undefined && (
          <Button variant="primary" busy={adding.isPending} onClick={() => onAdd([first, ...rest])}>
            {t`Add ${rest.length + 1} {server|servers}`}
          </Button>
        )}
        <Button variant="quiet" onClick={onBack}>
          {t`Back`}
        </Button>
      </div>
    </>
  );
}

/** What becomes of the values that it holds, and what a person has to do for it. */
function Remarks({ server: { secrets, replaced, missing, notes, fetches } }: { readonly server: ImportedServer }) {
  return (
    <ul className="note">
      {secrets.map((name) => (
        <li key={name}>
          {replaced.includes(name)
            ? rich`The value of ${<code>{name}</code>} replaces the stored secret of that name.`
            : rich`The value of ${<code>{name}</code>} is kept as a secret.`}
        </li>
      ))}
      {missing.map((name) => (
        <li key={name}>{rich`It needs the secret ${<code>{name}</code>}, which is stored below once it is added.`}</li>
      ))}
      {notes.map((note) => (
        <li key={note}>
          <VisibleText text={note} prose />
        </li>
      ))}
      {fetches != null && (
        <li>{rich`${<code>{fetches}</code>} fetches its package from the network, which it may not reach.`}</li>
      )}
    </ul>
  );
}
