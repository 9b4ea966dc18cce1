import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CallDetails } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VerificationNeeded } from "../account/VerificationNeeded.tsx";
import { useVerifiedAction } from "../account/verified-action.ts";
import { explain } from "../errors.ts";
import { useAsk, useIsOperator } from "../session.tsx";

/** For operators: erases what is kept of a closed call. Nothing where nothing is left. */
export function EraseCall({ details }: { readonly details: CallDetails }) {
  const [open, setOpen] = useState(false);
  const operator = useIsOperator();
  const left = details.entries.some((entry) => entry.payload !== undefined);
  if (!operator || details.call.closedAt === undefined || !left) return null;
  return (
    <div className="row">
      <Button variant="danger" onClick={() => setOpen(true)}>
        Erase what is kept of it
      </Button>
      {open && <EraseDialog details={details} onClose={() => setOpen(false)} />}
    </div>
  );
}

function EraseDialog({ details, onClose }: { readonly details: CallDetails; readonly onClose: () => void }) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  const { conversationId, callId } = details.call;
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    () => ask("audit/erase", { conversationId, callId }),
    () => {
      onClose();
      toast("The content of the call is erased.");
      void cache.invalidateQueries();
    },
  );
  return (
    <Dialog
      open
      title="Erase what is kept of this call?"
      onClose={onClose}
      actions={
        <Button variant="danger" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? "Confirm with your passkey" : "Erase"}
        </Button>
      }
    >
      <p>
        Its arguments, questions, answers and result are erased for good. That it was asked for, when, by whom and how
        it was decided stays on record, and so does this erasure. What the person and the model said about it stays
        until the conversation is deleted, and files that were exported or backed up before still have it.
      </p>
      {verificationNeeded && (
        <VerificationNeeded>
          Nothing brings back what is erased, so confirm that it is you. The browser asks for one of your passkeys.
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
    </Dialog>
  );
}
