import { useRef, useState } from "react";
import { language } from "../../../language/language.ts";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { AuditedCall } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import type { CheckedPart, Verdict } from "../../../verifier/verdict.ts";
import { CheckFailed, explain } from "../errors.ts";
import { paths } from "../paths.ts";
import { useSession } from "../session.tsx";
import { useShortcuts } from "../shortcuts.ts";
import { checkWords, Said } from "./Said.tsx";
import styles from "./VerifyCall.module.css";

const STANDINGS: Readonly<Record<CheckedPart["standing"], string>> = {
  held: t`✓ holds`,
  failed: t`✗ fails`,
  "not reached": t`– not reached`,
};

type Phase =
  | { readonly kind: "idle" | "checking" }
  | { readonly kind: "checked"; readonly verdict: Verdict }
  | { readonly kind: "failed"; readonly error: unknown };

/** Checks the receipt of a call in this browser, with the verifier's own program, which is loaded when it is asked for. */
export function VerifyCall({ call }: { readonly call: AuditedCall }) {
  const { environment } = useSession();
  const [phase, setPhase] = useState<Phase>({ kind: "idle" });
  const button = useRef<HTMLButtonElement>(null);
  useShortcuts({ v: () => button.current?.focus() });
  const verify = async () => {
    setPhase({ kind: "checking" });
    try {
      const [answer, { checkFile }] = await Promise.all([
        environment.fetchFile(paths.receipt(call.conversationId, call.callId)),
        import("../../../verifier/verify.ts"),
      ]);
      if (!answer.ok) throw new CheckFailed(t`The gateway gave no receipt of this call.`);
      const receipt = await answer.blob();
      const verdict = await checkFile(receipt);
      if (verdict.fault === null && !isOf(call, await receipt.text())) {
        throw new CheckFailed(t`The gateway gave the receipt of another call.`);
      }
      setPhase({ kind: "checked", verdict });
    } catch (error) {
      setPhase({ kind: "failed", error });
    }
  };
  return (
    <div className="stack">
      <p>
        <Button ref={button} busy={phase.kind === "checking"} onClick={verify}>
          {t`Verify this`}
        </Button>{" "}
        <span className="note">
          {rich`Checks the receipt here in the browser. The page comes from the gateway that it checks: whoever doubts that saves the ${(
            inner,
          ) => (
            <a href={paths.verifier} download="verify.html">
              {inner}
            </a>
          )}<verifier> and opens it from a disk.`}
        </span>
      </p>
      <div role="status">{phase.kind === "checked" && <Outcome verdict={phase.verdict} />}</div>
      {phase.kind === "failed" && <Banner tone="danger" urgent title={explain(phase.error)} />}
    </div>
  );
}

/** Whether a receipt that holds is this call's: another one of the same log holds as well. */
function isOf({ conversationId, callId }: AuditedCall, receipt: string): boolean {
  const { call } = JSON.parse(receipt) as {
    readonly call: { readonly conversationId: string; readonly callId: string };
  };
  return call.conversationId === conversationId && call.callId === callId;
}

function Outcome({ verdict }: { readonly verdict: Verdict }) {
  const { fault, parts, key, size, root, signatures, anchors } = verdict;
  return (
    <>
      {fault === null ? (
        <Banner tone="ok" title={t`The receipt holds`} />
      ) : (
        <Banner tone="danger" title={t`The receipt does not hold`}>
          <p>{rich`First wrong at ${<code>{fault.place}</code>}: ${<Said text={fault.detail} />}`}</p>
        </Banner>
      )}
      <ul className={styles.parts} aria-label={t`What was checked`}>
        {parts.map(({ title, standing, detail }) => (
          <li key={title} data-standing={standing}>
            <span className={styles.standing}>{STANDINGS[standing]}</span> {checkWords(title)}{" "}
            {detail !== "" && (
              <span className="note">
                <Said text={detail} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <KeyValue
        rows={[
          { name: t`Key`, value: <VisibleText text={key} /> },
          { name: t`Records under the checkpoint`, value: size.toLocaleString(language) },
          { name: t`Root`, value: <VisibleText text={root} /> },
          { name: t`Passkeys' signatures that hold`, value: String(signatures) },
          ...anchors.map((each, place) => ({
            name: t`Anchor ${place + 1}`,
            term: t`Anchor`,
            value: <Said text={each} />,
          })),
        ]}
      />
    </>
  );
}
