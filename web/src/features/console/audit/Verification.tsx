import { useMutation } from "@tanstack/react-query";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { explain } from "../errors.ts";
import { paths } from "../paths.ts";
import { useAsk } from "../session.tsx";
import { Said } from "./Said.tsx";

/** Asks the gateway to hash the whole log again, and says how to verify it without trusting the gateway. */
export function Verification() {
  const ask = useAsk();
  const check = useMutation({ mutationFn: () => ask("audit/verify", {}) });
  return (
    <div className="stack">
      <div className="row">
        <Button busy={check.isPending} onClick={() => check.mutate()}>
          {t`Verify the whole log`}
        </Button>
        <span className="note">
          {rich`The gateway verifies its own log. To verify it without the gateway, run ${<code>countersign audit verify</code>} on an export, or open ${(
            inner,
          ) => (
            <a href={paths.verifier} download="verify.html">
              {inner}
            </a>
          )}<verify.html> from a disk: one file that needs no network.`}
        </span>
      </div>
      {check.isError && <Banner tone="danger" urgent title={explain(check.error)} />}
      {check.data !== undefined && (
        <Banner
          tone={check.data.verified ? "ok" : "danger"}
          urgent={!check.data.verified}
          title={
            check.data.verified
              ? t`${check.data.size} entries hash to the signed checkpoint`
              : t`The log does not match its checkpoint`
          }
        >
          <p>
            {check.data.verified ? (
              t`They are whole, and nothing in them contradicts the rest.`
            ) : (
              <Said text={check.data.detail} />
            )}
          </p>
          <Digest value={check.data.root} what={t`root`} />
        </Banner>
      )}
    </div>
  );
}
