import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { t } from "../../../language/t.ts";
import type { Source } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { ChangeSource } from "./ChangeSource.tsx";
import { useRefetchWhenChanged, useRemoveSource, useSources, useSwitchSource, useTestSource } from "./queries.ts";
import { RefusedTools } from "./RefusedTools.tsx";
import { SourceHealth } from "./SourceHealth.tsx";
import { SourceSignIn } from "./SourceSignIn.tsx";
import { SourceTools } from "./SourceTools.tsx";
import { SourceTouches } from "./SourceTouches.tsx";
import { countedTools, KIND_LABELS, totalOf } from "./words.ts";

/** One source: how it is, what it may touch, and its tools. */
export function SourcePage() {
  const { name = "" } = useParams();
  const sources = useSources();
  const source = sources.data?.find((each) => each.name === name);
  return (
    <>
      <PageHeading>
        <VisibleText text={name} prose />
      </PageHeading>
      <p>
        <Link href={paths.sources}>{t`All sources`}</Link>
      </p>
      {sources.isError && <Banner tone="danger" urgent title={explain(sources.error)} />}
      {sources.isPending && <Spinner label={t`Reading the source`} />}
      {sources.data !== undefined && source === undefined && (
        <Banner tone="info" title={t`There is no source of this name`}>
          <p>{t`It may have been removed.`}</p>
        </Banner>
      )}
      {source !== undefined && <Known key={source.name} source={source} />}
    </>
  );
}

function Known({ source }: { readonly source: Source }) {
  const [changing, setChanging] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const wasChanging = useRef(false);
  useRefetchWhenChanged(source);
  useEffect(() => {
    if (wasChanging.current && !changing) opener.current?.focus();
    wasChanging.current = changing;
  }, [changing]);
  return (
    <>
      <Card as="section" label={t`State`} tone={source.counts.quarantined > 0 ? "danger" : "plain"}>
        <div className="row">
          <h2>{t`State`}</h2>
          <Tag>{KIND_LABELS[source.kind]}</Tag>
        </div>
        <SourceHealth source={source} />
        {source.counts.quarantined > 0 && (
          <Banner tone="danger" title={t`${countedTools(source.counts.quarantined)} changed after somebody decided`}>
            <p>{t`Until you decide again they cannot be called. The differences stand in the list of tools below.`}</p>
          </Banner>
        )}
        <Actions
          source={source}
          changing={
            <Button ref={opener} aria-expanded={changing} onClick={() => setChanging(!changing)}>
              {t`Change`}
            </Button>
          }
        />
      </Card>
      {changing && <ChangeSource source={source} onClose={() => setChanging(false)} />}
      <SourceSignIn source={source} />
      <Card as="section" label={t`What it may touch`}>
        <h2>{t`What it may touch`}</h2>
        <SourceTouches source={source} />
        <KeyValue
          rows={[
            ...(source.addedAt === undefined ? [] : [{ name: t`Added`, value: <ExactTime at={source.addedAt} /> }]),
            { name: t`Tools`, value: countedTools(totalOf(source)) },
          ]}
        />
      </Card>
      <RefusedTools source={source} />
      <SourceTools source={source} />
    </>
  );
}

interface ActionsProps {
  readonly source: Source;
  /** The button that opens the form of the settings. */
  readonly changing: ReactNode;
}

function Actions({ source, changing }: ActionsProps) {
  const [removing, setRemoving] = useState(false);
  const toast = useToast();
  const test = useTestSource();
  const flip = useSwitchSource();
  const failure = test.error ?? flip.error;
  const onTest = () =>
    test.mutate(source.name, {
      onSuccess: (tested) =>
        toast(
          tested.state === "ready"
            ? t`${source.name} answered; it offers ${countedTools(totalOf(tested))}.`
            : t`${source.name} did not answer as it should.`,
        ),
    });
  const onSwitch = () =>
    flip.mutate(
      { name: source.name, enabled: !source.enabled },
      { onSuccess: ({ enabled }) => toast(t`${source.name} is switched ${enabled ? t`on` : t`off`}.`) },
    );
  return (
    <>
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <div className="row">
        {source.enabled && (
          <Button busy={test.isPending} onClick={onTest}>
            {t`Test again`}
          </Button>
        )}
        {!source.declared && (
          <>
            {changing}
            <Button busy={flip.isPending} onClick={onSwitch}>
              {source.enabled ? t`Switch off` : t`Switch on`}
            </Button>
            <Button variant="danger" onClick={() => setRemoving(true)}>
              {t`Remove`}
            </Button>
          </>
        )}
        {(test.isPending || source.state === "connecting") && source.enabled && (
          <span className="note" role="status">
            {t`It is asked what it offers. This may take a minute.`}
          </span>
        )}
      </div>
      {source.declared && (
        <p className="note">
          {t`This source is declared in countersign.toml. It is changed, switched off or removed there, and the gateway started anew.`}
        </p>
      )}
      <RemoveDialog source={source} open={removing} onClose={() => setRemoving(false)} />
    </>
  );
}

interface RemoveDialogProps {
  readonly source: Source;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RemoveDialog({ source, open, onClose }: RemoveDialogProps) {
  const [, navigate] = useLocation();
  const toast = useToast();
  const remove = useRemoveSource();
  const onRemove = () =>
    remove.mutate(source.name, {
      onSuccess: () => {
        toast(t`${source.name} was removed.`);
        navigate(paths.sources);
      },
    });
  return (
    <Dialog
      open={open}
      title={t`Remove ${source.name}?`}
      onClose={onClose}
      actions={
        <Button variant="danger" busy={remove.isPending} onClick={onRemove}>
          {t`Remove it`}
        </Button>
      }
    >
      <p>
        {t`Its tools cannot be called any more, and every decision about them is forgotten. What was called stays on record.`}
      </p>
      {remove.isError && <Banner tone="danger" urgent title={explain(remove.error)} />}
    </Dialog>
  );
}
