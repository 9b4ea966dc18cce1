import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";

/** Which parts of the arguments were taken from untrusted results, so that nobody takes them for words of their own. */
export function CopiedTextView({ copied }: { readonly copied: NonNullable<ApprovalQuestion["copied"]> }) {
  const { copies, complete } = copied;
  return (
    <Banner
      tone="waiting"
      title={
        copies.length > 0
          ? t`Parts of this came from untrusted content, not from you`
          : t`Parts of this may come from untrusted content`
      }
    >
      {copies.length > 0 && (
        <ul className="stack">
          {copies.map(({ argument, text, tool, callId, about }) => (
            <li key={`${argument} ${callId} ${text}`}>
              {rich`${<VisibleText text={text} />} in ${<code>{argument}</code>} stands in the result of ${<code>{tool}</code>}`}
              {about !== "" && <> {rich`for ${<VisibleText text={about} />}`}</>}.
            </li>
          ))}
        </ul>
      )}
      {!complete && (
        <p>
          {t`This conversation has read more untrusted content than can be compared, so other parts may have come from it, too.`}
        </p>
      )}
    </Banner>
  );
}
