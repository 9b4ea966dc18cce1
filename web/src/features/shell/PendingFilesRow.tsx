import { language } from "../../language/language.ts";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { VisibleText } from "../../ui/VisibleText.tsx";
import type { PendingFile } from "./attachments.ts";
import styles from "./PendingFilesRow.module.css";

export interface PendingFilesRowProps {
  readonly files: readonly PendingFile[];
  readonly onRemove: (place: number) => void;
}

/** The files that go with the next message, each of which can be taken away again. */
export function PendingFilesRow({ files, onRemove }: PendingFilesRowProps) {
  if (files.length === 0) return null;
  return (
    <ul className={styles.files} aria-label={t`Attached files`}>
      {files.map(({ name, bytes, data, mediaType }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a file may be attached twice, and its place is what it is known by
        <li key={place} className={styles.file}>
          {mediaType !== undefined && (
            <img className={styles.picture} src={`data:${mediaType};base64,${data}`} alt={t`Preview of ${name}`} />
          )}
          <span className={styles.name}>
            <VisibleText text={name} />
          </span>
          <span className={styles.size}>{sizeOf(bytes)}</span>
          <Button size="small" variant="quiet" onClick={() => onRemove(place)}>
            {t`Remove`}
            <span className="visually-hidden"> {name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return t`${bytes} {byte|bytes}`;
  return t`${(bytes / 1024).toLocaleString(language, { maximumFractionDigits: 1 })} KB`;
}
