import { type FormEvent, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import type {
  CallDifference,
  ComparedCall,
  ComparedPair,
  ComparedSide,
  ConversationComparison,
  RecentConversation,
} from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { EmptyState } from "../../../ui/EmptyState.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { mediumDay } from "../../../ui/moments.ts";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { CutTitle } from "../CutTitle.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { AuditTabs } from "./AuditTabs.tsx";
import styles from "./CompareConversations.module.css";
import { useConversationComparison, useRecentConversations } from "./call-queries.ts";
import { DECISIONS } from "./calls-view.ts";
import {
  DIFFERENCES,
  FINDINGS,
  hasNothingInCommon,
  readComparisonView,
  summarizeComparison,
  writeComparisonView,
} from "./comparison.ts";
import { ENDING_TONES, endingOf, noTool, wordOf } from "./outcome-words.ts";

const DECISION_WORDS = new Map(DECISIONS);

/** Two conversations, such as a fork and that of which it is one, call by call. What the agent wrote is shown inert. */
export function CompareConversations() {
  const { first, second } = readComparisonView(useSearch());
  const comparison = useConversationComparison(first, second);
  const same = first !== "" && first === second;
  return (
    <>
      <PageHeading lead={t`What two conversations did, call by call: what is the same, and where they part.`}>
        {t`Compare conversations`}
      </PageHeading>
      <AuditTabs />
      <Choice key={`${first} ${second}`} first={first} second={second} />
      {same && (
        <EmptyState title={t`That is the same conversation twice`}>
          <p>{t`Choose another one to compare it with.`}</p>
        </EmptyState>
      )}
      {!same && (first === "" || second === "") && <EmptyState title={t`Choose two conversations`} />}
      {comparison.isLoading && <Spinner label={t`Comparing`} />}
      {comparison.isError && (
        <Banner tone="danger" urgent title={explain(comparison.error)}>
          <p>{t`One of them may not be on record, or is not yours to read. Look at the two ids.`}</p>
          <Button onClick={() => comparison.refetch()}>{t`Try again`}</Button>
        </Banner>
      )}
      {comparison.data !== undefined && <Compared comparison={comparison.data} />}
    </>
  );
}

/** Two ids: typed or pasted, or chosen from the conversations of the newest calls. */
function Choice({ first, second }: { readonly first: string; readonly second: string }) {
  const [, navigate] = useLocation();
  const [ids, setIds] = useState({ first, second });
  const recent = useRecentConversations().data?.conversations ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    navigate(paths.auditCompare + writeComparisonView(readComparisonView(writeComparisonView(ids))));
  };
  return (
    <form className={styles.choice} onSubmit={submit}>
      {(["first", "second"] as const).map((which) => (
        <div key={which} className="stack">
          <SelectField
            label={which === "first" ? t`First conversation` : t`Second conversation`}
            options={[["", t`Another one, by its id`], ...recent.map(optionOf)]}
            value={recent.some(({ conversationId }) => conversationId === ids[which]) ? ids[which] : ""}
            onChange={(event) => setIds({ ...ids, [which]: event.currentTarget.value })}
          />
          <Field
            label={which === "first" ? t`Id of the first` : t`Id of the second`}
            value={ids[which]}
            maxLength={64}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setIds({ ...ids, [which]: event.currentTarget.value })}
          />
        </div>
      ))}
      <div className="row">
        <Button type="submit" variant="primary">
          {t`Compare`}
        </Button>
      </div>
    </form>
  );
}

const TITLE_SHOWN = 60;

/** An option holds plain text only: what has no shape or turns the direction is taken out of the title. */
function optionOf({ conversationId, title, principalName, at }: RecentConversation): readonly [string, string] {
  const shown = (title ?? t`deleted`).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").slice(0, TITLE_SHOWN);
  const parts = [shown, `${principalName}, ${mediumDay.format(Date.parse(at))}`, conversationId];
  // A conversation has no title before its first message.
  return [conversationId, parts.filter((part) => part !== "").join(" · ")];
}

function Compared({ comparison }: { readonly comparison: ConversationComparison }) {
  const { first, second, pairs, unread } = comparison;
  return (
    <>
      {unread > 0 && (
        <Banner tone="info" title={t`${unread} records are still being read`}>
          <p>{t`The log is long, and is told to this page for the first time. What is missing comes by itself.`}</p>
        </Banner>
      )}
      <div className={styles.sides}>
        <Side side={first} name={t`First`} other={second.conversationId} />
        <Side side={second} name={t`Second`} other={first.conversationId} />
      </div>
      {pairs.length === 0 ? (
        <EmptyState title={t`Neither has called a tool`} />
      ) : (
        <>
          <p role="status">
            {hasNothingInCommon(comparison) && <strong>{t`They have no call in common.`}</strong>}{" "}
            {summarizeComparison(comparison)}
          </p>
          <ol className={styles.pairs}>
            {pairs.map((pair) => (
              <Pair key={`${pair.first?.position ?? ""}-${pair.second?.position ?? ""}`} pair={pair} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

interface SideProps {
  readonly side: ComparedSide;
  readonly name: string;
  readonly other: string;
}

function Side({ side, name, other }: SideProps) {
  return (
    <section aria-label={name}>
      <h2 className={styles.title}>
        <Link href={paths.auditOf(side.conversationId)}>
          <CutTitle title={side.title || side.conversationId} />
        </Link>
      </h2>
      <p className="note">
        {side.principalName !== undefined && (
          <>
            <VisibleText text={side.principalName} prose />
            {", "}
          </>
        )}
        {t`${side.calls} {call|calls}`}
      </p>
      {side.cut && (
        <p className="note">{t`Only the newest of its calls are compared; the command line compares all.`}</p>
      )}
      {side.parentId !== undefined && side.parentId !== other && (
        <p>
          <Link
            href={paths.compare(side.parentId, side.conversationId)}
          >{t`Compare with what it was forked from`}</Link>
        </p>
      )}
      {side.parentId === other && <p className="note">{t`A fork of the other one.`}</p>}
    </section>
  );
}

function Pair({ pair }: { readonly pair: ComparedPair }) {
  const [words, tone] = FINDINGS[pair.finding];
  return (
    <li className={styles.pair} data-finding={pair.finding}>
      <p className={styles.finding}>
        <Tag tone={tone}>{words}</Tag>
        {pair.differs.length > 0 && (
          <span className="note">{t`differs: ${pair.differs.map((each) => DIFFERENCES[each]).join(", ")}`}</span>
        )}
      </p>
      <Call call={pair.first} name={t`First`} differs={pair.differs} />
      <Call call={pair.second} name={t`Second`} differs={pair.differs} />
    </li>
  );
}

interface CallProps {
  readonly call: ComparedCall | undefined;
  readonly name: string;
  readonly differs: readonly CallDifference[];
}

function Call({ call, name, differs }: CallProps) {
  if (call === undefined) return <p className={styles.none}>{t`${name}: no such call`}</p>;
  const mark = (what: CallDifference) => (differs.includes(what) ? "" : undefined);
  return (
    <div className={styles.call}>
      <p className="row">
        <span className="note">{name}</span>
        <Link href={paths.auditCall(call.position)} data-differs={mark("tool")}>
          {call.tool === undefined ? noTool(call.outcome) : <VisibleText text={call.tool} fold={false} />}
        </Link>
        <span data-differs={mark("outcome")}>
          <Tag tone={ENDING_TONES[endingOf(call.outcome)]}>{wordOf(call.outcome)}</Tag>
        </span>
      </p>
      <p data-differs={mark("arguments")}>
        {call.erased ? (
          <span className="note">{t`Its arguments are erased.`}</span>
        ) : (
          <VisibleText text={call.arguments ?? ""} fold={false} />
        )}
      </p>
      <p className="note">
        {call.decision !== undefined && (
          <span data-differs={mark("decision")}>{DECISION_WORDS.get(call.decision) ?? call.decision}</span>
        )}{" "}
        <span data-differs={mark("rules")}>
          {call.rules.map((rule) => (
            <code key={rule}>{rule} </code>
          ))}
        </span>
      </p>
    </div>
  );
}
