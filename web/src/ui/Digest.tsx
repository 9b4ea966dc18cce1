import { Fragment } from "react";
import { t } from "../language/t.ts";
import { CopyButton } from "./CopyButton.tsx";
import styles from "./Digest.module.css";

/** A hex digest, whole, in groups of eight so that two people can compare it by eye or voice. */
export function Digest({ value, what = t`digest` }: { readonly value: string; readonly what?: string | undefined }) {
  const groups = value.match(/.{1,8}/g) ?? [];
  return (
    <span className={styles.digest}>
      <code className={styles.hex} translate="no">
        {groups.map((group, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the groups of one digest never move
          <Fragment key={index}>
            <span className={styles.group}>{group}</span>
            <wbr />
          </Fragment>
        ))}
      </code>
      <CopyButton text={value} what={what} />
    </span>
  );
}
