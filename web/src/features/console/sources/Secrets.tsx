import { type FormEvent, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { SecretView } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Field } from "../../../ui/Field.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { explain } from "../errors.ts";
import { useRemoveSecret, useSecrets, useStoreSecret } from "./queries.ts";
import styles from "./Secrets.module.css";

// biome-ignore lint/suspicious/noTemplateCurlyInString: settings are written like this
const REFERENCE = "${secret:NAME}";

/** Keys and passwords that sources are given, by name. */
export function Secrets() {
  const secrets = useSecrets();
  return (
    <Card as="section" label={t`Secrets`}>
      <h2>{t`Secrets`}</h2>
      <p className="note">
        {rich`Keys and passwords for sources. In the settings of a source stands ${<code>{REFERENCE}</code>}; the value is stored encrypted and never shown again.`}
      </p>
      {secrets.isError && <Banner tone="danger" urgent title={explain(secrets.error)} />}
      {secrets.data !== undefined && secrets.data.length > 0 && (
        <ul className={styles.secrets} aria-label={t`Stored secrets`}>
          {secrets.data.map((secret) => (
            <SecretRow key={secret.name} secret={secret} />
          ))}
        </ul>
      )}
      <StoreSecret />
    </Card>
  );
}

function SecretRow({ secret: { name, sources } }: { readonly secret: SecretView }) {
  const [removing, setRemoving] = useState(false);
  const remove = useRemoveSecret();
  const toast = useToast();
  const close = () => setRemoving(false);
  const onRemove = () =>
    remove.mutate(name, {
      onSuccess: () => {
        close();
        toast(t`The secret ${name} was removed.`);
      },
    });
  return (
    <li className={styles.secret}>
      <code>{name}</code>
      <span className="note">{sources.length === 0 ? t`used by no source` : t`used by ${sources.join(", ")}`}</span>
      <Button size="small" variant="danger" aria-label={t`Remove the secret ${name}`} onClick={() => setRemoving(true)}>
        {t`Remove`}
      </Button>
      <Dialog
        open={removing}
        title={t`Remove the secret ${name}?`}
        onClose={close}
        actions={
          <Button variant="danger" busy={remove.isPending} onClick={onRemove}>
            {t`Remove it`}
          </Button>
        }
      >
        <p>
          {sources.length === 0
            ? t`No source uses it.`
            : t`Without it these sources cannot connect any more: ${sources.join(", ")}.`}
        </p>
        {remove.isError && <Banner tone="danger" urgent title={explain(remove.error)} />}
      </Dialog>
    </li>
  );
}

function StoreSecret() {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const store = useStoreSecret();
  const toast = useToast();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (store.isPending) return;
    store.mutate(
      { name: name.trim(), value },
      {
        onSuccess: () => {
          setName("");
          setValue("");
          toast(t`The secret was stored.`);
        },
      },
    );
  };
  return (
    <form className={styles.form} aria-label={t`Store a secret`} onSubmit={submit}>
      <Field
        label={t`Name of the secret`}
        value={name}
        maxLength={64}
        required
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Field
        label={t`Value`}
        type="password"
        value={value}
        required
        autoComplete="new-password"
        error={store.isError ? explain(store.error) : undefined}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <Button type="submit" busy={store.isPending}>
        {t`Store`}
      </Button>
    </form>
  );
}
