import { t } from "../../language/t.ts";
import { Banner } from "../../ui/Banner.tsx";
import { explain } from "./errors.ts";

/** In place of a page, where the gateway did not even say who is signed in. */
export function NotLoaded({ error }: { readonly error: Error }) {
  return (
    <Banner tone="danger" urgent title={t`The gateway did not answer`}>
      {explain(error)}
    </Banner>
  );
}
