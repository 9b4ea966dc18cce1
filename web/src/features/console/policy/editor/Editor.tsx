import { useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed, PolicyText } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { PageHeading } from "../../PageHeading.tsx";
import { paths } from "../../paths.ts";
import { DraftEditor } from "./DraftEditor.tsx";
import { FreezeSwitch } from "./FreezeSwitch.tsx";
import { ProposalAnswer } from "./ProposalAnswer.tsx";
import { Proposals } from "./Proposals.tsx";
import { usePolicyText, usePolicyUpdates } from "./queries.ts";
import { Shadow } from "./Shadow.tsx";
import { VersionHistory } from "./VersionHistory.tsx";

/** The policy's texts for operators: from a draft to the version in force. */
export function Editor() {
  const text = usePolicyText();
  return (
    <>
      <PageHeading lead={t`Change the rules, see what that would have done, and put them in force with your passkey.`}>
        {t`Policy editor`}
      </PageHeading>
      <p>
        <Link href={paths.policy}>{t`What the policy allows, in words`}</Link>
      </p>
      {text.isError && <Banner tone="danger" urgent title={explain(text.error)} />}
      {text.isPending && <Spinner label={t`Reading the policy`} />}
      {text.data !== undefined && <Workshop active={text.data} />}
    </>
  );
}

function Workshop({ active }: { readonly active: PolicyText }) {
  const refetch = usePolicyUpdates();
  const [opened, setOpened] = useState<string>();
  const [answer, setAnswer] = useState<PolicyProposed>();
  const forget = () => {
    setAnswer(undefined);
    refetch();
  };
  const take = (given: PolicyProposed) => {
    setAnswer(given);
    setOpened(given.opened?.proposal.proposalId);
    refetch();
  };
  return (
    <div className="stack">
      <FreezeSwitch freeze={active.freeze} onDone={refetch} />
      {active.source === "files" && (
        <Banner tone="info" title={t`This gateway keeps its policy in files`}>
          <p>
            {rich`A draft made here becomes a patch for their folder. Apply it with ${<code>git apply</code>}, then run ${<code>countersign policy reload</code>}.`}
          </p>
        </Banner>
      )}
      <DraftEditor active={active} onProposed={take} />
      {answer !== undefined && <ProposalAnswer answer={answer} />}
      <Shadow />
      <Card as="section" labelledBy="waiting-versions">
        <h2 id="waiting-versions">{t`Waiting for signatures`}</h2>
        <Proposals active={active} opened={opened} onOpen={setOpened} onDone={forget} />
      </Card>
      <Card as="section" labelledBy="earlier-versions">
        <h2 id="earlier-versions">{t`History`}</h2>
        <VersionHistory active={active} onProposed={take} />
      </Card>
    </div>
  );
}
