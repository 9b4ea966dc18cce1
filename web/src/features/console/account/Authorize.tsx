import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useSearch } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { SelectField } from "../../../ui/Field.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { authorize, type Label } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { PROFILE_NAMES } from "../profile-names.ts";
import { useDescription, useSession } from "../session.tsx";

/** The lowest first: it is chosen already, and a result that is more confidential raises it by itself. */
const LABELS: readonly (readonly [Label, string])[] = [
  ["public", t`public`],
  ["internal", t`internal`],
  ["confidential", t`confidential`],
  ["high", t`high`],
];

/**
 * Gives the shell a session of its own. A page and a button, because being signed in here must not be enough for any site to
 * get one. Whoever has just pressed a button of this console that says so is not asked again.
 */
export function Authorize() {
  const { environment } = useSession();
  const state = new URLSearchParams(useSearch()).get("state");
  const description = useDescription().data;
  const [label, setLabel] = useState<Label>("public");
  const go = useMutation({
    networkMode: "always",
    mutationFn: async (wanted: { readonly state: string; readonly label: Label; readonly agentOrigin: string }) => {
      environment.navigateTo(await authorize(environment, wanted, wanted.agentOrigin));
    },
  });
  const [wished, setWished] = useState(false);
  const { mutate } = go;
  useEffect(() => {
    if (description === undefined || state === null || !environment.shellWish.take()) return;
    setWished(true);
    mutate({ state, label: "public", agentOrigin: description.agentOrigin });
  }, [environment, description, state, mutate]);
  if (description === undefined) return null;
  const { session, agentOrigin } = description;
  if (wished && !go.isError) {
    return (
      <>
        <PageHeading>{t`Opening the shell`}</PageHeading>
        <Spinner label={t`Opening the shell`} />
      </>
    );
  }
  if (state === null) {
    return (
      <>
        <PageHeading>{t`Nothing to continue to`}</PageHeading>
        <Banner tone="danger">
          <p>
            {rich`This address is not complete. Open the shell at ${<a href={agentOrigin}>{agentOrigin}</a>} and start from there.`}
          </p>
        </Banner>
      </>
    );
  }
  return (
    <>
      <PageHeading
        lead={t`The shell asks for a session of its own. It can talk with the model and propose calls; what needs a person still comes back to this console.`}
      >
        {t`Continue to the shell`}
      </PageHeading>
      {go.isError && (
        <Banner tone="danger" urgent title={t`The shell got no session`}>
          <p>{explain(go.error)}</p>
          <p>
            {rich`If it says that the request is unknown or too old, open the shell again at ${<a href={agentOrigin}>{agentOrigin}</a>}.`}
          </p>
        </Banner>
      )}
      <Card>
        <KeyValue
          rows={[
            { name: t`Signed in as`, value: session.principalName },
            { name: t`Profile`, value: PROFILE_NAMES[session.profile] },
            { name: t`Shell`, value: <code>{agentOrigin}</code> },
          ]}
        />
        <SelectField
          label={t`Label to start at`}
          hint={t`How confidential what you are going to work with is. The policy allows less the higher it is: at high, no network and only models on this machine. It never falls in this session.`}
          options={LABELS}
          value={label}
          onChange={(event) => setLabel(event.target.value as Label)}
        />
        <Button
          variant="primary"
          wide
          busy={go.isPending || go.isSuccess}
          onClick={() => go.mutate({ state, label, agentOrigin })}
        >
          {t`Continue to the shell`}
        </Button>
      </Card>
    </>
  );
}
