import { type FormEvent, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Setting } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { useChange, useSettings } from "./queries.ts";
import { boundsWords, placeWords, readValue, settingWords, valueWords } from "./words.ts";

/** The settings that hold at once and outlive a restart. What gives authority is not among them. */
export function SettingsPage() {
  const settings = useSettings();
  return (
    <>
      <PageHeading
        lead={t`These can be changed while the gateway runs. A change takes your passkey, goes on record, holds at once and outlives a restart.`}
      >
        {t`Settings`}
      </PageHeading>
      {settings.isError && <Banner tone="danger" urgent title={explain(settings.error)} />}
      {settings.isPending && <Spinner label={t`Reading the settings`} />}
      {settings.data !== undefined && (
        <>
          <ul className="stack">
            {settings.data.settings.map((setting) => (
              <SettingCard key={setting.name} setting={setting} version={settings.data.version} />
            ))}
          </ul>
          <p className="note">
            {rich`Addresses, folders, keys, models and the sandbox are set in ${<code>countersign.toml</code>} or the environment, and take a restart. What each profile may do and spend is the policy's.`}
          </p>
        </>
      )}
    </>
  );
}

function SettingCard({ setting, version }: { readonly setting: Setting; readonly version: string }) {
  const { name, value, configured, place, fixed } = setting;
  const [changing, setChanging] = useState(false);
  const { label, what } = settingWords(name);
  const reset = useChange(version, () => {});
  return (
    <Card as="li">
      <div className="row">
        <h2>{label}</h2>
        <strong>{valueWords(name, value)}</strong>
        <Tag tone={place === "console" ? "accent" : "plain"}>{placeWords(place)}</Tag>
      </div>
      <p>{what}</p>
      {reset.isError && <Banner tone="danger" urgent title={explain(reset.error)} />}
      {fixed ? (
        <p className="note">
          {rich`It can only be changed where it is set, as ${<code>{name}</code>}, and takes a restart.`}
        </p>
      ) : (
        <div className="row">
          <Button aria-label={t`Change: ${label}`} onClick={() => setChanging(true)}>
            {t`Change`}
          </Button>
          {place === "console" && (
            <Button
              aria-label={t`Put back to ${valueWords(name, configured)}: ${label}`}
              busy={reset.isPending}
              onClick={() => reset.mutate({ name, value: null })}
            >
              {t`Put back to ${valueWords(name, configured)}`}
            </Button>
          )}
        </div>
      )}
      {changing && <ChangeDialog setting={setting} version={version} onClose={() => setChanging(false)} />}
    </Card>
  );
}

interface ChangeDialogProps {
  readonly setting: Setting;
  readonly version: string;
  readonly onClose: () => void;
}

function ChangeDialog({ setting, version, onClose }: ChangeDialogProps) {
  const { name, value, least, words } = setting;
  const { label } = settingWords(name);
  const [typed, setTyped] = useState(String(value));
  const [seen, setSeen] = useState(version);
  const change = useChange(version, onClose);
  const wanted = readValue(setting, typed);
  const form = `change-${name}`;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted === null || change.isPending) return;
    setSeen(version);
    change.mutate({ name, value: wanted });
  };
  return (
    <Dialog
      open
      title={label}
      onClose={onClose}
      actions={
        <Button type="submit" form={form} variant="primary" busy={change.isPending} disabled={wanted === null}>
          {t`Change with your passkey`}
        </Button>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        {least === undefined ? (
          <SelectField
            label={t`New value`}
            options={words.map((word) => [word, word] as const)}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        ) : (
          <Field
            label={t`New value`}
            hint={boundsWords(setting)}
            error={wanted === null && typed !== "" ? t`It cannot be that.` : undefined}
            value={typed}
            inputMode={words.length ? "text" : "numeric"}
            autoComplete="off"
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <p>{t`Now it is ${valueWords(name, value)}.`}</p>
        {change.isError && <Banner tone="danger" urgent title={explain(change.error)} />}
        {change.isError && seen !== version && (
          <p>{t`What is shown here is what it is now; look at it before you go on.`}</p>
        )}
      </form>
    </Dialog>
  );
}
