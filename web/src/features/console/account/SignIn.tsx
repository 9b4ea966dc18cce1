import { useState } from "react";
import { Redirect, useSearch } from "wouter";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { signIn } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { destination } from "../paths.ts";
import { useSession } from "../session.tsx";

/** Signing in with any passkey of this console, and then on to where the person was going. */
export function SignIn() {
  const { environment, connection, renew } = useSession();
  const next = destination(`?${useSearch()}`, environment.origin);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  const start = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await signIn(environment);
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
      <PageHeading lead="You sign in with your passkey. There is no password.">Sign in</PageHeading>
      {ended && failure === null && (
        <Banner tone="info" title="Your console session has ended">
          <p>So have the shell sessions that it made. Sign in to go on.</p>
        </Banner>
      )}
      {failure !== null && (
        <Banner tone="danger" urgent title="You are not signed in">
          <p>{explain(failure)}</p>
        </Banner>
      )}
      <Card>
        <Button variant="primary" wide busy={busy} onClick={start}>
          {busy ? "Waiting for your passkey" : "Sign in with a passkey"}
        </Button>
        <p className="note">
          No passkey yet? The operator makes an enrolment link with <code>countersign enrol NAME</code>.
        </p>
      </Card>
    </>
  );
}
