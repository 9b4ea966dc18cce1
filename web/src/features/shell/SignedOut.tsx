import { t } from "../../language/t.ts";
import { LanguageField } from "../../ui/LanguageField.tsx";
import { Seal } from "../../ui/Seal.tsx";
import styles from "./Shell.module.css";

const WHY: Readonly<Record<string, string>> = {
  stopped: t`You are signed out. Nothing runs for you any more.`,
  signedOut: t`You are signed out. Nothing runs for you any more.`,
  expired: t`Your session has expired. What was done stays done; what waited was cancelled.`,
  signInFailed: t`The sign-in took too long, or was begun in another browser, so nothing was opened. Please begin again.`,
  notSignedIn: t`You sign in on the console with your passkey, and the console brings you back here.`,
};

const HEADINGS: Readonly<Record<string, string>> = {
  signInFailed: t`You are not signed in`,
  notSignedIn: t`Sign in to Countersign`,
};

/** The page without a session: why there is none, and how to sign in. */
export function SignedOut({ reason, onSignIn }: { readonly reason: string; readonly onSignIn: () => void }) {
  const heading = HEADINGS[reason] ?? t`Your session has ended`;
  return (
    <main className={styles.notice}>
      <Seal size={56} />
      <h1>{heading}</h1>
      <p>{WHY[reason] ?? t`It was ended on the console or by the gateway. What waited was cancelled.`}</p>
      <a
        className={styles.link}
        href="/login"
        onClick={(event) => {
          event.preventDefault();
          onSignIn();
        }}
      >
        {reason === "notSignedIn" ? t`Sign in` : t`Sign in again`}
      </a>
      <LanguageField />
    </main>
  );
}
