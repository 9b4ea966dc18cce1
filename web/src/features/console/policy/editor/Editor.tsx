import { useState } from "react";
import { Link } from "wouter";
import type { PolicyProposed, PolicyText } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { CopyButton } from "../../../../ui/CopyButton.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { PageHeading } from "../../PageHeading.tsx";
import { paths } from "../../paths.ts";
import { DraftEditor } from "./DraftEditor.tsx";
import { FreezeSwitch } from "./FreezeSwitch.tsx";
import { Proposals } from "./Proposals.tsx";
import { usePolicyText, usePolicyUpdates } from "./queries.ts";
import { VersionHistory } from "./VersionHistory.tsx";

/** The policy's texts for operators: from a draft to the version in force. */
export function Editor() {
  const text = usePolicyText();
  return (
    <>
      <PageHeading lead="Change the rules, see what that would have done, and put them in force with your passkey.">
        Policy editor
      </PageHeading>
      <p>
        <Link href={paths.policy}>What the policy allows, in words</Link>
      </p>
      {text.isError && <Banner tone="danger" urgent title={explain(text.error)} />}
      {text.isPending && <Spinner label="Reading the policy" />}
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
        <Banner tone="info" title="This gateway keeps its policy in files">
          <p>
            A draft made here becomes a patch for their folder. Apply it with <code>git apply</code>, then run{" "}
            <code>countersign policy reload</code>.
          </p>
        </Banner>
      )}
      <DraftEditor active={active} onProposed={take} />
      {answer !== undefined && <Answer answer={answer} />}
      <Card as="section" labelledBy="waiting-versions">
        <h2 id="waiting-versions">Waiting for signatures</h2>
        <Proposals active={active} opened={opened} onOpen={setOpened} onDone={forget} />
      </Card>
      <Card as="section" labelledBy="earlier-versions">
        <h2 id="earlier-versions">History</h2>
        <VersionHistory active={active} onProposed={take} />
      </Card>
    </div>
  );
}

function Answer({ answer }: { readonly answer: PolicyProposed }) {
  switch (answer.outcome) {
    case "proposed":
      return <p role="status">It waits for signatures. Read it below, then sign it.</p>;
    case "files":
      return (
        <Card>
          <h2>Patch for the folder of the policy</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
          <pre tabIndex={0}>{answer.patch}</pre>
          <CopyButton text={answer.patch ?? ""} what="patch" />
        </Card>
      );
    case "conflict":
      return (
        <Banner tone="danger" urgent title="Another version came into force meanwhile">
          <p>Your draft is still here. Its difference is now from the new version; look at it and propose again.</p>
        </Banner>
      );
    case "unchanged":
      return <Banner tone="info" urgent title="These are the texts in force, so there is nothing to propose." />;
    case "casesFail":
      return <Banner tone="danger" urgent title="Not proposed: cases of the decision table do not hold." />;
    case "invalid":
      return <Banner tone="danger" urgent title="Not proposed: the texts cannot be used." />;
  }
}
