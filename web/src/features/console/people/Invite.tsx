import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { t } from "../../../language/t.ts";
import type { InvitationLink } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { spokenDuration } from "../../../ui/durations.ts";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { QrCode } from "../account/QrCode.tsx";
import { VerificationNeeded } from "../account/VerificationNeeded.tsx";
import { useVerifiedAction } from "../account/verified-action.ts";
import { explain } from "../errors.ts";
import { useAsk, useSession } from "../session.tsx";
import { refetchPeople } from "./queries.ts";

type Invited = "guest" | "operator" | "auditor";

const PROFILES: readonly (readonly [Invited, string])[] = [
  ["guest", t`guest: works with the agent within the policy`],
  ["auditor", t`auditor: reads everybody's audit log, and can do nothing else`],
  ["operator", t`operator: also decides about policy, sources and people`],
];

/** The way in for the next person: a link that enrols one, once. */
export function Invite() {
  const ask = useAsk();
  const cache = useQueryClient();
  const [name, setName] = useState("");
  const [profile, setProfile] = useState<Invited>("guest");
  const [made, setMade] = useState<(InvitationLink & { readonly name: string }) | null>(null);
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    async () => setMade({ ...(await ask("people/invite", { name, profile })), name: name.trim() }),
    () => {
      setName("");
      void refetchPeople(cache);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (attempt.isPending) return;
    setMade(null);
    attempt.mutate();
  };
  return (
    <Card as="section" label={t`Invite somebody`}>
      <h2>{t`Invite somebody`}</h2>
      {made !== null && <Made made={made} />}
      {verificationNeeded && (
        <VerificationNeeded>
          {t`Whoever has the link can enrol, so confirm that it is you. The browser asks for one of your passkeys.`}
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <form className="stack" onSubmit={submit}>
        <Field
          label={t`Name`}
          hint={t`As others will read it on approvals and in the audit log.`}
          value={name}
          maxLength={100}
          required
          autoComplete="off"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <SelectField
          label={t`Profile`}
          options={PROFILES}
          value={profile}
          onChange={(event) => setProfile(event.target.value as Invited)}
        />
        <div>
          <Button type="submit" variant="primary" busy={attempt.isPending} disabled={name.trim() === ""}>
            {verificationNeeded ? t`Confirm with your passkey` : t`Make a link`}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function Made({ made }: { readonly made: InvitationLink & { readonly name: string } }) {
  const { environment } = useSession();
  return (
    <Banner tone="ok" title={t`The link for ${made.name}`}>
      {/* Else the address is one of this machine alone, which a phone would look for in itself. */}
      {environment.origin.startsWith("https:") && <QrCode rows={made.qr} label={t`QR code of the link below`} />}
      <p>
        <VisibleText text={made.link} />
      </p>
      <div>
        <CopyButton text={made.link} what={t`link`} />
      </div>
      <p>
        {t`It works once, for ${spokenDuration(made.seconds * 1000)}, and is shown here only now. Whoever opens it first is enrolled, so give it to nobody else.`}
      </p>
    </Banner>
  );
}
