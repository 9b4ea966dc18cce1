import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { BreakGlassView } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { paths } from "../paths.ts";
import { useBrokenGlass } from "./queries.ts";

/** Tells operators what one of them did alone in the last days that takes several people. */
export function BrokenGlass() {
  const broken = useBrokenGlass().data ?? [];
  if (broken.length === 0) return null;
  const [title, many] = [t`An operator acted alone`, t`Operators acted alone ${broken.length} times in the last days`];
  return (
    <Banner tone="danger" title={broken.length === 1 ? title : many}>
      <ul className="stack">
        {broken.map((each) => (
          <li key={`${each.approvalId} ${each.at}`}>
            <BrokenOnce broken={each} />
          </li>
        ))}
      </ul>
    </Banner>
  );
}

function BrokenOnce({ broken }: { readonly broken: BreakGlassView }) {
  return (
    <>
      <p>
        {rich`${<VisibleText text={broken.name} />} ran ${<Link href={paths.approval(broken.approvalId)}>{rich`a call of ${<code>{broken.tool}</code>}`}</Link>} on one passkey, which takes several people, ${<TimeAgo at={broken.at} />}.`}
      </p>
      <p>{rich`The reason given: ${<VisibleText text={broken.reason} prose />}`}</p>
    </>
  );
}
