import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { PolicyText, ProposalOpened, ProposalView } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Digest } from "../../../../ui/Digest.tsx";
import { CheckField } from "../../../../ui/Field.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { Tag } from "../../../../ui/Tag.tsx";
import { TimeAgo } from "../../../../ui/TimeAgo.tsx";
import { useToast } from "../../../../ui/Toast.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { explain } from "../../errors.ts";
import { useAsk, useSession } from "../../session.tsx";
import { ChangedLines, Comparison } from "./Differences.tsx";
import { useProposal, useProposals } from "./queries.ts";
import { signVersion } from "./signing.ts";
import { textsOf } from "./texts.ts";

interface ProposalsProps {
  readonly active: PolicyText;
  /** Which one stands open. */
  readonly opened: string | undefined;
  readonly onOpen: (proposalId: string | undefined) => void;
  readonly onDone: () => void;
}

/** Versions that wait for signatures. */
export function Proposals({ active, opened, onOpen, onDone }: ProposalsProps) {
  const proposals = useProposals();
  return (
    <>
      {proposals.isError && <Banner tone="danger" urgent title={explain(proposals.error)} />}
      {proposals.isPending && <Spinner label={t`Asking for versions that wait`} />}
      {proposals.data?.length === 0 && <p className="note">{t`No version waits for a signature.`}</p>}
      <ul className="stack" aria-label={t`Versions that wait`}>
        {proposals.data?.map((proposal) => (
          <Card key={proposal.proposalId} as="li" tone="waiting">
            <ProposalLine proposal={proposal} />
            {opened === proposal.proposalId ? (
              <Opened
                proposalId={proposal.proposalId}
                active={active}
                onDone={onDone}
                onClose={() => onOpen(undefined)}
              />
            ) : (
              <div className="row">
                <Button onClick={() => onOpen(proposal.proposalId)}>{t`Read it`}</Button>
              </div>
            )}
          </Card>
        ))}
      </ul>
    </>
  );
}

function ProposalLine({ proposal }: { readonly proposal: ProposalView }) {
  return (
    <>
      <p>
        <VisibleText text={proposal.reason} prose />
      </p>
      <p className="note">
        {rich`by ${<VisibleText text={proposal.author} />}, ${<TimeAgo at={proposal.madeAt} />}; ${proposal.signers.length} of ${proposal.needed} signatures`}{" "}
        {proposal.loosens && <Tag tone="waiting">{t`asks for less`}</Tag>}
      </p>
    </>
  );
}

interface OpenedProps {
  readonly proposalId: string;
  readonly active: PolicyText;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function Opened({ proposalId, active, onDone, onClose }: OpenedProps) {
  const proposal = useProposal(proposalId);
  if (proposal.isError) return <Banner tone="danger" urgent title={explain(proposal.error)} />;
  if (proposal.data === undefined) return <Spinner label={t`Reading the version`} />;
  return <Reading opened={proposal.data} active={active} onDone={onDone} onClose={onClose} />;
}

interface ReadingProps extends Omit<OpenedProps, "proposalId"> {
  readonly opened: ProposalOpened;
}

function Reading({ opened, active, onDone, onClose }: ReadingProps) {
  const ask = useAsk();
  const { environment } = useSession();
  const toast = useToast();
  const [confirmed, setConfirmed] = useState(false);
  const { proposalId } = opened.proposal;
  const before = useMemo(() => textsOf(active.documents), [active.documents]);
  const after = useMemo(() => textsOf(opened.documents), [opened.documents]);
  const outdated = opened.proposal.base !== active.version;
  const sign = useMutation({
    mutationFn: async () => {
      // The very answer that is on the page: what it says is checked against what is signed.
      const assertion = await environment.askPasskey(await signVersion(opened, environment.host));
      return ask("policy/sign", { proposalId, assertion: { ...assertion }, ...(confirmed && { confirmed }) });
    },
    onSuccess: ({ outcome, missing }) => {
      if (outcome === "published") toast(t`The version is in force.`);
      if (outcome === "signed")
        toast(missing === 1 ? t`Signed. One more operator has to sign.` : t`Signed. ${missing} more have to sign.`);
    },
    onSettled: onDone,
  });
  const withdraw = useMutation({ mutationFn: () => ask("policy/withdraw", { proposalId }), onSettled: onDone });
  const failure = sign.error ?? withdraw.error;
  return (
    <div className="stack">
      <ChangedLines before={before} after={after} />
      <Comparison comparison={opened.comparison} />
      <p className="note">{rich`Version ${<Digest value={opened.proposal.version} />}`}</p>
      {(outdated || sign.data?.outcome === "conflict") && (
        <Banner tone="danger" urgent title={t`Another version came into force meanwhile`}>
          <p>
            {t`This one was made from an earlier version and can no longer be signed. Withdraw it and propose it again.`}
          </p>
        </Banner>
      )}
      {opened.forbidsYou && (
        <CheckField
          label={t`I know that it leaves me nothing to call`}
          checked={confirmed}
          onChange={(event) => setConfirmed(event.target.checked)}
        />
      )}
      {failure && <Banner tone="danger" urgent title={explain(failure)} />}
      <div className="row">
        {opened.passkeyOptions === undefined ? (
          <p>{t`You have signed it. It waits for another operator.`}</p>
        ) : (
          <Button
            variant="primary"
            busy={sign.isPending}
            disabled={outdated || (opened.forbidsYou && !confirmed)}
            onClick={() => sign.mutate()}
          >
            {t`Sign with your passkey`}
          </Button>
        )}
        <Button variant="danger" busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
          {t`Withdraw`}
        </Button>
        <Button variant="quiet" onClick={onClose}>
          {t`Close`}
        </Button>
      </div>
    </div>
  );
}
