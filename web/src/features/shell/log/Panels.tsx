import type { Panel } from "../../../agent/events.ts";
import { commands } from "../../../agent/slash.ts";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ToolDescriptor, ToolObstacle } from "../../../protocol/generated.ts";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { RuleSentence } from "../../../ui/RuleSentence.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { describeCommand } from "../command-words.ts";
import { describeModel } from "../model-words.ts";
import { type ArgumentKind, fieldsOf, type SchemaField } from "../schema-form.ts";
import type { SendKey } from "../settings.ts";
import { MODES } from "./call-labels.ts";
import styles from "./Panels.module.css";
import { ToolListView } from "./ToolListView.tsx";

interface PanelProps {
  readonly panel: Panel;
  readonly sendKey: SendKey;
}

/** The page's own answer to a command. */
export function PanelView({ panel, sendKey }: PanelProps) {
  switch (panel.kind) {
    case "tools":
      return <ToolListView panel={panel} />;
    case "tool":
      return <ToolView tool={panel.tool} obstacle={panel.obstacle} />;
    case "models":
      return <Models panel={panel} />;
    case "help":
      return <Help sendKey={sendKey} />;
  }
}

interface ToolViewProps {
  readonly tool: ToolDescriptor;
  readonly obstacle: ToolObstacle | undefined;
}

function ToolView({ tool, obstacle }: ToolViewProps) {
  const { label, tone } = MODES[tool.permission];
  return (
    <section className={styles.panel} aria-label={t`The tool ${tool.name}`}>
      <h2>
        <code>{tool.name}</code>
      </h2>
      <p>{tool.description}</p>
      <KeyValue
        rows={[
          { name: t`Permission`, value: <Tag tone={tone}>{label}</Tag> },
          ...(obstacle === undefined ? [] : [{ name: t`Why`, value: <RuleSentence why={obstacle.why} plain /> }]),
          ...fieldsOf(tool.paramSchema).map((field) => ({
            name: field.name,
            term: <code>{field.name}</code>,
            value: describeArgument(field),
          })),
        ]}
      />
      <details className={styles.published}>
        <summary>{t`As it is published`}</summary>
        <KeyValue
          rows={[
            { name: t`Category`, value: tool.category },
            { name: t`Source`, value: tool.source },
            { name: t`Method`, value: `${tool.interfaceId}.${tool.methodName}` },
            { name: t`Arguments`, value: <JsonView value={tool.paramSchema} openTo={3} /> },
            { name: t`Digest`, value: <code>{tool.digest}</code> },
          ]}
        />
      </details>
    </section>
  );
}

const KINDS: Readonly<Record<Exclude<ArgumentKind, "choice">, string>> = {
  line: t`text`,
  text: t`text`,
  number: t`number`,
  integer: t`whole number`,
  yesNo: t`yes or no`,
  json: t`JSON`,
};

function describeArgument({ kind, required, hint, options }: SchemaField): string {
  const what = kind === "choice" ? t`one of ${options.map(([, words]) => words).join(", ")}` : KINDS[kind];
  return [hint, required ? what : t`${what}, may be left out`].filter(Boolean).join(" · ");
}

function Models({ panel: { models, missing, chosenId } }: { readonly panel: Extract<Panel, { kind: "models" }> }) {
  return (
    <section className={styles.panel} aria-label={t`Models`}>
      <h2>{t`Models`}</h2>
      <ul className={styles.models}>
        {models.map((model) => (
          <li key={model.id}>
            {describeModel(model)} {model.id === chosenId && <Tag tone="accent">{t`answers here`}</Tag>}
          </li>
        ))}
        {missing.map(({ name, why }) => (
          <li key={name} className={styles.what}>
            {t`${name}: not available, ${why}`}
          </li>
        ))}
      </ul>
      {models.length > 1 && (
        <p className={styles.what}>{rich`${<code>/model NAME</code>} takes another one for this conversation.`}</p>
      )}
    </section>
  );
}

function Help({ sendKey }: { readonly sendKey: SendKey }) {
  return (
    <section className={styles.panel} aria-label={t`Commands`}>
      <h2>{t`What can be typed here`}</h2>
      <KeyValue
        rows={[
          ...commands.map((each) => ({
            name: each.usage,
            term: <code>{each.usage}</code>,
            value: describeCommand(each),
          })),
          {
            name: "@",
            term: <code>@…</code>,
            value: t`Name a file or folder of the workspace; it is completed as you type`,
          },
          {
            name: "also",
            term: <code>{t`also …`}</code>,
            value: t`While the agent works: taken in before its next step. Anything else waits in line until the answer is complete`,
          },
          {
            name: "files",
            term: t`Paper clip`,
            value: t`Attach texts, CSV and images; you can paste or drop them here too`,
          },
        ]}
      />
      <p className={styles.what}>
        {sendKey === "enter"
          ? rich`${<kbd>{t`Enter`}</kbd>} sends, ${<kbd>{t`Shift`}</kbd>}+${<kbd>{t`Enter`}</kbd>} starts a new line, ${<kbd>F6</kbd>} moves between the parts of the page.`
          : rich`${<kbd>{t`Ctrl`}</kbd>}+${<kbd>{t`Enter`}</kbd>} sends, ${<kbd>{t`Enter`}</kbd>} starts a new line, ${<kbd>F6</kbd>} moves between the parts of the page.`}
      </p>
    </section>
  );
}
