import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { PolicyCell, PolicyOverview, PolicyRow, Profile } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { CellExplanation } from "./CellExplanation.tsx";
import styles from "./Policy.module.css";
import { useOverview } from "./queries.ts";
import { MODE_TONES, MODE_WORDS, nameKind, PEOPLE } from "./words.ts";

// Whoever is no operator gets none of it, and an operator reads the table first.
const Switches = lazy(async () => ({ default: (await import("./switches/Switches.tsx")).Switches }));

/** What the agent may do for whom, in words, for people who never read a rule. */
export function Policy() {
  const overview = useOverview();
  return (
    <>
      <PageHeading
        lead={t`What the agent may do, and what it takes. Open a field to see which rule decides, and what would change it.`}
      >
        {t`Policy`}
      </PageHeading>
      {overview.data?.scope === "everybody" && (
        <p>
          {rich`${(inner) => <Link href={paths.policyEditor}>{inner}</Link>}<Change it in the policy editor>, or ${(inner) => <Link href={paths.policyExplain}>{inner}</Link>}<have a call explained>`}
        </p>
      )}
      {overview.isError && <Banner tone="danger" urgent title={explain(overview.error)} />}
      {overview.isPending && <Spinner label={t`Asking the policy`} />}
      {overview.data !== undefined && <Overview overview={overview.data} />}
      {overview.data?.scope === "everybody" && (
        <Suspense fallback={<Spinner label={t`Opening the switches`} />}>
          <Switches />
        </Suspense>
      )}
    </>
  );
}

interface Opened {
  readonly profile: Profile;
  readonly index: number;
}

function Overview({ overview }: { readonly overview: PolicyOverview }) {
  const [opened, setOpened] = useState<Opened>();
  const { rows } = overview;
  const own = overview.scope === "own";
  // Looked up again rather than kept, so that an open explanation is never that of an earlier version.
  const cell = rows.find(({ profile }) => profile === opened?.profile)?.cells[opened?.index ?? 0];
  const nameColumn = ({ profile }: PolicyRow) => (own ? t`You` : PEOPLE[profile]);
  const openedColumn = own ? t`You` : opened && PEOPLE[opened.profile];
  return (
    <div className="stack">
      {overview.assumesMoment && (
        <Banner tone="info" title={t`Some rules look at the time, or at what was called before`}>
          <p>{t`Shown here is what holds for the first call of a session, on a Monday at midnight.`}</p>
        </Banner>
      )}
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t`To`}</th>
            {rows.map((row) => (
              <th key={row.profile} scope="col">
                {nameColumn(row)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows[0]?.cells.map((kind, index) => (
            <tr key={`${kind.category} ${kind.host ?? ""}`}>
              <th scope="row">
                {nameKind(kind)} {kind.host !== undefined && <VisibleText text={kind.host} />}
              </th>
              {rows.map((row) => (
                <td key={row.profile}>
                  {/* Stands for the column's heading, which a phone does not show. */}
                  <span className={styles.person}>{nameColumn(row)}</span>
                  <CellButton cell={row.cells[index]} onOpen={() => setOpened({ profile: row.profile, index })} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="note">{rich`Version ${<Digest value={overview.version} />}`}</p>
      <Dialog
        open={opened !== undefined && cell !== undefined}
        title={cell === undefined ? "" : `${openedColumn}: ${nameKind(cell)}`}
        cancelLabel={t`Close`}
        onClose={() => setOpened(undefined)}
      >
        {cell !== undefined && <CellExplanation cell={cell} />}
      </Dialog>
    </div>
  );
}

interface CellButtonProps {
  readonly cell: PolicyCell | undefined;
  readonly onOpen: () => void;
}

function CellButton({ cell, onOpen }: CellButtonProps) {
  if (cell === undefined) return null;
  return (
    <button type="button" className={styles.cell} onClick={onOpen}>
      <Tag tone={MODE_TONES[cell.mode]}>{MODE_WORDS[cell.mode]}</Tag>
      <span className={styles.why}>
        {cell.because[0] === undefined ? t`No rule permits it` : <RuleSentence why={cell.because[0].why} />}
      </span>
      {cell.exceptionCount > 0 && (
        <span className={styles.exceptions}>
          {cell.exceptionCount === 1 ? t`1 tool differs` : t`${cell.exceptionCount} tools differ`}
        </span>
      )}
    </button>
  );
}
