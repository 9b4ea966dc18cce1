import { useEffect, useState } from "react";
import { Link, useLocation, useParams, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { paths } from "../paths.ts";
import { useFinishSignIn } from "./queries.ts";

/** Where a browser comes back to from a source's authorization server. What it brings is handed on once, unread. */
export function SignInCallback() {
  const { name = "" } = useParams();
  const search = useSearch();
  const [brought] = useState(() => new URLSearchParams(search));
  const [location, navigate] = useLocation();
  // A code has no business in the history of the browser.
  useEffect(() => {
    if (search !== "") navigate(location, { replace: true });
  }, [search, location, navigate]);
  return (
    <>
      <PageHeading>{t`Sign-in to ${name}`}</PageHeading>
      {brought.has("state") ? (
        <Finishing name={name} brought={brought} />
      ) : (
        // Somebody who goes back in the browser's history comes here as well.
        <Banner tone="info" title={t`There is nothing to finish here`}>
          <p>{t`What the authorization server sent was handed on already, or this address is not complete.`}</p>
        </Banner>
      )}
      <p>
        <Link href={paths.source(name)}>{t`To the source`}</Link>
      </p>
    </>
  );
}

function Finishing({ name, brought }: { readonly name: string; readonly brought: URLSearchParams }) {
  const finish = useFinishSignIn(name, brought);
  return (
    <>
      {finish.isPending && <Spinner label={t`Finishing the sign-in`} />}
      {finish.isError && (
        <Banner tone="danger" urgent title={t`You are not signed in`}>
          <p>{explain(finish.error)}</p>
        </Banner>
      )}
      {finish.isSuccess && (
        <Banner tone="ok" title={t`You are signed in`}>
          <p>{t`The source connects now. Decide about its tools on its page.`}</p>
        </Banner>
      )}
    </>
  );
}
