import { useEffect, useState } from "react";
import { Link, useLocation, useParams, useSearch } from "wouter";
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
  const finish = useFinishSignIn(name, brought);
  return (
    <>
      <PageHeading>Sign-in to {name}</PageHeading>
      {finish.isPending && <Spinner label="Finishing the sign-in" />}
      {finish.isError && (
        <Banner tone="danger" urgent title="You are not signed in">
          <p>{explain(finish.error)}</p>
        </Banner>
      )}
      {finish.isSuccess && (
        <Banner tone="ok" title="You are signed in">
          <p>The source connects now. Decide about its tools on its page.</p>
        </Banner>
      )}
      <p>
        <Link href={paths.source(name)}>To the source</Link>
      </p>
    </>
  );
}
