import { type ReactNode, useCallback } from "react";
import { Link, Redirect, useLocation } from "wouter";
import type { Approval, ApprovalStatus } from "../../protocol/generated.ts";
import { Banner } from "../../ui/Banner.tsx";
import { Button } from "../../ui/Button.tsx";
import { classes } from "../../ui/classes.ts";
import { useAnnounce } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { useToast } from "../../ui/Toast.tsx";
import { STATUS_WORDS } from "./approvals/words.ts";
import { signOut } from "./ceremonies.ts";
import styles from "./Frame.module.css";
import { explain, Refusal } from "./faults.ts";
import { ApprovalsIcon, AuditIcon, GrantsIcon, HomeIcon, PasskeysIcon, SealIcon } from "./icons.tsx";
import { paths, signInThen } from "./paths.ts";
import { useApprovals, useDescription, useLiveUpdates } from "./queries.ts";
import { useSession } from "./session.tsx";
import { waitingIn } from "./title.ts";

const ROOMS = [
  { to: paths.home, label: "Home", Icon: HomeIcon },
  { to: paths.approvals, label: "Approvals", Icon: ApprovalsIcon },
  { to: paths.grants, label: "Grants", Icon: GrantsIcon },
  { to: paths.audit, label: "Audit", Icon: AuditIcon },
  { to: paths.passkeys, label: "Passkeys", Icon: PasskeysIcon },
] as const;

/** What surrounds every page behind the door. Without a session it sends people to the sign-in page and back. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const { connection } = useSession();
  const [location] = useLocation();
  if (connection.phase === "ended") {
    return <Redirect to={signInThen(location + window.location.search)} replace />;
  }
  return <Inside>{children}</Inside>;
}

function Inside({ children }: { readonly children: ReactNode }) {
  const announce = useAnnounce();
  const onRequested = useCallback(
    (approval: Approval) => announce(`A call of ${approval.tool} waits for your decision.`),
    [announce],
  );
  const onResolved = useCallback(
    (status: ApprovalStatus) => announce(`An approval was settled: ${STATUS_WORDS[status]}.`),
    [announce],
  );
  useLiveUpdates(onRequested, onResolved);
  const description = useDescription();
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Brand />
        <Rooms className={styles.rooms} />
        {description.data !== undefined && <Account name={description.data.session.principalName} />}
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <Connection />
        {description.data === undefined ? <Waiting failed={description.error} /> : children}
      </main>
      <Rooms className={styles.dock} />
    </div>
  );
}

/** What surrounds the pages before the door. */
export function Threshold({ children }: { readonly children: ReactNode }) {
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

/** Name and origin: what a person should look for before they decide anything. */
function Brand() {
  const { around } = useSession();
  return (
    <Link className={styles.brand} href={paths.home}>
      <SealIcon />
      <span className={styles.names}>
        <span className={styles.name}>Countersign console</span>
        <span className={styles.origin}>{around.origin.replace(/^https?:\/\//, "")}</span>
      </span>
    </Link>
  );
}

function Rooms({ className }: { readonly className: string | undefined }) {
  const [location] = useLocation();
  const waiting = waitingIn(useApprovals().data).length;
  return (
    <nav className={className} aria-label="Console">
      {ROOMS.map(({ to, label, Icon }) => {
        const here = to === paths.home ? location === to : location.startsWith(to);
        return (
          <Link key={to} href={to} className={styles.room} aria-current={here ? "page" : undefined}>
            <span className={styles.sign}>
              <Icon />
            </span>
            {label}
            {to === paths.approvals && waiting > 0 && (
              <span className={styles.count}>
                {waiting}
                <span className="visually-hidden"> waiting</span>
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}

function Account({ name }: { readonly name: string }) {
  const { around } = useSession();
  const [, navigate] = useLocation();
  const toast = useToast();
  const leave = async () => {
    try {
      await signOut(around);
      navigate(paths.signIn, { replace: true });
    } catch (error) {
      // Signed out already, in another window or by the gateway: then that page is where to be.
      if (error instanceof Refusal && error.status === 401) navigate(paths.signIn, { replace: true });
      else toast(explain(error));
    }
  };
  return (
    <div className={styles.account}>
      <span className={styles.person}>{name}</span>
      <button type="button" className={styles.leave} onClick={leave}>
        Sign out
      </button>
    </div>
  );
}

function Connection() {
  const { connection, line } = useSession();
  if (connection.phase !== "lost") return null;
  return (
    <Banner tone="waiting" urgent title="The connection to the gateway is lost">
      <p>What you see may be out of date. Nothing is decided until it is back; trying again by itself.</p>
      <div>
        <Button size="small" onClick={() => line.retryNow()}>
          Try now
        </Button>
      </div>
    </Banner>
  );
}

function Waiting({ failed }: { readonly failed: Error | null }) {
  if (failed === null) return <Spinner label="Asking the gateway who you are" />;
  return (
    <Banner tone="danger" urgent title="The gateway did not answer">
      {explain(failed)}
    </Banner>
  );
}
