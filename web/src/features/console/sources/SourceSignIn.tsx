import { useState } from "react";
import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { useSession } from "../session.tsx";
import { useBeginSignIn, useSignOut } from "./queries.ts";

/** Whether somebody is signed in to a source, and the way there and back. Nothing for a source that nobody signs in to. */
export function SourceSignIn({ source }: { readonly source: Source }) {
  const { signIn } = source;
  if (signIn === undefined) return null;
  if (signIn.server === undefined && source.state !== "needsSignIn") return null;
  return (
    <Card as="section" label={t`Sign-in`} tone={signIn.server === undefined ? "waiting" : "plain"}>
      <h2>{t`Sign-in`}</h2>
      {signIn.server === undefined ? (
        <p>
          {t`The server wants a person to sign in. What it gives is kept here, encrypted, and is sent to nobody else.`}
        </p>
      ) : (
        <KeyValue
          rows={[
            { name: t`Signed in at`, value: <VisibleText text={signIn.server} /> },
            ...(signIn.at === undefined ? [] : [{ name: t`Since`, value: <ExactTime at={signIn.at} /> }]),
          ]}
        />
      )}
      <div className="row">
        <Begin source={source} />
        {signIn.server !== undefined && <End source={source} />}
      </div>
    </Card>
  );
}

/** The source says where people sign in, so a person looks at that address before the browser goes there. */
function Begin({ source }: { readonly source: Source }) {
  const { environment } = useSession();
  const begin = useBeginSignIn();
  const place = begin.data;
  return (
    <>
      <Button
        variant={source.signIn?.server === undefined ? "primary" : "secondary"}
        busy={begin.isPending}
        onClick={() => begin.mutate(source.name)}
      >
        {source.signIn?.server === undefined ? t`Sign in` : t`Sign in again`}
      </Button>
      {begin.isError && <Banner tone="danger" urgent title={explain(begin.error)} />}
      <Dialog
        open={place !== undefined}
        title={t`Sign in to ${source.name}`}
        onClose={begin.reset}
        actions={
          <Button variant="primary" onClick={() => place !== undefined && environment.navigateTo(place.location)}>
            {t`Continue`}
          </Button>
        }
      >
        <p>
          {t`This browser goes to the address below, which the source named, and comes back here. Type a password there only if you know the place.`}
        </p>
        {place !== undefined && (
          <KeyValue
            rows={[
              { name: t`Goes to`, value: <VisibleText text={new URL(place.location).origin} /> },
              { name: t`Authorization server`, value: <VisibleText text={place.server} /> },
            ]}
          />
        )}
      </Dialog>
    </>
  );
}

function End({ source }: { readonly source: Source }) {
  const [asking, setAsking] = useState(false);
  const toast = useToast();
  const signOut = useSignOut();
  const onSignOut = () =>
    signOut.mutate(source.name, {
      onSuccess: ({ why }) => {
        setAsking(false);
        toast(
          why === undefined
            ? t`Nobody is signed in to ${source.name} any more.`
            : t`${source.name} is signed out here. Its authorization server did not void the tokens: ${why}.`,
        );
      },
    });
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t`Sign out`}</Button>
      <Dialog
        open={asking}
        title={t`Sign out of ${source.name}?`}
        onClose={() => setAsking(false)}
        actions={
          <Button variant="danger" busy={signOut.isPending} onClick={onSignOut}>
            {t`Sign out`}
          </Button>
        }
      >
        <p>{t`Its tools cannot be called before somebody signs in again. What was decided about them is kept.`}</p>
        {signOut.isError && <Banner tone="danger" urgent title={explain(signOut.error)} />}
      </Dialog>
    </>
  );
}
