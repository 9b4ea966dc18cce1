import styles from "./Shell.module.css";

const WHY: Readonly<Record<string, string>> = {
  stopped: "You are signed out. Nothing runs on in your name.",
  signedOut: "You are signed out. Nothing runs on in your name.",
  expired: "Your session has run out. What was done stands; what waited was cancelled.",
  notSignedIn: "You sign in on the console with your passkey, and the console brings you back here.",
};

/** Where everything ends that needs a session, and where it begins. */
export function SignedOut({ reason }: { readonly reason: string }) {
  const ended = reason !== "notSignedIn";
  return (
    <main className={styles.threshold}>
      <h1>{ended ? "Your session has ended" : "Sign in to Countersign"}</h1>
      <p>{WHY[reason] ?? "It was ended on the console or by the gateway. What waited was cancelled."}</p>
      <a className={styles.link} href="/login">
        {ended ? "Sign in again" : "Sign in"}
      </a>
    </main>
  );
}
