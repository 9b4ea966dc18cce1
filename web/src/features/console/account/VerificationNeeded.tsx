import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";

/** Says that the next attempt begins with a passkey, and why. */
export function VerificationNeeded({ children }: { readonly children: string }) {
  return (
    <Banner tone="waiting" urgent title={t`Confirm with a passkey first`}>
      <p>{children}</p>
    </Banner>
  );
}
