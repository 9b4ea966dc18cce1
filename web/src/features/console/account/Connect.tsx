import { useMutation, useQuery } from "@tanstack/react-query";
import { useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { decideConnection, describeConnection } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useDescription, useSession } from "../session.tsx";

/** Lets a program act for the person who is signed in, or not. A page and a button, as for the shell. */
export function Connect() {
  const { environment } = useSession();
  const request = new URLSearchParams(useSearch()).get("request") ?? "";
  const description = useDescription().data;
  const asked = useQuery({
    queryKey: ["connect", request],
    queryFn: () => describeConnection(environment, request),
    enabled: request !== "",
    networkMode: "always",
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const decide = useMutation({
    networkMode: "always",
    mutationFn: async (wanted: { readonly decision: "allow" | "deny"; readonly destination: string }) => {
      environment.navigateTo(await decideConnection(environment, request, wanted.decision, wanted.destination));
    },
  });
  if (asked.isError || request === "") {
    return (
      <>
        <PageHeading>{t`Nothing to connect`}</PageHeading>
        <Banner tone="danger">
          <p>{asked.isError ? explain(asked.error) : t`This address is not complete.`}</p>
          <p>{t`Start again at the program that sent you here.`}</p>
        </Banner>
      </>
    );
  }
  if (description === undefined || asked.data === undefined) return null;
  const { client, destination } = asked.data;
  const isBusy = decide.isPending || decide.isSuccess;
  return (
    <>
      <PageHeading
        lead={t`A program asks to act for you. It can call the tools that you may use; what needs a person still comes back to this console. It ends when you sign out here.`}
      >
        {t`Connect a program`}
      </PageHeading>
      {decide.isError && (
        <Banner tone="danger" urgent title={t`The program was not connected`}>
          <p>{explain(decide.error)}</p>
        </Banner>
      )}
      <Card>
        <KeyValue
          rows={[
            { name: t`Signed in as`, value: description.session.principalName },
            { name: t`It calls itself`, value: client },
            { name: t`You go on to`, value: <code>{destination}</code> },
          ]}
        />
        <p>{t`Anybody can choose a name. Allow this only if you have just started it yourself.`}</p>
        <Button variant="primary" wide busy={isBusy} onClick={() => decide.mutate({ decision: "allow", destination })}>
          {t`Allow`}
        </Button>
        <Button wide busy={isBusy} onClick={() => decide.mutate({ decision: "deny", destination })}>
          {t`Do not allow`}
        </Button>
      </Card>
    </>
  );
}
