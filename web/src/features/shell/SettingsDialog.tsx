import { t } from "../../language/t.ts";
import type { ModelInfo } from "../../protocol/generated.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { CheckField, Field, SelectField, TextAreaField } from "../../ui/Field.tsx";
import { LanguageField } from "../../ui/LanguageField.tsx";
import { HOTTEST, LONGEST_INSTRUCTIONS, MOST_STEPS, type Settings } from "./settings.ts";

interface SettingsDialogProps {
  readonly settings: Settings;
  readonly models: readonly ModelInfo[];
  readonly onChange: (settings: Settings) => void;
  readonly onClose: () => void;
}

/** What a person sets for the shell. Each change holds at once, and is kept in this browser only. */
export function SettingsDialog({ settings, models, onChange, onClose }: SettingsDialogProps) {
  const change = (part: Partial<Settings>) => onChange({ ...settings, ...part });
  return (
    <Dialog open title={t`Settings`} cancelLabel={t`Close`} onClose={onClose}>
      <SelectField
        label={t`Colours`}
        value={settings.theme}
        options={[
          ["system", t`As the system has them`],
          ["light", t`Light`],
          ["dark", t`Dark`],
        ]}
        onChange={({ currentTarget: { value } }) =>
          change({ theme: value === "light" || value === "dark" ? value : "system" })
        }
      />
      <LanguageField />
      <SelectField
        label={t`What sends`}
        value={settings.sendKey}
        options={[
          ["enter", t`Enter`],
          ["withCtrl", t`Ctrl or Command with Enter`],
        ]}
        onChange={({ currentTarget: { value } }) => change({ sendKey: value === "withCtrl" ? value : "enter" })}
      />
      <CheckField
        label={t`Sound`}
        hint={t`When a question waits, and when a turn of 20 seconds or more ends. Only this page rings; the console never does.`}
        checked={settings.sound}
        onChange={({ currentTarget: { checked } }) => change({ sound: checked })}
      />
      <SelectField
        label={t`Model to begin with`}
        value={settings.modelId}
        options={[["", t`The first one`], ...models.map(({ id, displayName }) => [id, displayName] as const)]}
        onChange={(event) => change({ modelId: event.currentTarget.value })}
      />
      <Field
        label={t`Temperature`}
        hint={t`From 0, the likeliest words, to ${HOTTEST}. Calls of tools by a small model stay at 0.`}
        type="number"
        min={0}
        max={HOTTEST}
        step={0.1}
        defaultValue={settings.temperature}
        onChange={({ currentTarget: { valueAsNumber: value } }) =>
          value >= 0 && value <= HOTTEST && change({ temperature: value })
        }
      />
      <Field
        label={t`Steps`}
        hint={t`Rounds of tool calls in one turn, from 1 to ${MOST_STEPS}.`}
        type="number"
        min={1}
        max={MOST_STEPS}
        step={1}
        defaultValue={settings.steps}
        onChange={({ currentTarget: { valueAsNumber: value } }) =>
          Number.isInteger(value) && value >= 1 && value <= MOST_STEPS && change({ steps: value })
        }
      />
      <TextAreaField
        label={t`What you want of every answer`}
        hint={t`In your own words; the model reads them with its own instructions. They give it no authority.`}
        maxLength={LONGEST_INSTRUCTIONS}
        value={settings.instructions}
        onChange={(event) => change({ instructions: event.currentTarget.value })}
      />
    </Dialog>
  );
}
