import { useState } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { Seal } from "../../ui/Seal.tsx";
import type { KeptTexts } from "./shell-environment.ts";
import styles from "./Welcome.module.css";

/** Things that work in the sample workspace: one that runs by itself, one that asks first, one that needs the passkey. */
const EXAMPLES: readonly { readonly text: string; readonly what: string }[] = [
  { text: t`what is in notes/?`, what: t`Runs by itself` },
  { text: t`save the words call Ana to notes/today.txt`, what: t`Asks you first` },
  { text: t`delete notes/old.txt`, what: t`Needs your passkey` },
];

/** The whole of how this works, shown until it is put away once. */
const TOUR = [
  t`Write what you want done; @ names a file of the workspace, and / shows commands.`,
  t`What only reads runs by itself, and what changes something waits until you decide on the console.`,
  t`Whatever ran, was refused or was denied stands in the console's log, with who decided.`,
];
const TOUR_KEPT_AS = "tour";

export interface WelcomeProps {
  readonly kept: KeptTexts;
  readonly name: string;
  readonly onChoose: (text: string) => void;
}

/** An empty conversation: examples of what can be asked, and what each leads to. */
export function Welcome({ name, kept, onChoose }: WelcomeProps) {
  const [isNew, setIsNew] = useState(() => kept.read(TOUR_KEPT_AS) === "");
  const putAway = () => {
    kept.write(TOUR_KEPT_AS, "seen");
    setIsNew(false);
  };
  return (
    <div className={styles.welcome} data-pane="log" tabIndex={-1}>
      <Seal size={40} />
      <h2>{t`What would you like to do, ${name}?`}</h2>
      <p>
        {t`The model proposes. The gateway checks every call, and asks you on the console before anything is changed.`}
      </p>
      {isNew && (
        <section className={styles.tour} aria-label={t`How this works`}>
          <ol>
            {TOUR.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ol>
          <Button size="small" onClick={putAway}>
            {t`Got it`}
          </Button>
        </section>
      )}
      <ul className={styles.examples}>
        {EXAMPLES.map(({ text, what }) => (
          <li key={text}>
            <button type="button" className={styles.example} onClick={() => onChoose(text)}>
              <span>{text}</span>
              <span className={styles.what}>{what}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
