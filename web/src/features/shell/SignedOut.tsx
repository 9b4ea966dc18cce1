import styles from "./Shell.module.css";

const WHY: Readonly<Record<string, string>> = {
  stopped: "You are signed out. Nothing runs on in your name.",
  signedOut: "You are signed out. Nothing runs on in your name.",
  expired: "Your session has run out. What was done stands; what waited was cancelled.",
  signInFailed:
    "The sign-in took too long, or was begun in another browser, so nothing was opened. Please begin again.",
  notSignedIn: "You sign in on the console with your passkey, and the console brings you back here.",
};

const HEADINGS: Readonly<Record<string, string>> = {
  signInFailed: "You are not signed in",
  notSignedIn: "Sign in to Countersign",
};

/** Where everything ends that needs a session, and where it begins. */
export function SignedOut({ reason }: { readonly reason: string }) {
  const heading = HEADINGS[reason] ?? "Your session has ended";
  return (
    <main className={styles.threshold}>
      <h1>{heading}</h1>
      <p>{WHY[reason] ?? "It was ended on the console or by the gateway. What waited was cancelled."}</p>
      <a className={styles.link} href="/login">
        {reason === "notSignedIn" ? "Sign in" : "Sign in again"}
      </a>
    </main>
  );
}
