import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from "react";
import { Link, Redirect, useLocation } from "wouter";
import { t } from "../../language/t.ts";
import { Banner } from "../../ui/Banner.tsx";
import { Button } from "../../ui/Button.tsx";
import { classes } from "../../ui/classes.ts";
import { useAnnounce } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { useToast } from "../../ui/Toast.tsx";
import { describeGiven, STATUS_LABELS } from "./approvals/labels.ts";
import { type ApprovalListener, useApprovalUpdates } from "./approvals/queries.ts";
import { useElicitationUpdates } from "./elicitations/queries.ts";
import styles from "./Frame.module.css";
import { LogoIcon } from "./icons.tsx";
import { Navigation } from "./Navigation.tsx";
import type { ConsolePage } from "./pages.tsx";
import { paths, signInThen } from "./paths.ts";
import { useRenewal } from "./push/use-renewal.ts";
import { useDescription, useRefetchAfterReconnect, useSession } from "./session.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { useSourceUpdates } from "./sources/updates.ts";

const NotLoaded = lazy(async () => ({ default: (await import("./NotLoaded.tsx")).NotLoaded }));
const ShortcutHelp = lazy(async () => ({ default: (await import("./ShortcutHelp.tsx")).ShortcutHelp }));

interface SignedInFrameProps {
  /** The pages that this person may see; those with a place in the navigation are listed there. */
  readonly pages: readonly ConsolePage[];
  readonly children: ReactNode;
}

/** What surrounds every page that needs a session. Without one it sends people to the sign-in page and back. */
export function SignedInFrame({ pages, children }: SignedInFrameProps) {
  const { connection } = useSession();
  const [location] = useLocation();
  if (connection.phase === "ended") {
    return <Redirect to={signInThen(location + window.location.search)} replace />;
  }
  return <FrameContent pages={pages}>{children}</FrameContent>;
}

function FrameContent({ pages, children }: SignedInFrameProps) {
  const announce = useAnnounce();
  const listener = useMemo<ApprovalListener>(
    () => ({
      onRequested: ({ tool }) => announce(t`A call of ${tool} waits for your decision.`),
      onChanged: (approval) => announce(t`A call of ${approval.tool}: ${describeGiven(approval)}.`),
      onResolved: (status) => announce(t`An approval was decided: ${STATUS_LABELS[status]}.`),
      onBreakGlass: ({ name, tool }) => announce(t`${name} did alone what takes several people: a call of ${tool}.`),
    }),
    [announce],
  );
  const [helpOpen, setHelpOpen] = useState(false);
  useShortcuts({ "?": () => setHelpOpen(true) });
  useApprovalUpdates(listener);
  useElicitationUpdates(
    useCallback((source: string) => announce(t`The server ${source} asks you something.`), [announce]),
  );
  useRefetchAfterReconnect();
  useSourceUpdates();
  const description = useDescription();
  useRenewal();
  return (
    <div className={classes(styles.frame, styles.railed)}>
      <a className={styles.skip} href="#main">
        {t`Skip to the page`}
      </a>
      <header className={styles.bar}>
        <Brand />
        <Navigation pages={pages} place="bar" />
        {description.data !== undefined && <Account name={description.data.session.principalName} />}
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Connection />
        {description.data === undefined ? <Loading failed={description.error} /> : children}
      </main>
      <Navigation pages={pages} place="dock" />
      {helpOpen && (
        <Suspense>
          <ShortcutHelp onClose={() => setHelpOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** What surrounds the pages that anyone may see. */
export function PublicFrame({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.frame}>
      <header className={styles.bar}>
        <Brand />
      </header>
      <main id="main" className={classes(styles.main, styles.narrow)} tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** Name and origin, which a person should check before they decide anything. */
function Brand() {
  const { environment } = useSession();
  return (
    <Link className={styles.brand} href={paths.home}>
      <LogoIcon />
      <span className={styles.names}>
        <span className={styles.name}>{t`Countersign console`}</span>
        <span className={styles.origin}>{environment.origin.replace(/^https?:\/\//, "")}</span>
      </span>
    </Link>
  );
}

function Account({ name }: { readonly name: string }) {
  const { environment } = useSession();
  const [, navigate] = useLocation();
  const toast = useToast();
  const leave = async () => {
    try {
      const { signOut } = await import("./ceremonies.ts");
      await signOut(environment);
      navigate(paths.signIn, { replace: true });
    } catch (error) {
      const { explain, Refusal } = await import("./errors.ts");
      // Signed out already, in another window or by the gateway: then that page is where to be.
      if (error instanceof Refusal && error.status === 401) navigate(paths.signIn, { replace: true });
      else toast(explain(error));
    }
  };
  return (
    <div className={styles.account}>
      <span className={styles.person}>{name}</span>
      <button type="button" className={styles.leave} onClick={leave}>
        {t`Sign out`}
      </button>
    </div>
  );
}

function Connection() {
  const { connection, client } = useSession();
  if (connection.phase !== "lost") return null;
  const isCrowded = connection.cause === "crowded";
  return (
    <Banner
      tone="waiting"
      urgent
      title={isCrowded ? t`Too many tabs are open` : t`The connection to the gateway is lost`}
    >
      <p>
        {isCrowded && t`The gateway takes no more of them at once: close some. `}
        {t`What you see may be out of date. Nothing can be decided until the connection is back. It is tried again automatically.`}
      </p>
      <div>
        <Button size="small" onClick={() => client.retryNow()}>
          {t`Try now`}
        </Button>
      </div>
    </Banner>
  );
}

function Loading({ failed }: { readonly failed: Error | null }) {
  if (failed === null) return <Spinner label={t`Loading your session`} />;
  return (
    <Suspense>
      <NotLoaded error={failed} />
    </Suspense>
  );
}
