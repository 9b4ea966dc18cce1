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
import { MODES } from "./call-labels.ts";
import styles from "./Panels.module.css";
import { ToolListView } from "./ToolListView.tsx";

/** The page's own answer to a command. */
export function PanelView({ panel }: { readonly panel: Panel }) {
  switch (panel.kind) {
    case "tools":
      return <ToolListView panel={panel} />;
    case "tool":
      return <ToolView tool={panel.tool} obstacle={panel.obstacle} />;
    case "help":
      return <Help />;
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
          { name: t`Category`, value: tool.category },
          { name: t`Source`, value: tool.source },
          { name: t`Method`, value: `${tool.interfaceId}.${tool.methodName}` },
          { name: t`Arguments`, value: <JsonView value={tool.paramSchema} openTo={3} /> },
          { name: t`Digest`, value: <code>{tool.digest}</code> },
        ]}
      />
    </section>
  );
}

function Help() {
  return (
    <section className={styles.panel} aria-label={t`Commands`}>
      <h2>{t`What can be typed here`}</h2>
      <KeyValue
        rows={commands.map((each) => ({
          name: each.usage,
          term: <code>{each.usage}</code>,
          value: describeCommand(each),
        }))}
      />
      <p className={styles.what}>
        {rich`${<kbd>{t`Enter`}</kbd>} sends, ${<kbd>{t`Shift`}</kbd>}+${<kbd>{t`Enter`}</kbd>} starts a new line, ${<kbd>F6</kbd>} moves between the parts of the page.`}
      </p>
    </section>
  );
}
