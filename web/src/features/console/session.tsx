import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { ConsoleMethods } from "../../protocol/contract.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import { setClock } from "../../ui/clock.ts";
import type { ConsoleClient, ConsoleEnvironment } from "./console-environment.ts";

interface Session {
  readonly environment: ConsoleEnvironment;
  readonly client: ConsoleClient;
  readonly connection: ConnectionState;
  /** After a sign-in: a new cookie needs a new connection. */
  readonly renew: () => void;
}

const SessionContext = createContext<Session | null>(null);

/** The connection to the gateway, its state, and the browser under it. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("no session around this component");
  return session;
}

/** Sends a request to the gateway over the connection. */
export function useAsk(): <Method extends keyof ConsoleMethods & string>(
  method: Method,
  params: ConsoleMethods[Method]["params"],
) => Promise<ConsoleMethods[Method]["result"]> {
  const { client } = useSession();
  return useCallback((method, params) => client.call(method, params), [client]);
}

/** Who is signed in, and where the shell is. Parts of a page that appear together ask once. */
export function useDescription() {
  const ask = useAsk();
  const describe = async () => {
    const asked = Date.now();
    const described = await ask("session/describe", {});
    setClock(described.at, asked, Date.now());
    return described;
  };
  return useQuery({ queryKey: ["session"], queryFn: describe, staleTime: 10_000 });
}

/** The whole log, the policy and the list of people are for operators. False until the gateway has said who is signed in. */
export function useIsOperator(): boolean {
  return useDescription().data?.session.profile === "operator";
}

/** Somebody who reads the audit log and can do nothing else. False until the gateway has said who is signed in. */
export function useIsAuditor(): boolean {
  return useDescription().data?.session.profile === "auditor";
}

/** Whether everybody's records are shown to this person. */
export function useReadsAll(): boolean {
  const [operator, auditor] = [useIsOperator(), useIsAuditor()];
  return operator || auditor;
}

/** Asks everything again after a lost connection, for nobody can know what was missed. */
export function useRefetchAfterReconnect(): void {
  const { client, connection } = useSession();
  const cache = useQueryClient();
  const open = connection.phase === "open";
  const wasOpen = useRef<typeof client>(null);
  useEffect(() => {
    if (!open) return;
    if (wasOpen.current === client) void cache.invalidateQueries();
    wasOpen.current = client;
  }, [open, client, cache]);
}

/** Keeps one connection to the gateway for as long as the page is open, and empties the cache when the session changes. */
export function SessionProvider({
  environment,
  children,
}: {
  readonly environment: ConsoleEnvironment;
  readonly children: ReactNode;
}) {
  const cache = useQueryClient();
  const [client, setClient] = useState(() => environment.createClient());
  const connection = useSyncExternalStore(
    useCallback((listener) => client.onState(listener), [client]),
    () => client.state,
  );

  useEffect(() => {
    client.start();
    const wake = () => client.retryNow();
    window.addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    return () => {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      client.stop();
    };
  }, [client]);

  const renew = useCallback(() => {
    cache.clear();
    setClient(environment.createClient());
  }, [environment, cache]);

  const session = useMemo(() => ({ environment, client, connection, renew }), [environment, client, connection, renew]);
  return <SessionContext value={session}>{children}</SessionContext>;
}
