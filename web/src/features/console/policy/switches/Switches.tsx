import { useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { paths } from "../../paths.ts";
import { ProposalAnswer } from "../editor/ProposalAnswer.tsx";
import { Proposals } from "../editor/Proposals.tsx";
import { usePolicyText, usePolicyUpdates } from "../editor/queries.ts";
import { useSwitches } from "./queries.ts";
import { SwitchCard } from "./SwitchCard.tsx";

/** Common wishes for people who write no rule. Each writes one, which is read, rehearsed and signed as any other. */
export function Switches() {
  const switches = useSwitches();
  const active = usePolicyText();
  const refetch = usePolicyUpdates();
  const [answer, setAnswer] = useState<PolicyProposed>();
  const [opened, setOpened] = useState<string>();
  const failed = switches.error ?? active.error;
  if (failed) return <Banner tone="danger" urgent title={explain(failed)} />;
  if (switches.data === undefined || active.data === undefined) return <Spinner label={t`Reading the switches`} />;
  const take = (given: PolicyProposed) => {
    setAnswer(given);
    setOpened(given.opened?.proposal.proposalId);
    refetch();
  };
  const done = () => {
    setAnswer(undefined);
    refetch();
  };
  return (
    <section className="stack" aria-labelledby="policy-switches">
      <h2 id="policy-switches">{t`Switches`}</h2>
      <p>
        {rich`Each writes a rule for you and shows it. You see what it would have changed before anything is in force, and your passkey puts it there. Rules of your own are written in the ${(inner) => <Link href={paths.policyEditor}>{inner}</Link>}<policy editor>.`}
      </p>
      {active.data.source === "files" && (
        <Banner tone="info" title={t`This gateway keeps its policy in files`}>
          <p>
            {rich`A switch makes a patch for their folder. Apply it with ${<code>git apply</code>}, then run ${<code>countersign policy reload</code>}.`}
          </p>
        </Banner>
      )}
      <ul className="stack" aria-label={t`Switches`}>
        {switches.data.switches.map((each) => (
          // Another version of the policy is another state of the switch, and what was begun under the last one is gone.
          <SwitchCard
            key={`${each.switch} ${switches.data.version}`}
            given={each}
            active={active.data}
            onProposed={take}
          />
        ))}
      </ul>
      {answer !== undefined && <ProposalAnswer answer={answer} />}
      {active.data.source === "database" && (
        <Card as="section" labelledBy="waiting-versions">
          <h2 id="waiting-versions">{t`Waiting for signatures`}</h2>
          <Proposals active={active.data} opened={opened} onOpen={setOpened} onDone={done} />
        </Card>
      )}
    </section>
  );
}
