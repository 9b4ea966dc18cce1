import { Component, type ReactNode } from "react";
import { t } from "../language/t.ts";
import { Banner } from "./Banner.tsx";
import { Button } from "./Button.tsx";

export interface ErrorBoundaryProps {
  readonly children: ReactNode;
  /** What failed, as the subject of a sentence: “This page”. */
  readonly what: string;
  /** A new value (the address, say) tries again by itself. */
  readonly resetKey?: string | undefined;
  /**
   * Loads everything again, in the place of another attempt: a part of the program that could not be fetched once is not asked for
   * again, neither by React nor by every browser.
   */
  readonly reload?: (() => void) | undefined;
  /** The gateway is out of reach. Once it is back, what failed meanwhile is loaded again by itself. */
  readonly away?: boolean | undefined;
  /** What is said as long as it is out of reach, in the place of an attempt that would load nothing. */
  readonly whileAway?: string | undefined;
}

interface ErrorBoundaryState {
  readonly failed: boolean;
  readonly resetKey: string | undefined;
}

/** Keeps an error in one part of the page from breaking the rest. Nothing of the error is shown: it may quote anything. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override readonly state: ErrorBoundaryState = { failed: false, resetKey: this.props.resetKey };

  static getDerivedStateFromError(): Partial<ErrorBoundaryState> {
    return { failed: true };
  }

  static getDerivedStateFromProps(props: ErrorBoundaryProps, state: ErrorBoundaryState): ErrorBoundaryState | null {
    return props.resetKey === state.resetKey ? null : { failed: false, resetKey: props.resetKey };
  }

  override componentDidUpdate({ away = false }: ErrorBoundaryProps): void {
    if (this.state.failed && away && !this.props.away) this.props.reload?.();
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Banner tone="danger" urgent title={t`${this.props.what} could not be shown`}>
        {(this.props.away && this.props.whileAway) || (
          <>
            <p>{t`Nothing was decided or sent. Try again; if it happens again, reload the page.`}</p>
            <div>
              <Button onClick={this.props.reload ?? (() => this.setState({ failed: false }))}>{t`Try again`}</Button>
            </div>
          </>
        )}
      </Banner>
    );
  }
}
