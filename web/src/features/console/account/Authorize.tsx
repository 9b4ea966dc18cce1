import { useMutation } from "@tanstack/react-query";
import { useSearch } from "wouter";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { authorize } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useDescription, useSession } from "../session.tsx";

/** Gives the shell a session of its own. A page and a button, because being signed in here must not be enough for any site to get one. */
export function Authorize() {
  const { environment } = useSession();
  const state = new URLSearchParams(useSearch()).get("state");
  const description = useDescription().data;
  const go = useMutation({
    networkMode: "always",
    mutationFn: async (wanted: { readonly state: string; readonly agentOrigin: string }) => {
      environment.navigateTo(await authorize(environment, wanted.state, wanted.agentOrigin));
    },
  });
  if (description === undefined) return null;
  const { session, agentOrigin } = description;
  if (state === null) {
    return (
      <>
        <PageHeading>Nothing to continue to</PageHeading>
        <Banner tone="danger">
          <p>
            This address is not complete. Open the shell at <a href={agentOrigin}>{agentOrigin}</a> and start from
            there.
          </p>
        </Banner>
      </>
    );
  }
  return (
    <>
      <PageHeading lead="The shell asks for a session of its own. It can talk with the model and propose calls; what needs a person still comes back to this console.">
        Continue to the shell
      </PageHeading>
      {go.isError && (
        <Banner tone="danger" urgent title="The shell got no session">
          <p>{explain(go.error)}</p>
          <p>
            If it says that the request is unknown or too old, open the shell again at{" "}
            <a href={agentOrigin}>{agentOrigin}</a>.
          </p>
        </Banner>
      )}
      <Card>
        <KeyValue
          rows={[
            { name: "Signed in as", value: session.principalName },
            { name: "Profile", value: session.profile },
            { name: "Shell", value: <code>{agentOrigin}</code> },
          ]}
        />
        <Button
          variant="primary"
          wide
          busy={go.isPending || go.isSuccess}
          onClick={() => go.mutate({ state, agentOrigin })}
        >
          Continue to the shell
        </Button>
      </Card>
    </>
  );
}
