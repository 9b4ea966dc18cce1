import { useQueryClient } from "@tanstack/react-query";
import { t } from "../../../language/t.ts";
import type { Person } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VerificationNeeded } from "../account/VerificationNeeded.tsx";
import { useVerifiedAction } from "../account/verified-action.ts";
import { explain } from "../errors.ts";
import { useAsk } from "../session.tsx";
import { apply, CHANGES, type Change } from "./changes.ts";
import { refetchPeople } from "./queries.ts";

interface ChangeDialogProps {
  readonly person: Person;
  /** The change that was chosen; null while none is. */
  readonly change: Change | null;
  /** Whether the person is who is signed in here. */
  readonly you: boolean;
  readonly onClose: () => void;
}

/** Says what a change does before it is made. */
export function ChangeDialog({ person, change, you, onClose }: ChangeDialogProps) {
  // Keyed, so that the error of one change is not left over in the dialog of another.
  return change === null ? null : (
    <OpenDialog key={change} person={person} change={change} you={you} onClose={onClose} />
  );
}

function OpenDialog({ person, change, you, onClose }: ChangeDialogProps & { readonly change: Change }) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  const { label, gives, does, done } = CHANGES[change];
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    () => apply(ask, change, person),
    () => {
      onClose();
      toast(`${person.name} ${done}.`);
      void refetchPeople(cache);
    },
  );
  return (
    <Dialog
      open
      title={`${label}: ${person.name}?`}
      onClose={onClose}
      actions={
        <Button variant={gives ? "primary" : "danger"} busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? t`Confirm with your passkey` : label}
        </Button>
      }
    >
      <p>{does}</p>
      {you && !gives && <Banner tone="waiting" title={t`This is you: your session here ends with it.`} />}
      {verificationNeeded && (
        <VerificationNeeded>
          {gives
            ? t`This gives somebody authority here, so confirm that it is you. The browser asks for one of your passkeys.`
            : t`Nothing brings back what is erased, so confirm that it is you. The browser asks for one of your passkeys.`}
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
    </Dialog>
  );
}
