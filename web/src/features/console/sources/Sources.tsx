import { useState } from "react";
import { Link } from "wouter";
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
import { useSources } from "./queries.ts";
import { Secrets } from "./Secrets.tsx";
import { SourceHealth } from "./SourceHealth.tsx";
import { countTools, KIND_LABELS } from "./words.ts";

/** Every source that was added or is declared, how it is, and what of it waits for a decision. */
export function Sources() {
  const sources = useSources();
  const [adding, setAdding] = useState(false);
  return (
    <>
      <PageHeading lead="MCP servers, HTTP APIs and databases whose tools the agent may be offered. Nothing of a source can be called before somebody decided about it here.">
        Sources
      </PageHeading>
      {sources.isError && <Banner tone="danger" urgent title={explain(sources.error)} />}
      {sources.isPending && <Spinner label="Reading the sources" />}
      {sources.data?.length === 0 && (
        <EmptyState title="No source was added yet">
          <p>
            Add one here, or bring the servers that another client has in its settings with{" "}
            <code>countersign sources import FILE</code>.
          </p>
        </EmptyState>
      )}
      {sources.data !== undefined && sources.data.length > 0 && (
        <ul className="stack" aria-label="Sources">
          {sources.data.map((source) => (
            <SourceCard key={source.name} source={source} />
          ))}
        </ul>
      )}
      {adding ? (
        <AddSource onClose={() => setAdding(false)} />
      ) : (
        <div>
          <Button variant="primary" onClick={() => setAdding(true)}>
            Add a source
          </Button>
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
