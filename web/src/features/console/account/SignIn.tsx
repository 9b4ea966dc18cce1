import { useState } from "react";
import { Redirect, useSearch } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { LanguageField } from "../../../ui/LanguageField.tsx";
import { signIn } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { destination, leadsToShell } from "../paths.ts";
import { useSession } from "../session.tsx";

/** Signing in with any passkey of this console, and then on to where the person was going. */
export function SignIn() {
  const { environment, connection, renew } = useSession();
  const next = destination(`?${useSearch()}`, environment.origin);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  const forShell = leadsToShell(next);

  const start = async (openShell: boolean) => {
    setBusy(true);
    setFailure(null);
    try {
      await signIn(environment);
      if (openShell) environment.shellWish.note();
      renew();
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };

  if (connection.phase === "open") return <Redirect to={next} replace />;
  const ended = connection.phase === "ended" && connection.reason !== "notSignedIn" && connection.reason !== "stopped";
  return (
    <>
      <PageHeading
        lead={
          forShell
            ? t`You sign in with your passkey, and the shell gets a session of its own. There is no password.`
            : t`You sign in with your passkey. There is no password.`
        }
      >
        {t`Sign in`}
      </PageHeading>
      {ended && failure === null && (
        <Banner tone="info" title={t`Your console session has ended`}>
          <p>{t`So have the shell sessions that it made. Sign in to go on.`}</p>
        </Banner>
      )}
      {failure !== null && (
        <Banner tone="danger" urgent title={t`You are not signed in`}>
          <p>{explain(failure)}</p>
        </Banner>
      )}
      <Card>
        <Button variant="primary" wide busy={busy} onClick={() => start(forShell)}>
          {label(busy, forShell)}
        </Button>
        {forShell && (
          <Button variant="quiet" wide busy={busy} onClick={() => start(false)}>
            {t`Sign in and choose a label first`}
          </Button>
        )}
        <p className="note">
          {rich`No passkey yet? The operator makes an enrolment link with ${<code>countersign enrol NAME</code>}.`}
        </p>
      </Card>
      <LanguageField />
    </>
  );
}

function label(busy: boolean, forShell: boolean): string {
  if (busy) return t`Waiting for your passkey`;
  return forShell ? t`Sign in and open the shell` : t`Sign in with a passkey`;
}
