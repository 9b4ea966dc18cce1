import { Link } from "wouter";
import { language } from "../../../../language/language.ts";
import { t } from "../../../../language/t.ts";
import type { ChangeCount } from "../../../../protocol/generated.ts";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { paths } from "../../paths.ts";
import { nameChange } from "./sentences.ts";

/** Calls that a draft decides in one other way: their conversation on the audit page, and why each is decided as it is. */
export function ChangedCalls({ change: { change, count, examples } }: { readonly change: ChangeCount }) {
  return (
    <details>
      <summary>
        {count.toLocaleString(language)} {nameChange(change)}
      </summary>
      <ul>
        {examples.map((example) => (
          <li key={`${example.conversationId} ${example.callId}`}>
            <Link href={paths.auditOf(String(example.conversationId))}>
              <VisibleText text={String(example.tool)} />
            </Link>{" "}
            <Link href={paths.explainCall(String(example.conversationId), String(example.callId))}>
              <VisibleText text={String(example.callId)} />
            </Link>
          </li>
        ))}
      </ul>
      {count > examples.length && <p className="note">{t`and ${count - examples.length} more`}</p>}
    </details>
  );
}
