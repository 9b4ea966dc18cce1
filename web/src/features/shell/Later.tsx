import { type ReactNode, Suspense } from "react";
import { t } from "../../language/t.ts";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import type { WorkspaceState } from "./workspace-state.ts";

interface LaterProps {
  readonly state: WorkspaceState;
  readonly fallback?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the page that is loaded when it is asked for. Where that fails the rest stays as it is. */
export function Later({ state, fallback, children }: LaterProps) {
  return (
    <ErrorBoundary
      what={t`This part`}
      reload={() => location.reload()}
      away={state.connection.phase === "lost"}
      whileAway={t`It comes by itself once the gateway is back.`}
    >
      <Suspense fallback={fallback}>{children}</Suspense>
    </ErrorBoundary>
  );
}
