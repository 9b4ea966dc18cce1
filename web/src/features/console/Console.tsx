import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { t } from "../../language/t.ts";
import { ConnectionLost } from "../../protocol/rpc.ts";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import { LiveRegion } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { ToastRegion } from "../../ui/Toast.tsx";
import type { ConsoleEnvironment } from "./console-environment.ts";
import { PublicFrame, SignedInFrame } from "./Frame.tsx";
import { PageHeading } from "./PageHeading.tsx";
import { type ConsolePage, consolePages } from "./pages.tsx";
import { paths } from "./paths.ts";
import { SessionProvider, useIsAuditor, useIsOperator, useSession } from "./session.tsx";
import { useTitle } from "./title.ts";

interface ConsoleProps {
  readonly environment: ConsoleEnvironment;
  readonly pages?: readonly ConsolePage[] | undefined;
}

/** The console: the pages for anyone, and the ones for people who are signed in. */
export function Console({ environment, pages = consolePages }: ConsoleProps) {
  const [cache] = useState(createCache);
  return (
    <QueryClientProvider client={cache}>
      <LiveRegion>
        <ToastRegion>
          <SessionProvider environment={environment}>
            <Pages pages={pages} />
          </SessionProvider>
        </ToastRegion>
      </LiveRegion>
    </QueryClientProvider>
  );
}

function Pages({ pages }: { readonly pages: readonly ConsolePage[] }) {
  return (
    <Switch>
      {pages
        .filter(({ access }) => access === "anyone")
        .map((page) => (
          <Route key={page.path} path={page.path}>
            <PublicFrame>
              <Page page={page} />
            </PublicFrame>
          </Route>
        ))}
      <Route>
        <SignedInPages pages={pages.filter(({ access }) => access !== "anyone")} />
      </Route>
    </Switch>
  );
}

function SignedInPages({ pages }: { readonly pages: readonly ConsolePage[] }) {
  const [location] = useLocation();
  const { connection } = useSession();
  const [operator, auditor] = [useIsOperator(), useIsAuditor()];
  const visible = pages.filter(({ access }) => (auditor ? access === "reader" : operator || access !== "operator"));
  return (
    <SignedInFrame pages={visible}>
      <ErrorBoundary
        what={t`This page`}
        resetKey={location}
        reload={reload}
        away={connection.phase === "lost"}
        whileAway={t`It was not loaded before the connection was lost. It comes by itself once the gateway is back.`}
      >
        <Switch>
          {pages.map((page) => (
            <Route key={page.path} path={page.path}>
              {visible.includes(page) ? <Page page={page} /> : <NotForThem page={page} auditor={auditor} />}
            </Route>
          ))}
          <Route>
            <Redirect to={paths.home} replace />
          </Route>
        </Switch>
      </ErrorBoundary>
    </SignedInFrame>
  );
}

function reload(): void {
  window.location.reload();
}

function Page({ page: { title, component: Component } }: { readonly page: ConsolePage }) {
  useTitle(title);
  return (
    <Suspense fallback={<Spinner label={t`Opening the page`} />}>
      <Component />
    </Suspense>
  );
}

/** In place of a page that this person may not see; nothing of that page is loaded. */
function NotForThem({ page: { title }, auditor }: { readonly page: ConsolePage; readonly auditor: boolean }) {
  useTitle(title);
  if (auditor) return <Redirect to={paths.audit} replace />;
  return (
    <PageHeading lead={t`Ask an operator of this gateway for what you need.`}>
      {t`This page is for operators`}
    </PageHeading>
  );
}

function createCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The connection knows when it is down and queues what is asked; the browser's own idea of “online” says nothing
        // about a gateway on this machine. Only a lost connection is worth asking again: everything else was an answer.
        networkMode: "always",
        retry: (failures, error) => error instanceof ConnectionLost && failures < 3,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
      },
      mutations: { networkMode: "always" },
    },
  });
}
