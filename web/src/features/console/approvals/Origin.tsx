import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { CutTitle } from "../CutTitle.tsx";
import { paths } from "../paths.ts";
import styles from "./ApprovalReview.module.css";
import { RequestQuote } from "./RequestQuote.tsx";

/** Whose wish a call was, by what the tab says of it, in which conversation and when. */
export function Origin({ question: { approval, background } }: { readonly question: ApprovalQuestion }) {
  return (
    <>
      {background?.request !== undefined && <RequestQuote request={background.request} />}
      <p className={styles.origin}>
        {t`Asked for`}{" "}
        {approval.requester !== undefined && <>{rich`by ${<VisibleText text={approval.requester} prose />}`} </>}
        {t`in the conversation`}{" "}
        {background?.title === undefined ? (
          <code>{approval.conversationId}</code>
        ) : (
          <Link href={paths.auditOf(approval.conversationId)}>
            <CutTitle title={background.title} />
          </Link>
        )}
        , <ExactTime at={approval.requestedAt} />
      </p>
    </>
  );
}
