import { useState } from "react";
import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { AddSource } from "./AddSource.tsx";
import { ImportServers } from "./ImportServers.tsx";
import { useSources } from "./queries.ts";
import { Secrets } from "./Secrets.tsx";
import { SourceHealth } from "./SourceHealth.tsx";
import { countTools, KIND_LABELS } from "./words.ts";

/** Every source that was added or is declared, how it is, and what of it waits for a decision. */
export function Sources() {
  const sources = useSources();
  const [adding, setAdding] = useState<"one" | "imported" | null>(null);
  const close = () => setAdding(null);
  return (
    <>
      <PageHeading
        lead={t`MCP servers, HTTP APIs and databases whose tools the agent may be offered. Nothing of a source can be called before somebody decided about it here.`}
      >
        {t`Sources`}
      </PageHeading>
      {sources.isError && <Banner tone="danger" urgent title={explain(sources.error)} />}
      {sources.isPending && <Spinner label={t`Reading the sources`} />}
      {sources.data?.length === 0 && (
        <EmptyState title={t`No source was added yet`}>
          <p>{t`Add one here, or import the servers that another client has in its settings.`}</p>
        </EmptyState>
      )}
      {sources.data !== undefined && sources.data.length > 0 && (
        <ul className="stack" aria-label={t`Sources`}>
          {sources.data.map((source) => (
            <SourceCard key={source.name} source={source} />
          ))}
        </ul>
      )}
      {adding === "one" && <AddSource onClose={close} />}
      {adding === "imported" && <ImportServers onClose={close} />}
      {adding === null && (
        <div className="row">
          <Button variant="primary" onClick={() => setAdding("one")}>
            {t`Add a source`}
          </Button>
          <Button onClick={() => setAdding("imported")}>{t`Import servers`}</Button>
        </div>
      )}
      <Secrets />
    </>
  );
}

function SourceCard({ source }: { readonly source: Source }) {
  const { counts } = source;
  const tone = counts.quarantined > 0 ? "danger" : counts.proposed > 0 ? "waiting" : "plain";
  return (
    <Card as="li" tone={tone}>
      <div className="row">
        <h2>
          <Link href={paths.source(source.name)}>{source.name}</Link>
        </h2>
        <Tag>{KIND_LABELS[source.kind]}</Tag>
        {countTools(source).map(({ label, tone: color }) => (
          <Tag key={label} tone={color}>
            {label}
          </Tag>
        ))}
      </div>
      <SourceHealth source={source} />
    </Card>
  );
}
