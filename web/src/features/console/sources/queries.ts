import {
  type InfiniteData,
  keepPreviousData,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { t } from "../../../language/t.ts";
import type {
  ConfigurationImport,
  ConfigurationText,
  NewSource,
  Source,
  SourceChange,
  SourceDecision,
  SourceDecisions,
  SourceTool,
  SourceToolList,
  Standing,
} from "../../../protocol/generated.ts";
import { CheckFailed } from "../errors.ts";
import { useAsk } from "../session.tsx";
import { refetchSecrets, secretsKey, sourcesKey } from "./updates.ts";

const toolsKey = (name: string) => ["source-tools", name] as const;
/** How many tools stood where after the last decision of this page. */
const ownKey = (name: string) => ["source-decided", name] as const;

/** Tools of one page. */
const PAGE = 100;
/** Decisions of one request. */
const MOST_DECISIONS = 200;
/** Characters that are looked for. */
export const LONGEST_SEARCH = 200;

type Ask = ReturnType<typeof useAsk>;

/** Every source; `useSourceUpdates` keeps it up to date. */
export function useSources() {
  const ask = useAsk();
  return useQuery({ queryKey: sourcesKey, queryFn: async () => (await ask("sources/list", {})).sources });
}

export function useAddSource() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (source: NewSource) => ask("sources/add", source),
    onSuccess: (source) => storeSource(cache, source),
  });
}

/** What a configuration of another client would add; nothing is added. */
export function useReadConfiguration() {
  const ask = useAsk();
  return useMutation({
    mutationFn: (configuration: ConfigurationText) => ask("sources/read-configuration", configuration),
    // The text may hold secrets, which nothing of this page keeps once it is closed.
    gcTime: 0,
  });
}

/** Adds the servers that were looked at, all of them or none. */
export function useImportServers() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (chosen: ConfigurationImport) => ask("sources/import", chosen),
    gcTime: 0,
    onSuccess: ({ sources }) => {
      cache.setQueryData<readonly Source[]>(sourcesKey, sources);
      return cache.invalidateQueries({ queryKey: secretsKey });
    },
  });
}

/** Connects now and asks what is offered; this may take a minute. */
export function useTestSource() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => ask("sources/test", { name }),
    onSuccess: async (source) => {
      storeSource(cache, source);
      await refetchTools(cache, source.name);
    },
    onError: () => cache.invalidateQueries({ queryKey: sourcesKey }),
  });
}

export function useChangeSource() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (change: SourceChange) => ask("sources/change", change),
    onSuccess: async (source) => {
      storeSource(cache, source);
      await cache.invalidateQueries({ queryKey: secretsKey });
    },
    onError: () => cache.invalidateQueries({ queryKey: sourcesKey }),
  });
}

export function useSwitchSource() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (to: { readonly name: string; readonly enabled: boolean }) => ask("sources/switch", to),
    onSuccess: (source) => storeSource(cache, source),
  });
}

export function useRemoveSource() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => ask("sources/remove", { name }),
    onSuccess: (_nothing, name) => {
      cache.setQueryData<Source[]>(sourcesKey, (all) => all?.filter((source) => source.name !== name));
      cache.removeQueries({ queryKey: toolsKey(name) });
      return cache.invalidateQueries({ queryKey: secretsKey });
    },
  });
}

/** Asks where a browser goes to sign in. The gateway looks that up, which may take a while. */
export function useBeginSignIn() {
  const ask = useAsk();
  return useMutation({
    mutationFn: async (name: string) => {
      const place = await ask("sources/sign-in", { name });
      // What a source names is not believed twice: an address of another kind could be a script.
      if (!URL.canParse(place.location) || !/^https?:$/.test(new URL(place.location).protocol)) {
        throw new CheckFailed(
          t`The gateway named an address that no browser can go to, so this page did not follow it.`,
        );
      }
      return place;
    },
  });
}

/** Hands on what the browser brought back, once for each address. */
export function useFinishSignIn(name: string, brought: URLSearchParams) {
  const ask = useAsk();
  const cache = useQueryClient();
  const state = brought.get("state") ?? "";
  return useQuery({
    queryKey: ["finish-sign-in", name, state],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const member = (key: string, named: string) => {
        const value = brought.get(named);
        return value === null ? {} : { [key]: value };
      };
      const answer = { ...member("code", "code"), ...member("error", "error"), ...member("issuer", "iss") };
      storeSource(cache, await ask("sources/finish-sign-in", { name, state, ...answer }));
      return true;
    },
  });
}

export function useSignOut() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => ask("sources/sign-out", { name }),
    onSuccess: ({ source }) => storeSource(cache, source),
  });
}

/** Which tools are looked for. */
export interface ToolFilter {
  readonly search: string;
  readonly standing: Standing | undefined;
}

/** The tools of a source that pass a filter, page by page in the order of their names. */
export function useTools(name: string, { search, standing }: ToolFilter) {
  const ask = useAsk();
  return useInfiniteQuery({
    queryKey: [...toolsKey(name), search, standing],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => askPage(ask, name, { search, standing }, pageParam),
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });
}

/** Reads every undecided tool that is searched for, on all pages. */
export function useReadUndecided(name: string) {
  const ask = useAsk();
  return useMutation({ mutationFn: (search: string) => askAll(ask, name, { search, standing: "proposed" }) });
}

/** Records decisions. What the policy makes of the tools now is asked and put in the place of what was on the screen. */
export function useDecide(name: string) {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async (decisions: readonly SourceDecision[]) => {
      for (let start = 0; start < decisions.length; start += MOST_DECISIONS) {
        const part = decisions.slice(start, start + MOST_DECISIONS) as SourceDecisions["decisions"];
        storeSource(cache, await ask("sources/decide", { name, decisions: part }));
      }
      const tools = await askAgain(ask, name, new Set(decisions.map(({ tool }) => tool)));
      storeTools(cache, name, tools);
      return tools;
    },
    onError: () => refetchTools(cache, name),
  });
}

/** Asks for the tools again when others stand there than before, but not after what this page decided itself. */
export function useRefetchWhenChanged(source: Source): void {
  const cache = useQueryClient();
  const before = useRef(source);
  useEffect(() => {
    const was = before.current;
    before.current = source;
    const key = ownKey(source.name);
    const isOwn = isSame(cache.getQueryData<Counts>(key), source.counts);
    const isOther = was.state !== source.state || was.version !== source.version;
    if (!isOther && (isOwn || isSame(was.counts, source.counts))) return;
    cache.removeQueries({ queryKey: key });
    void refetchTools(cache, source.name);
  }, [source, cache]);
}

/** Stored secrets by name; their values never leave the gateway. */
export function useSecrets() {
  const ask = useAsk();
  return useQuery({ queryKey: secretsKey, queryFn: async () => (await ask("secrets/list", {})).secrets });
}

export function useStoreSecret() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (secret: { readonly name: string; readonly value: string }) => ask("secrets/store", secret),
    onSuccess: () => refetchSecrets(cache),
  });
}

export function useRemoveSecret() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => ask("secrets/remove", { name }),
    onSuccess: () => refetchSecrets(cache),
  });
}

async function askPage(ask: Ask, name: string, { search, standing }: ToolFilter, after?: string) {
  return ask("sources/list-tools", {
    name,
    limit: PAGE,
    ...(search !== "" && { search }),
    ...(standing !== undefined && { standing }),
    ...(after !== undefined && { after }),
  });
}

async function askAll(ask: Ask, name: string, filter: ToolFilter): Promise<SourceTool[]> {
  const tools: SourceTool[] = [];
  let after: string | undefined;
  do {
    const page = await askPage(ask, name, filter, after);
    tools.push(...page.tools);
    after = page.next;
  } while (after !== undefined);
  return tools;
}

/** These tools as they are now. One is found by its name, several by going through all pages. */
async function askAgain(ask: Ask, name: string, sought: ReadonlySet<string>): Promise<SourceTool[]> {
  const search =
    sought.size === 1
      ? Array.from([...sought].join(""))
          .slice(0, LONGEST_SEARCH)
          .join("")
      : "";
  const all = await askAll(ask, name, { search, standing: undefined });
  return all.filter(({ tool }) => sought.has(tool));
}

function storeTools(cache: QueryClient, name: string, tools: readonly SourceTool[]): void {
  const now = new Map(tools.map((tool) => [tool.tool, tool]));
  type Pages = InfiniteData<SourceToolList>;
  cache.setQueriesData<Pages>(
    { queryKey: toolsKey(name) },
    (data) =>
      data && {
        ...data,
        pages: data.pages.map((page) => ({ ...page, tools: page.tools.map((tool) => now.get(tool.tool) ?? tool) })),
      },
  );
}

type Counts = Source["counts"];

function isSame(some: Counts | undefined, other: Counts): boolean {
  return (
    some?.proposed === other.proposed &&
    some.inUse === other.inUse &&
    some.keptOut === other.keptOut &&
    some.quarantined === other.quarantined
  );
}

function storeSource(cache: QueryClient, source: Source): void {
  cache.setQueryData<Counts>(ownKey(source.name), source.counts);
  cache.setQueryData<Source[]>(
    sourcesKey,
    (all) =>
      all &&
      [...all.filter(({ name }) => name !== source.name), source].sort((one, other) =>
        one.name < other.name ? -1 : 1,
      ),
  );
}

function refetchTools(cache: QueryClient, name: string): Promise<void> {
  return cache.invalidateQueries({ queryKey: toolsKey(name) });
}
