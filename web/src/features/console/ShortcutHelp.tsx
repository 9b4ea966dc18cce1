import { t } from "../../language/t.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import styles from "./ShortcutHelp.module.css";
import { turnShortcuts, useShortcutsOn } from "./shortcuts.ts";

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ["j", t`the next row; on an approval, the next that waits`],
  ["k", t`the row before; on an approval, the one before that waits`],
  [t`Enter`, t`open the row, or press the button that the keyboard is on`],
  ["a", t`go to the button that approves; Enter then presses it`],
  ["d", t`go to the button that denies; Enter then presses it`],
  ["v", t`on a call of the audit log, go to the button that verifies it; Enter then presses it`],
  ["?", t`this list`],
];

/** The list of keys, which `?` opens. No single key decides anything. */
export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const on = useShortcutsOn();
  return (
    <Dialog open title={t`Keys`} cancelLabel={t`Close`} onClose={onClose}>
      <dl className={styles.keys}>
        {KEYS.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={`${key} does`}>{what}</dd>,
        ])}
      </dl>
      <label className={styles.choice}>
        <input type="checkbox" checked={on} onChange={(event) => turnShortcuts(event.target.checked)} />
        {t`Use these keys in this browser`}
      </label>
    </Dialog>
  );
}
