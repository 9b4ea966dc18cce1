import styles from "./Navigation.module.css";

/** A number behind an entry of the navigation, with the word that a screen reader hears after it; nothing for zero. */
export function NavigationCount({ value, word }: { readonly value: number; readonly word: string }) {
  if (value === 0) return null;
  return (
    <span className={styles.count}>
      {value}
      <span className="visually-hidden"> {word}</span>
    </span>
  );
}
