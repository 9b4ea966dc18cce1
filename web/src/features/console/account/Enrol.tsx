import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Field } from "../../../ui/Field.tsx";
import { enrol } from "../ceremonies.ts";
import { explain, Refusal } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { enrolmentToken, paths } from "../paths.ts";
import { useSession } from "../session.tsx";

/** The page behind the link that `countersign serve` and `countersign enrol` print. */
export function Enrol() {
  const token = enrolmentToken(window.location.hash);
  return token === null ? <NoToken /> : <Form token={token} />;
}

function Form({ token }: { readonly token: string }) {
  const { environment, renew } = useSession();
  const [, navigate] = useLocation();
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFailure(null);
    try {
      await enrol(environment, token, name);
      renew();
      navigate(paths.home, { replace: true });
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };

  return (
    <>
      <PageHeading
        lead={t`You sign in with a passkey, and with it you approve what the agent may not do on its own. It works on this console only, never on the page that the agent runs in.`}
      >
        {t`Register your passkey`}
      </PageHeading>
      {failure !== null && <Failed error={failure} />}
      <Card>
        <form className="stack" onSubmit={submit}>
          <Field
            label={t`Name of this passkey`}
            hint={t`So that you recognise it in a list later: “laptop”, “blue key”. You may leave it empty.`}
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="primary" busy={busy} wide>
            {busy ? t`Waiting for your passkey` : t`Register a passkey`}
          </Button>
        </form>
      </Card>
    </>
  );
}

function Failed({ error }: { readonly error: unknown }) {
  return (
    <Banner tone="danger" urgent title={t`No passkey was registered`}>
      <p>{explain(error)}</p>
      {error instanceof Refusal && <NewLink />}
    </Banner>
  );
}

function NoToken() {
  return (
    <>
      <PageHeading>{t`This enrolment link is not complete`}</PageHeading>
      <Banner tone="danger">
        <p>{t`The part after # is missing. Copy the whole line that was printed.`}</p>
        <NewLink />
      </Banner>
    </>
  );
}

function NewLink() {
  return (
    <p>
      {rich`A link works once and for a short time. For a new one, run ${<code>countersign enrol NAME</code>} on the machine that the gateway runs on.`}
    </p>
  );
}
