import { useMutation } from "@tanstack/react-query";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyProposed, PolicyText } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { TimeAgo } from "../../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { explain } from "../../errors.ts";
import { usePeopleNames } from "../../people/queries.ts";
import { useAsk } from "../../session.tsx";
import { useHistory } from "./queries.ts";

interface VersionHistoryProps {
  readonly active: PolicyText;
  readonly onProposed: (answer: PolicyProposed) => void;
}

/** Versions that came into force, who signed them and why. Going back is a new version with the texts of an old one. */
export function VersionHistory({ active, onProposed }: VersionHistoryProps) {
  const ask = useAsk();
  const history = useHistory();
  const names = usePeopleNames();
  const versions = (history.data?.pages ?? []).flatMap((page) => page.versions);
  // A version that came back into force stands here more than once, and one of them is meant.
  const inForce = versions.find(({ version }) => version === active.version)?.index;
  const goBack = useMutation({
    mutationFn: ({ version, at }: { readonly version: string; readonly at: string }) =>
      ask("policy/propose", { base: active.version, version, reason: t`Back to the version of ${at}` }),
    onSuccess: onProposed,
  });
  return (
    <>
      {history.isError && <Banner tone="danger" urgent title={explain(history.error)} />}
      {history.isPending && <Spinner label={t`Reading the history`} />}
      {goBack.isError && <Banner tone="danger" urgent title={explain(goBack.error)} />}
      <ol className="stack" aria-label={t`Versions, newest first`}>
        {versions.map((each) => (
          <li key={each.index} className="row">
            <code title={each.version}>{each.version.slice(0, 12)}</code>
            <TimeAgo at={each.at} />
            <span>{each.reason === undefined ? t`read from files` : <VisibleText text={each.reason} prose />}</span>
            {each.signers.length > 0 && (
              <span className="note">{rich`signed by ${<VisibleText text={each.signers.map((id) => names.get(id) ?? id).join(", ")} prose />}`}</span>
            )}
            {each.index === inForce && <Tag tone="ok">{t`in force`}</Tag>}
            {each.version !== active.version && (
              <Button size="small" busy={goBack.isPending} onClick={() => goBack.mutate(each)}>
                {t`Go back to it`}
              </Button>
            )}
          </li>
        ))}
      </ol>
      {history.hasNextPage && (
        <div className="row">
          <Button size="small" busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
            {t`Show earlier versions`}
          </Button>
        </div>
      )}
    </>
  );
}
