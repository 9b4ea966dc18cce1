import type { ReactNode } from "react";
import { Link, useParams } from "wouter";
import { language } from "../../../language/language.ts";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { AuditEntry, AuditedCall, CallDetails, PermissionMode } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue, type Row } from "../../../ui/KeyValue.tsx";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { CutTitle } from "../CutTitle.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { MODE_WORDS } from "../policy/words.ts";
import { AuditTabs } from "./AuditTabs.tsx";
import { useCallChoices, useCallDetails } from "./call-queries.ts";
import { answerWords, decisionOf, endOf, reasonOf } from "./call-words.ts";
import { CALL_LABELS } from "./calls-view.ts";
import { EraseCall } from "./EraseCall.tsx";
import { ExplainLink } from "./ExplainLink.tsx";
import { readableBody, summarize } from "./entry.ts";
import { ENDING_TONES, endingOf } from "./outcome-words.ts";
import { VerifyCall } from "./VerifyCall.tsx";

const LABEL_WORDS = new Map<string, string>(CALL_LABELS);

/** One call: everything that is on record of it, as it was then. What the agent and tools wrote is shown inert. */
export function CallPage() {
  const position = Number(useParams<{ position: string }>().position);
  const known = Number.isSafeInteger(position) && position >= 0;
  return (
    <>
      {known ? (
        <Call position={position} />
      ) : (
        <PageHeading lead={t`Its address names no record.`}>{t`No such call`}</PageHeading>
      )}
    </>
  );
}

function Call({ position }: { readonly position: number }) {
  const details = useCallDetails(position);
  const tool = details.data?.call.tool;
  return (
    <>
      <PageHeading>{tool === undefined ? t`Call` : t`Call of ${tool}`}</PageHeading>
      <AuditTabs />
      {details.isPending && <Spinner label={t`Reading the records of the call`} />}
      {details.isError && <Banner tone="danger" urgent title={explain(details.error)} />}
      {details.data !== undefined && <Details details={details.data} />}
    </>
  );
}

function Details({ details }: { readonly details: CallDetails }) {
  const { call, entries } = details;
  const decision = decisionOf(call);
  return (
    <>
      <p className="row">
        <Tag tone={ENDING_TONES[endingOf(call.outcome)]}>{endOf(call)}</Tag>
        {decision !== undefined && <Tag>{decision}</Tag>}
        {call.label !== undefined && <Tag>{LABEL_WORDS.get(call.label) ?? call.label}</Tag>}
      </p>
      <Section title={t`Proof`}>
        <Proof call={call} />
      </Section>
      <Section title={t`What happened`}>
        <KeyValue rows={happened(details)} />
      </Section>
      <Section title={t`What the person had written`}>
        {details.request === undefined ? (
          <p className="note">{t`It is not kept, or the conversation was deleted.`}</p>
        ) : (
          <>
            <blockquote>
              <VisibleText text={details.request} prose />
            </blockquote>
            <p className="note">{t`As the agent's tab says. Nobody checked that a person typed it.`}</p>
          </>
        )}
      </Section>
      <Section title={t`Why it ran, or did not`}>
        <Rules details={details} />
      </Section>
      {call.askedAt !== undefined && (
        <Section title={t`Who was asked`}>
          <Asked details={details} />
        </Section>
      )}
      <Offered details={details} />
      {entries.some(({ body, payload }) => typeof body.payload === "string" && payload === undefined) && (
        <p className="note">{t`Some of its content is not kept any more. What stands here can be proved without it.`}</p>
      )}
      <Payload title={t`Statement, as it was displayed`} value={read(entries, "statement")} />
      <Payload title={t`Arguments`} value={read(entries, "arguments")} />
      <Payload title={t`Facts that the policy was asked about`} value={read(entries, "judged")} />
      <Payload title={t`Result`} value={read(entries, "result")} />
      <Definition details={details} />
      <EraseCall details={details} />
      <Section title={t`Records`}>
        <InSentences call={call} />
        {entries.map((entry) => (
          <details key={entry.index}>
            <summary>
              #{entry.index} {summarize(entry).event}, <ExactTime at={summarize(entry).at} />
            </summary>
            <JsonView value={readableBody(entry.body)} openTo={1} />
            <Digest value={entry.hash} what={t`hash`} />
          </details>
        ))}
      </Section>
    </>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Which model proposed it, in the same cases as `audit explain`: the gateway's own word, the loop's, the turn's, or nobody's. */
function proposer({ call, entries, turnModelId }: CallDetails): ReactNode {
  if (call.modelId !== undefined) return <VisibleText text={call.modelId} />;
  const claimed = (entries[0]?.payload?.model as { readonly id?: unknown } | null | undefined)?.id;
  if (typeof claimed === "string" && claimed !== "") {
    return (
      <>
        {t`one that called itself this, which nothing confirms:`} <VisibleText text={claimed} />
      </>
    );
  }
  if (turnModelId === undefined) return t`none on record: a person may have typed it`;
  return (
    <>
      {t`none of its own on record; the turn began with`} <VisibleText text={turnModelId} />
    </>
  );
}

function happened(details: CallDetails): readonly Row[] {
  const { call, title } = details;
  const conversation = paths.auditOf(call.conversationId);
  return rows([
    [t`Asked for by`, <VisibleText key="by" text={call.principalName} prose />],
    [t`Proposed by model`, proposer(details)],
    [
      t`Conversation`,
      <Link key="conversation" href={conversation}>
        <CutTitle title={title || call.conversationId} />
      </Link>,
    ],
    [
      t`Side by side`,
      <Link key="compare" href={paths.compare(call.conversationId)}>
        {t`Compare with another conversation`}
      </Link>,
    ],
    [t`Turn`, call.turnIndex === undefined ? undefined : String(call.turnIndex + 1)],
    [t`Call`, <VisibleText key="call" text={call.callId} />],
    [t`Source of the tool`, call.source === undefined ? undefined : <VisibleText key="source" text={call.source} />],
    [t`Asked for at`, <ExactTime key="at" at={call.at} />],
    [
      t`Began to run at`,
      call.startedAt === undefined ? (
        call.closedAt === undefined ? (
          t`Not yet`
        ) : (
          t`It did not run`
        )
      ) : (
        <ExactTime key="start" at={call.startedAt} />
      ),
    ],
    [t`Ended at`, call.closedAt === undefined ? t`Not yet` : <ExactTime key="end" at={call.closedAt} />],
    [
      t`Took`,
      call.durationMs === undefined || call.startedAt === undefined ? undefined : milliseconds(call.durationMs),
    ],
    [t`Reason`, reasonOf(call)],
    [t`Grant`, call.grantId],
  ]);
}

function Asked({ details }: { readonly details: CallDetails }) {
  const people = useCallChoices().data?.people;
  // The last of them is in the call's own row.
  const before = details.entries.map(({ body }) => body).filter(({ event }) => event === "approval:given");
  const names = before.map(({ principalId }) => people?.find(({ id }) => id === principalId)?.name ?? principalId);
  return (
    <KeyValue
      rows={[
        ...asked(details),
        ...names.map((name) => ({ name: t`Approved too by`, value: <VisibleText text={String(name)} prose /> })),
      ]}
    />
  );
}

function asked({ call }: CallDetails): readonly Row[] {
  const wait =
    call.askedAt === undefined || call.decidedAt === undefined
      ? undefined
      : Date.parse(call.decidedAt) - Date.parse(call.askedAt);
  return rows([
    [t`Kind`, call.approvalKind === "stepUp" ? t`A passkey over the statement` : t`A decision on the console`],
    [t`Asked at`, call.askedAt === undefined ? undefined : <ExactTime key="asked" at={call.askedAt} />],
    [t`Answer`, answerWords(call.answer)],
    [t`Answered by`, call.approverName ?? call.approverId],
    [t`Answered at`, call.decidedAt === undefined ? undefined : <ExactTime key="decided" at={call.decidedAt} />],
    [t`After`, wait === undefined ? undefined : milliseconds(wait)],
    [
      t`Passkey`,
      call.passkeyName ?? (call.credentialId === undefined ? undefined : t`one that is no longer registered`),
    ],
    [t`Credential`, call.credentialId],
  ]);
}

function rows(all: readonly (readonly [string, ReactNode])[]): readonly Row[] {
  return all.filter(([, value]) => value !== undefined).map(([name, value]) => ({ name, value }));
}

function Rules({ details: { call, rules } }: { readonly details: CallDetails }) {
  return (
    <>
      {rules.length === 0 ? (
        <p className="note">{t`No rule of the policy decided: it was refused before, or nothing permits it.`}</p>
      ) : (
        <ul>
          {rules.map(({ id, why }) => (
            <li key={id}>
              {why === undefined ? (
                t`The policy in force does not have this rule any more.`
              ) : (
                <RuleSentence why={why} plain />
              )}{" "}
              <code>{id}</code>
            </li>
          ))}
        </ul>
      )}
      {call.policyVersion !== undefined && (
        <KeyValue
          rows={[{ name: t`Policy version`, value: <Digest value={call.policyVersion} what={t`policy version`} /> }]}
        />
      )}
      <ExplainLink conversationId={call.conversationId} callId={call.callId} />
    </>
  );
}

/** A member of the payloads, the first that has it; nothing where none has. */
function read(entries: readonly AuditEntry[], name: string): unknown {
  return entries.find(({ payload }) => payload?.[name] !== undefined && payload[name] !== null)?.payload?.[name];
}

function Payload({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === undefined) return null;
  return (
    <Section title={title}>
      <JsonView value={value} openTo={2} />
    </Section>
  );
}

/** The tools that the model could choose from, and the digest that the receipt has of them. */
function Offered({ details: { call, offered, snapshotDigest } }: { readonly details: CallDetails }) {
  return (
    <Section title={t`What the turn could see`}>
      {offered === undefined ? (
        <p className="note">
          {call.startedAt === undefined
            ? t`The call was refused before it was compared with what its turn had on offer.`
            : t`What its turn had on offer is not on record.`}
        </p>
      ) : (
        <>
          <details>
            <summary>{t`${offered.length} {tool|tools}`}</summary>
            <ul>
              {offered.map((tool) => (
                <li key={tool.name}>
                  <VisibleText text={tool.name} /> <span className="note">{modeWords(tool.permission)}</span>
                </li>
              ))}
            </ul>
          </details>
          {snapshotDigest !== undefined && <Digest value={snapshotDigest} what={t`digest of the snapshot`} />}
        </>
      )}
    </Section>
  );
}

/** A mode that this build does not know stands as it is. */
function modeWords(mode: string): string {
  return Object.hasOwn(MODE_WORDS, mode) ? MODE_WORDS[mode as PermissionMode] : mode;
}

function Definition({ details: { definition } }: { readonly details: CallDetails }) {
  if (definition === undefined) return null;
  return (
    <Section title={t`The tool, as it was described`}>
      {typeof definition.description === "string" && (
        <blockquote>
          <VisibleText text={definition.description} prose />
        </blockquote>
      )}
      {typeof definition.digest === "string" && <Digest value={definition.digest} what={t`digest of the definition`} />}
      <details>
        <summary>{t`The whole definition`}</summary>
        <JsonView value={definition} openTo={1} />
      </details>
    </Section>
  );
}

/** What shows this call to others. It is the first thing of the page: the rest of it is what this proves. */
function Proof({ call }: { readonly call: AuditedCall }) {
  if (call.closedAt === undefined) {
    return <p className="note">{t`A receipt can be had when the call has ended.`}</p>;
  }
  return (
    <>
      <p>
        <a href={paths.receipt(call.conversationId, call.callId)} download={`receipt-${call.callId}.json`}>
          {t`Download the receipt`}
        </a>{" "}
        <span className="note">
          {rich`It shows this call to somebody who has no access to this log: ${<code>countersign audit verify FILE</code>} checks it. It holds what is kept of the call's arguments and result.`}
        </span>
      </p>
      <VerifyCall call={call} />
    </>
  );
}

function InSentences({ call }: { readonly call: AuditedCall }) {
  const command = `countersign audit explain ${call.callId} --conversation ${call.conversationId}`;
  return (
    <p>
      {rich`The call in sentences: ${<code>{command}</code>}`} <CopyButton text={command} what={t`command`} />
    </p>
  );
}

function milliseconds(value: number): string {
  return value < 1_000 ? t`${value} ms` : `${(value / 1_000).toLocaleString(language, { maximumFractionDigits: 1 })} s`;
}
