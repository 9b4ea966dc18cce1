import { t } from "../../../../language/t.ts";
import type { PolicyProposed } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { CopyButton } from "../../../../ui/CopyButton.tsx";

/** What became of a draft that somebody proposed. */
export function ProposalAnswer({ answer }: { readonly answer: PolicyProposed }) {
  switch (answer.outcome) {
    case "proposed":
      return <p role="status">{t`It waits for signatures. Read it below, then sign it.`}</p>;
    case "files":
      return (
        <Card>
          <h2>{t`Patch for the folder of the policy`}</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
          <pre tabIndex={0}>{answer.patch}</pre>
          <CopyButton text={answer.patch ?? ""} what={t`patch`} />
        </Card>
      );
    case "conflict":
      return (
        <Banner tone="danger" urgent title={t`Another version came into force meanwhile`}>
          <p>
            {t`Your draft is still here. Its difference is now from the new version; look at it and propose again.`}
          </p>
        </Banner>
      );
    case "unchanged":
      return <Banner tone="info" urgent title={t`These are the texts in force, so there is nothing to propose.`} />;
    case "casesFail":
      return <Banner tone="danger" urgent title={t`Not proposed: cases of the decision table do not hold.`} />;
    case "invalid":
      return <Banner tone="danger" urgent title={t`Not proposed: the texts cannot be used.`} />;
  }
}
