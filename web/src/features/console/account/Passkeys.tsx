import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
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
import { TellHere } from "../push/TellHere.tsx";
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
      <PageHeading
        lead={t`Each of these can sign in as you and approve as you. Keep two, so that losing a device does not lock you out.`}
      >
        {t`Passkeys`}
      </PageHeading>
      {passkeys.isError && <Banner tone="danger" urgent title={explain(passkeys.error)} />}
      {passkeys.isPending && <Spinner label={t`Reading your passkeys`} />}
      {passkeys.data !== undefined && (
        <ul className="stack">
          {passkeys.data.map((passkey) => (
            <PasskeyCard key={passkey.id} passkey={passkey} last={passkeys.data.length === 1} />
          ))}
        </ul>
      )}
      <AddDevice />
      <TellHere />
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
          <VisibleText text={passkey.name || t`Passkey without a name`} prose />
        </h2>
        {passkey.backedUp ? <Tag tone="info">{t`synced`}</Tag> : <Tag>{t`on one device`}</Tag>}
      </div>
      <KeyValue
        rows={[
          { name: t`Registered`, value: <TimeAgo at={passkey.createdAt} /> },
          {
            name: t`Last used`,
            // To register it was to use it.
            value: <TimeAgo at={passkey.lastUsedAt ?? passkey.createdAt} />,
          },
        ]}
      />
      <div className="row">
        <Button onClick={() => setDialog("rename")}>{t`Rename`}</Button>
        <Button
          variant="danger"
          aria-disabled={last}
          aria-describedby={last ? reason : undefined}
          onClick={() => setDialog("remove")}
        >
          {t`Remove`}
        </Button>
        {last && (
          <span id={reason} className="note">
            {t`Your last passkey cannot be removed: you could not sign in any more.`}
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
      toast(t`The passkey was renamed.`);
      onClose();
    } catch {
      // The mutation keeps the error, and the field shows it.
    }
  };
  return (
    <Dialog
      open={open}
      title={t`Rename this passkey`}
      onClose={onClose}
      actions={
        <Button type="submit" form={form} variant="primary" busy={rename.isPending} disabled={name.trim() === ""}>
          {t`Rename`}
        </Button>
      }
    >
      <form id={form} onSubmit={submit}>
        <Field
          label={t`Name`}
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
      toast(t`The passkey was removed.`);
      void refetchPasskeys(cache);
    },
  );
  return (
    <Dialog
      open={open}
      title={t`Remove this passkey?`}
      onClose={onClose}
      actions={
        <Button variant="danger" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {verificationNeeded ? t`Confirm with a passkey and remove` : t`Remove it`}
        </Button>
      }
    >
      <p>
        {rich`${<VisibleText text={passkey.name || t`This passkey`} prose />} can then no longer sign in or approve. Your device may go on offering it until you delete it there too.`}
      </p>
      {verificationNeeded && (
        <VerificationNeeded>
          {t`To remove a passkey, confirm with one of your passkeys. The browser asks for it first.`}
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
      toast(t`The passkey was registered.`);
      void refetchPasskeys(cache);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!add.isPending) add.mutate();
  };
  return (
    <Card as="section" label={t`Add a passkey`}>
      <h2>{t`Add a passkey`}</h2>
      {verificationNeeded && (
        <VerificationNeeded>
          {t`A new passkey can sign in as you, so confirm with one that you already have. The browser asks twice: for the one you have, then for the new one.`}
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <form className="stack" onSubmit={submit}>
        <Field
          label={t`Name of the new passkey`}
          value={name}
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="primary" busy={add.isPending}>
            {verificationNeeded ? t`Confirm with a passkey and add` : t`Add a passkey`}
          </Button>
        </div>
      </form>
    </Card>
  );
}
