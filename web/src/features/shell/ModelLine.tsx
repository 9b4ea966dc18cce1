import type { Gauge } from "../../agent/conversation.ts";
import { language } from "../../language/language.ts";
import { t } from "../../language/t.ts";
import type { ModelInfo, SessionDescription } from "../../protocol/generated.ts";
import styles from "./ModelLine.module.css";
import { describeModel } from "./model-words.ts";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

interface ModelLineProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly session: SessionDescription;
}

/** Beneath the message that is being written: who will answer it, and how much room there is. */
export function ModelLine({ workspace, state, session }: ModelLineProps) {
  return (
    <div className={styles.line}>
      <ModelChoice workspace={workspace} state={state} session={session} />
      {state.log.gauge !== null && <ContextGauge gauge={state.log.gauge} />}
    </div>
  );
}

function ModelChoice({ workspace, state, session }: ModelLineProps) {
  const { models, missingModels = [] } = session;
  if (models.length + missingModels.length <= 1)
    return (
      <span className={styles.model} title={state.model === null ? undefined : describeModel(state.model)}>
        {nameModel(state.model)}
      </span>
    );
  return (
    <select
      className={styles.select}
      aria-label={t`Model`}
      value={state.model?.id}
      disabled={state.busy}
      onChange={(event) => workspace.chooseModel(event.currentTarget.value)}
    >
      {models.map((model) => (
        <option key={model.id} value={model.id}>
          {describeModel(model)}
        </option>
      ))}
      {missingModels.map(({ name, why }) => (
        <option key={name} disabled>
          {t`${name}: not available, ${why}`}
        </option>
      ))}
    </select>
  );
}

/** The only model by its name alone, unless there is something about it that must be known before it is asked. */
function nameModel(model: ModelInfo | null): string {
  if (model === null) return t`No model`;
  return model.trouble === undefined ? model.displayName : describeModel(model);
}

const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/** How much of the model's context the last request took. */
function ContextGauge({ gauge }: { readonly gauge: Gauge }) {
  const { used, limit, exact } = gauge;
  const words = t`${short.format(used)} of ${short.format(limit)}`;
  const spoken = exact
    ? t`${used} of ${limit} tokens of context used`
    : t`about ${used} of ${limit} tokens of context used`;
  return (
    <span className={styles.gauge} title={spoken}>
      <meter min={0} max={limit} high={limit * 0.85} value={Math.min(used, limit)} aria-label={spoken} />
      <span aria-hidden="true">
        {exact ? "" : "≈ "}
        {words}
      </span>
    </span>
  );
}
