import { type FormEvent, useEffect, useRef, useState } from "react";
import { t } from "../../../language/t.ts";
import type { ConfigurationText } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { CheckField, Field, TextAreaField } from "../../../ui/Field.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { explain } from "../errors.ts";
import { ImportPreview } from "./ImportPreview.tsx";
import { useImportServers, useReadConfiguration } from "./queries.ts";

/** What the gateway takes in one message, less what stands around the text and its escapes. */
const LONGEST_CONFIGURATION = 180_000;

/** Adds the MCP servers of another client's configuration: pasted or chosen, then looked at, then added all at once. */
export function ImportServers({ onClose }: { readonly onClose: () => void }) {
  const [pasted, setPasted] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const [network, setNetwork] = useState(false);
  const [fault, setFault] = useState<string>();
  const [looked, setLooked] = useState<ConfigurationText | null>(null);
  const read = useReadConfiguration();
  const add = useImportServers();
  const toast = useToast();
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heading of each of the two steps
  useEffect(() => heading.current?.focus(), [looked]);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (read.isPending) return;
    const text = file === null ? pasted : await file.text().catch(() => null);
    const wrong = faultOf(text);
    setFault(wrong);
    if (text === null || wrong !== undefined) return;
    const configuration = { text, network };
    read.mutate(configuration, { onSuccess: () => setLooked(configuration) });
  };
  const onAdd = (servers: readonly [string, ...string[]]) => {
    if (looked === null || read.data === undefined) return;
    add.mutate(
      { ...looked, digest: read.data.digest, servers: [...servers] },
      {
        onSuccess: () => {
          toast(t`${servers.length} {source was|sources were} added. Nothing of it can be called before you decide.`);
          onClose();
        },
      },
    );
  };
  const back = () => {
    setLooked(null);
    add.reset();
  };
  return (
    <Card as="section" label={t`Import servers`}>
      <h2 ref={heading} tabIndex={-1}>
        {looked === null ? t`Import servers` : t`What would be added`}
      </h2>
      {looked !== null && read.data !== undefined ? (
        <ImportPreview preview={read.data} adding={add} onAdd={onAdd} onBack={back} />
      ) : (
        <form className="stack" aria-label={t`Import servers`} onSubmit={(event) => void submit(event)}>
          <p>
            {t`The MCP servers of another client: Claude Desktop or Code, Cursor, Windsurf, VS Code, Zed, Gemini, Codex. First you see what would be added. Secrets in it go into the gateway's store, and what it allows without asking is not taken over.`}
          </p>
          <Field
            label={t`File of the client`}
            type="file"
            accept=".json,.jsonc,.toml,application/json"
            error={file === null ? undefined : fault}
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0] ?? null)}
          />
          {file === null && (
            <TextAreaField
              label={t`Or its text`}
              rows={8}
              value={pasted}
              error={fault}
              onChange={({ currentTarget }) => setPasted(currentTarget.value)}
            />
          )}
          <CheckField
            label={t`Its programs may reach the network`}
            hint={t`Any address. Package runners such as npx need it.`}
            checked={network}
            onChange={({ currentTarget }) => setNetwork(currentTarget.checked)}
          />
          {read.isError && (
            <Banner tone="danger" urgent title={t`The gateway cannot read it`}>
              <p>{explain(read.error)}</p>
            </Banner>
          )}
          <div className="row">
            <Button type="submit" variant="primary" busy={read.isPending}>
              {t`Show what would be added`}
            </Button>
            <Button variant="quiet" onClick={onClose}>
              {t`Cancel`}
            </Button>
          </div>
        </form>
      )}
    </Card>
  );
}

function faultOf(text: string | null): string | undefined {
  if (text === null) return t`The browser cannot read this file.`;
  if (text.trim() === "") return t`Choose a file or paste its text.`;
  // Quotes and line breaks are escaped in a message.
  if (JSON.stringify(text).length > LONGEST_CONFIGURATION) {
    return t`It is too long to be sent. Paste only the part with the servers.`;
  }
  return undefined;
}
