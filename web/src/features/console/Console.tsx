import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { ConnectionLost } from "../../protocol/rpc.ts";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import { LiveRegion } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { ToastRegion } from "../../ui/Toast.tsx";
import { SignIn } from "./account/SignIn.tsx";
import { ApprovalPage } from "./approvals/ApprovalPage.tsx";
import { Inbox } from "./approvals/Inbox.tsx";
import { Frame, Threshold } from "./Frame.tsx";
import { Home } from "./Home.tsx";
import { paths } from "./paths.ts";
import { SessionProvider } from "./session.tsx";
import type { Surroundings } from "./surroundings.ts";

// An approval must be on screen fast, on a phone too; what is opened now and then comes when it is opened.
const Audit = lazy(async () => ({ default: (await import("./audit/Audit.tsx")).Audit }));
const Authorize = lazy(async () => ({ default: (await import("./account/Authorize.tsx")).Authorize }));
const Enrol = lazy(async () => ({ default: (await import("./account/Enrol.tsx")).Enrol }));
const Grants = lazy(async () => ({ default: (await import("./Grants.tsx")).Grants }));
const Passkeys = lazy(async () => ({ default: (await import("./account/Passkeys.tsx")).Passkeys }));

/** The console: the pages before the door, and the ones behind it. */
export function Console({ around }: { readonly around: Surroundings }) {
  const [cache] = useState(createCache);
  const [location] = useLocation();
  return (
    <QueryClientProvider client={cache}>
      <LiveRegion>
        <ToastRegion>
          <SessionProvider around={around}>
            <Switch>
              <Route path={paths.enrol}>
                <Threshold>
                  <Suspense fallback={<Spinner label="Opening the page" />}>
                    <Enrol />
                  </Suspense>
                </Threshold>
              </Route>
              <Route path={paths.signIn}>
                <Threshold>
                  <SignIn />
                </Threshold>
              </Route>
              <Route>
                <Frame>
                  <ErrorBoundary what="This page" resetKey={location}>
                    <Suspense fallback={<Spinner label="Opening the page" />}>
                      <Rooms />
                    </Suspense>
                  </ErrorBoundary>
                </Frame>
              </Route>
            </Switch>
          </SessionProvider>
        </ToastRegion>
      </LiveRegion>
    </QueryClientProvider>
  );
}

function Rooms() {
  return (
    <Switch>
      <Route path={paths.home} component={Home} />
      <Route path={paths.authorize} component={Authorize} />
      <Route path={paths.approvals} component={Inbox} />
      <Route path="/approvals/:id">{({ id }) => <ApprovalPage key={id} id={id} />}</Route>
      <Route path={paths.grants} component={Grants} />
      <Route path={paths.passkeys} component={Passkeys} />
      <Route path={paths.audit} component={Audit} />
      <Route>
        <Redirect to={paths.home} replace />
      </Route>
    </Switch>
  );
}

function createCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The line knows when it is down and queues what is asked; the browser's own idea of “online” says nothing about a
        // gateway on this machine. Only a lost connection is worth asking again: everything else was an answer.
        networkMode: "always",
        retry: (failures, error) => error instanceof ConnectionLost && failures < 3,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
      },
      mutations: { networkMode: "always" },
    },
  });
}
