import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../../language/t.ts";
import type { CallDetails } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VerificationNeeded } from "../account/VerificationNeeded.tsx";
import { useVerifiedAction } from "../account/verified-action.ts";
import { explain } from "../errors.ts";
import { useAsk, useIsOperator } from "../session.tsx";

type Subject = "call" | "conversation";

const WORDS = {
  call: {
    title: t`Erase what is kept of this call?`,
    does: t`Its arguments, questions, answers and result are erased for good. That it was asked for, when, by whom and how it was decided stays on record, and so does this erasure. What the person and the model said about it stays until the conversation is deleted, and files that were exported or backed up before still have it.`,
    done: t`The content of the call is erased.`,
  },
  conversation: {
    title: t`Erase this whole conversation?`,
    does: t`Everything that was said in it, and the arguments, questions, answers and results of all its calls, are erased for good. That they were asked for, when, by whom and how they were decided stays on record, and so does this erasure. Copies that were branched off it stay, and so do files that were exported or backed up before.`,
    done: t`The content of the conversation is erased.`,
  },
} as const;

/** For operators: erases what is kept of a closed call, or of its conversation. Nothing where nothing is left. */
export function EraseCall({ details }: { readonly details: CallDetails }) {
  const [subject, setSubject] = useState<Subject | null>(null);
  const operator = useIsOperator();
  const left = details.entries.some((entry) => entry.payload !== undefined);
  // A conversation that has no title was deleted; what is left of its other calls is erased on their pages.
  const known = left || details.title !== undefined;
  if (!operator || details.call.closedAt === undefined || !known) return null;
  return (
    <div className="row">
      {left && (
        <Button variant="danger" onClick={() => setSubject("call")}>
          {t`Erase what is kept of it`}
        </Button>
      )}
      <Button variant="danger" onClick={() => setSubject("conversation")}>
        {t`Erase the whole conversation`}
      </Button>
      {subject !== null && <EraseDialog details={details} subject={subject} onClose={() => setSubject(null)} />}
    </div>
  );
}

function EraseDialog({
  details,
  subject,
  onClose,
}: {
  readonly details: CallDetails;
  readonly subject: Subject;
  readonly onClose: () => void;
}) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  const { conversationId, callId } = details.call;
  const { title, does, done } = WORDS[subject];
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    () => ask("audit/erase", subject === "call" ? { conversationId, callId } : { conversationId }),
    ({ copies }) => {
      onClose();
      toast(copies.length === 0 ? done : t`${done} Still there are its copies: ${copies.join(", ")}.`);
      void cache.invalidateQueries();
    },
  );
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <Button variant="danger" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? t`Confirm with your passkey` : t`Erase`}
        </Button>
      }
    >
      <p>{does}</p>
      {verificationNeeded && (
        <VerificationNeeded>
          {t`Nothing brings back what is erased, so confirm that it is you. The browser asks for one of your passkeys.`}
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
    </Dialog>
  );
}
