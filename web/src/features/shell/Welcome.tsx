import styles from "./Welcome.module.css";

/** Things that work in the sample workspace: one that runs by itself, one that asks first, one that needs the passkey. */
const EXAMPLES: readonly { readonly text: string; readonly what: string }[] = [
  { text: "what is in notes/?", what: "Runs by itself" },
  { text: "save the words call Ana to notes/today.txt", what: "Asks you first" },
  { text: "delete notes/old.txt", what: "Needs your passkey" },
];

export interface WelcomeProps {
  readonly name: string;
  readonly onChoose: (text: string) => void;
}

/** An empty conversation: examples of what can be asked, and what each leads to. */
export function Welcome({ name, onChoose }: WelcomeProps) {
  return (
    <div className={styles.welcome} data-pane="log" tabIndex={-1}>
      <h2>What would you like to do, {name}?</h2>
      <p>The model proposes. The gateway checks every call, and asks you on the console before anything is changed.</p>
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
