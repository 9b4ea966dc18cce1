import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import type { ConsoleMethods } from "../../protocol/contract.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import type { ConsoleLine, Surroundings } from "./surroundings.ts";

interface Session {
  readonly around: Surroundings;
  readonly line: ConsoleLine;
  readonly connection: ConnectionState;
  /** After a sign-in: a new cookie needs a new line. */
  readonly renew: () => void;
}

const SessionContext = createContext<Session | null>(null);

/** The line to the gateway and what it stands on. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("no session around this component");
  return session;
}

/** Asks the gateway over the line. */
export function useAsk(): <Method extends keyof ConsoleMethods & string>(
  method: Method,
  params: ConsoleMethods[Method]["params"],
) => Promise<ConsoleMethods[Method]["result"]> {
  const { line } = useSession();
  return useCallback((method, params) => line.call(method, params), [line]);
}

/** Holds one line to the gateway for as long as the page lives, and forgets everything it knew when the session changes. */
export function SessionProvider({ around, children }: { readonly around: Surroundings; readonly children: ReactNode }) {
  const cache = useQueryClient();
  const [line, setLine] = useState(() => around.openLine());
  const connection = useSyncExternalStore(
    useCallback((listener) => line.onState(listener), [line]),
    () => line.state,
  );

  useEffect(() => {
    line.start();
    const wake = () => line.retryNow();
    window.addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    return () => {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      line.stop();
    };
  }, [line]);

  const renew = useCallback(() => {
    cache.clear();
    setLine(around.openLine());
  }, [around, cache]);

  const session = useMemo(() => ({ around, line, connection, renew }), [around, line, connection, renew]);
  return <SessionContext value={session}>{children}</SessionContext>;
}
