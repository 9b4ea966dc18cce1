import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Client } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useClients, useDisconnect } from "./queries.ts";

/** Every MCP client that acts for this person now, and the way to end that. */
export function Clients() {
  const clients = useClients();
  return (
    <>
      <PageHeading
        lead={t`Programs that call your tools over MCP. What they call themselves is their own claim. Nothing that they send can answer a question; you do that here.`}
      >
        {t`Clients`}
      </PageHeading>
      {clients.isError && <Banner tone="danger" urgent title={explain(clients.error)} />}
      {clients.isPending && <Spinner label={t`Reading your clients`} />}
      {clients.data?.length === 0 && (
        <EmptyState title={t`No client is connected`}>
          <p>
            {rich`A program of this machine connects with ${<code>countersign mcp</code>}, others by the address ${<code>/mcp</code>} and a yes of yours.`}
          </p>
        </EmptyState>
      )}
      {clients.data !== undefined && clients.data.length > 0 && (
        <ul className="stack">
          {clients.data.map((client) => (
            <ClientCard key={client.clientId} client={client} />
          ))}
        </ul>
      )}
    </>
  );
}

function ClientCard({ client }: { readonly client: Client }) {
  const disconnect = useDisconnect();
  const toast = useToast();
  const onDisconnect = () =>
    disconnect.mutate(client.clientId, { onSuccess: () => toast(t`The client was disconnected.`) });
  return (
    <Card as="li">
      <div className="row">
        <h2>{client.name === "" ? t`A client without a name` : <VisibleText text={client.name} />}</h2>
        {client.version !== "" && <VisibleText text={client.version} />}
        <Tag tone="accent">{client.transport === "stdio" ? t`this machine` : t`over HTTP`}</Tag>
        {client.label !== "public" && <Tag tone="waiting">{client.label}</Tag>}
      </div>
      <KeyValue rows={rowsOf(client)} />
      {disconnect.isError && <Banner tone="danger" urgent title={explain(disconnect.error)} />}
      <div className="row">
        <Button variant="danger" busy={disconnect.isPending} onClick={onDisconnect}>
          {t`Disconnect`}
        </Button>
        <span className="note">
          {client.transport === "stdio"
            ? t`Its editor may start it again: take it out of the editor's settings to be rid of it.`
            : t`It has to ask you again before it can call anything.`}
        </span>
      </div>
    </Card>
  );
}

function rowsOf(client: Client): Row[] {
  return [
    { name: t`Acts for`, value: client.principalName },
    { name: t`Since`, value: <TimeAgo at={client.since} /> },
    {
      name: t`Last call`,
      value: client.lastCallAt === undefined ? t`none yet` : <TimeAgo at={client.lastCallAt} />,
    },
    { name: t`Connections`, value: String(client.connections) },
  ];
}
