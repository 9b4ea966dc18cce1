import { t } from "../../../language/t.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./RequestQuote.module.css";

/** What the person had written before the agent proposed the call. The tab says it, and a tab may lie: so it is a quotation, under its source. */
export function RequestQuote({ request }: { readonly request: string }) {
  return (
    <figure className={styles.quote}>
      <figcaption className="note">
        {t`The message before it, as the agent's tab says. Nobody checked that a person typed it.`}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <blockquote tabIndex={0} aria-label={t`The message before it`}>
        <VisibleText text={request} fold={false} prose />
      </blockquote>
    </figure>
  );
}
