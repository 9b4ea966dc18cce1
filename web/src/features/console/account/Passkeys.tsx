import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { PasskeyView } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Field } from "../../../ui/Field.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { addPasskey } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useAsk, useSession } from "../session.tsx";
import { AddDevice } from "./AddDevice.tsx";
import { refetchPasskeys, usePasskeys } from "./queries.ts";
import { useRenamePasskey } from "./renaming.ts";
import { VerificationNeeded } from "./VerificationNeeded.tsx";
import { useVerifiedAction } from "./verified-action.ts";

/** One's own passkeys. */
export function Passkeys() {
  const passkeys = usePasskeys();
  return (
    <>
      <PageHeading lead="Each of these can sign in as you and approve as you. Keep two, so that losing a device does not lock you out.">
        Passkeys
      </PageHeading>
      {passkeys.isError && <Banner tone="danger" urgent title={explain(passkeys.error)} />}
      {passkeys.isPending && <Spinner label="Reading your passkeys" />}
      {passkeys.data !== undefined && (
        <ul className="stack">
          {passkeys.data.map((passkey) => (
            <PasskeyCard key={passkey.id} passkey={passkey} last={passkeys.data.length === 1} />
          ))}
        </ul>
      )}
      <AddDevice />
      <AddPasskey />
    </>
  );
}

function PasskeyCard({ passkey, last }: { readonly passkey: PasskeyView; readonly last: boolean }) {
  const [dialog, setDialog] = useState<"rename" | "remove" | null>(null);
  const reason = useId();
  const close = () => setDialog(null);
  return (
    <Card as="li">
      <div className="row">
        <h2>
          <VisibleText text={passkey.name || "Passkey without a name"} prose />
        </h2>
        {passkey.backedUp ? <Tag tone="info">synced</Tag> : <Tag>on one device</Tag>}
      </div>
      <KeyValue
        rows={[
          { name: "Registered", value: <TimeAgo at={passkey.createdAt} /> },
          {
            name: "Last used",
            value: passkey.lastUsedAt === undefined ? "never" : <TimeAgo at={passkey.lastUsedAt} />,
          },
        ]}
      />
      <div className="row">
        <Button onClick={() => setDialog("rename")}>Rename</Button>
        <Button
          variant="danger"
          aria-disabled={last}
          aria-describedby={last ? reason : undefined}
          onClick={() => setDialog("remove")}
        >
          Remove
        </Button>
        {last && (
          <span id={reason} className="note">
            Your last passkey cannot be removed: you could not sign in any more.
          </span>
        )}
      </div>
      <RenameDialog passkey={passkey} open={dialog === "rename"} onClose={close} />
      <RemoveDialog passkey={passkey} open={dialog === "remove"} onClose={close} />
    </Card>
  );
}

interface PasskeyDialogProps {
  readonly passkey: PasskeyView;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RenameDialog({ passkey, open, onClose }: PasskeyDialogProps) {
  const rename = useRenamePasskey();
  const toast = useToast();
  const form = useId();
  const [name, setName] = useState(passkey.name);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await rename.mutateAsync({ passkeyId: passkey.id, name: name.trim() });
      toast("The passkey was renamed.");
      onClose();
    } catch {
      // The mutation keeps the error, and the field shows it.
    }
  };
  return (
    <Dialog
      open={open}
      title="Rename this passkey"
      onClose={onClose}
      actions={
        <Button type="submit" form={form} variant="primary" busy={rename.isPending} disabled={name.trim() === ""}>
          Rename
        </Button>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field
          label="Name"
          value={name}
          maxLength={100}
          required
          autoComplete="off"
          error={rename.isError ? explain(rename.error) : undefined}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}

function RemoveDialog({ passkey, open, onClose }: PasskeyDialogProps) {
  const ask = useAsk();
  const cache = useQueryClient();
  const toast = useToast();
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    () => ask("passkeys/remove", { passkeyId: passkey.id }),
    () => {
      onClose();
      toast("The passkey was removed.");
      void refetchPasskeys(cache);
    },
  );
  return (
    <Dialog
      open={open}
      title="Remove this passkey?"
      onClose={onClose}
      actions={
        <Button variant="danger" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? "Confirm with a passkey and remove" : "Remove it"}
        </Button>
      }
    >
      <p>
        <VisibleText text={passkey.name || "This passkey"} prose /> can then no longer sign in or approve. Your device
        may go on offering it until you delete it there too.
      </p>
      {verificationNeeded && (
        <VerificationNeeded>
          To remove a passkey, confirm with one of your passkeys. The browser asks for it first.
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
    </Dialog>
  );
}

function AddPasskey() {
  const { environment } = useSession();
  const cache = useQueryClient();
  const toast = useToast();
  const [name, setName] = useState("");
  const {
    attempt: add,
    verificationNeeded,
    failure,
  } = useVerifiedAction(
    () => addPasskey(environment, name),
    () => {
      setName("");
      toast("The passkey was registered.");
      void refetchPasskeys(cache);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!add.isPending) add.mutate();
  };
  return (
    <Card as="section" label="Add a passkey">
      <h2>Add a passkey</h2>
      {verificationNeeded && (
        <VerificationNeeded>
          A new passkey can sign in as you, so confirm with one that you already have. The browser asks twice: for the
          one you have, then for the new one.
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <form className="stack" onSubmit={submit}>
        <Field
          label="Name of the new passkey"
          value={name}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="primary" busy={add.isPending}>
            {verificationNeeded ? "Confirm with a passkey and add" : "Add a passkey"}
          </Button>
        </div>
      </form>
    </Card>
  );
}
