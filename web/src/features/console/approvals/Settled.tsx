import { Link } from "wouter";
import type { Approval, Grant } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { spokenDuration } from "../../../ui/durations.ts";
import { paths } from "../paths.ts";
import { useApprovals } from "../queries.ts";
import { waitingIn } from "../title.ts";

interface SettledProps {
  readonly approval: Approval;
  /** The lasting yes that came of it, if this page gave one. */
  readonly grant: Grant | undefined;
  /** Whether the answer was given on this page. */
  readonly here: boolean;
}

/** How it ended, in the place where the buttons were. */
export function Settled({ approval, grant, here }: SettledProps) {
  switch (approval.status) {
    case "pending":
      return null;
    case "approved":
      return (
        <Banner tone="ok" title={here ? "Approved" : "Approved elsewhere"}>
          <p>
            The call was allowed to run. How it ended is in the{" "}
            <Link href={paths.auditOf(approval.conversationId)}>audit log</Link>.
          </p>
          {grant !== undefined && <Lasting grant={grant} />}
        </Banner>
      );
    case "denied":
      return (
        <Banner tone="info" title="Denied, not run">
          <p>
            {here
              ? "The agent is told that you said no."
              : "Another window said no, or a passkey answer did not verify."}
          </p>
        </Banner>
      );
    case "expired":
      return (
        <Banner tone="info" title="Expired, not run">
          <p>Nobody decided in time. The agent is told so and may ask again.</p>
        </Banner>
      );
    case "cancelled":
      return (
        <Banner tone="info" title="Cancelled, not run">
          <p>The turn was stopped or its session ended, so there is nothing left to decide.</p>
        </Banner>
      );
  }
}

function Lasting({ grant }: { readonly grant: Grant }) {
  const lasts = spokenDuration(Date.parse(grant.expiresAt) - Date.parse(grant.issuedAt));
  return (
    <p>
      Calls that it covers do not ask again for {lasts} at most, and at most {grant.maxUses} times. Take it back under{" "}
      <Link href={paths.grants}>Grants</Link>.
    </p>
  );
}

/** The way on from a settled approval. */
export function Next() {
  const [next] = waitingIn(useApprovals().data);
  return next === undefined ? (
    <p>
      <Link href={paths.approvals}>Back to all approvals</Link>
    </p>
  ) : (
    <p>
      <Link href={paths.approval(next.id)}>Go to the next one that waits</Link>
    </p>
  );
}
