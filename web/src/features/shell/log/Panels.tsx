import type { Panel } from "../../../agent/events.ts";
import { commands } from "../../../agent/slash.ts";
import type { ToolDescriptor } from "../../../protocol/generated.ts";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { MODES } from "./call-labels.ts";
import styles from "./Panels.module.css";

/** The page's own answer to a command. */
export function PanelView({ panel }: { readonly panel: Panel }) {
  switch (panel.kind) {
    case "tools":
      return <ToolList tools={panel.tools} />;
    case "tool":
      return <ToolView tool={panel.tool} />;
    case "help":
      return <Help />;
  }
}

function ToolList({ tools }: { readonly tools: readonly ToolDescriptor[] }) {
  return (
    <section className={styles.panel} aria-label="Tools of this conversation">
      <h2>Tools of this conversation</h2>
      <ul className={styles.tools}>
        {tools.map((tool) => (
          <li key={tool.name} className={styles.tool}>
            <span className={styles.head}>
              <code>{tool.name}</code> <Tag tone={MODES[tool.permission].tone}>{MODES[tool.permission].label}</Tag>
            </span>
            <span className={styles.what}>{tool.description.split("\n", 1)[0]}</span>
          </li>
        ))}
      </ul>
      {tools.length === 0 && <p>There are none.</p>}
    </section>
  );
}

function ToolView({ tool }: { readonly tool: ToolDescriptor }) {
  const { label, tone } = MODES[tool.permission];
  return (
    <section className={styles.panel} aria-label={`The tool ${tool.name}`}>
      <h2>
        <code>{tool.name}</code>
      </h2>
      <p>{tool.description}</p>
      <KeyValue
        rows={[
          { name: "Permission", value: <Tag tone={tone}>{label}</Tag> },
          { name: "Category", value: tool.category },
          { name: "Source", value: tool.source },
          { name: "Method", value: `${tool.interfaceId}.${tool.methodName}` },
          { name: "Arguments", value: <JsonView value={tool.paramSchema} openTo={3} /> },
          { name: "Digest", value: <code>{tool.digest}</code> },
        ]}
      />
    </section>
  );
}

function Help() {
  return (
    <section className={styles.panel} aria-label="Commands">
      <h2>What can be typed here</h2>
      <KeyValue rows={commands.map(({ usage, what }) => ({ name: usage, term: <code>{usage}</code>, value: what }))} />
      <p className={styles.what}>
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line, <kbd>F6</kbd> moves between the
        parts of the page.
      </p>
    </section>
  );
}
