import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { CheckFailed } from "../errors.ts";
import { useAsk, useSession } from "../session.tsx";
import { NOT_WHAT_IS_SHOWN, signStatement } from "../signed-statement.ts";

const key = ["settings"] as const;

/** The settings that can be changed here, as they are now. */
export function useSettings() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(
    () => client.on("settings/changed", () => void cache.invalidateQueries({ queryKey: key })),
    [client, cache],
  );
  return useQuery({ queryKey: key, queryFn: () => ask("settings/list", {}) });
}

/** A change of one setting: a value, or null for what it would be if nobody had changed it. */
interface Wanted {
  readonly name: string;
  readonly value: number | string | null;
}

/** Changes a setting with a passkey, from the version that the page shows. */
export function useChange(version: string, onDone: () => void) {
  const ask = useAsk();
  const { environment } = useSession();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ name, value }: Wanted) => {
      const wish = value === null ? { name, reset: true, base: version } : { name, value, base: version };
      const { statement, statementDigest, passkeyOptions } = await ask("settings/ask", wish);
      const shown = statement.type === "countersign.setting-change" && statement.base === version;
      if (!shown || statement.setting !== name || statement.value !== value) throw new CheckFailed(NOT_WHAT_IS_SHOWN);
      const options = await signStatement(statement, statementDigest, passkeyOptions, environment.host);
      const assertion = await environment.askPasskey(options);
      return ask("settings/change", { assertion: { ...assertion } });
    },
    onSuccess: (list) => {
      cache.setQueryData(key, list);
      onDone();
    },
    // After a conflict the page shows what somebody else made of it.
    onError: () => void cache.invalidateQueries({ queryKey: key }),
  });
}
