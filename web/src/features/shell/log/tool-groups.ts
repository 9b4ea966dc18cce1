import { t } from "../../../language/t.ts";
import type { ToolDescriptor, ToolObstacle } from "../../../protocol/generated.ts";

/** A tool, and why it cannot be called now where it cannot. */
export interface ListedTool {
  readonly tool: ToolDescriptor;
  readonly obstacle: ToolObstacle | undefined;
  /** The first line of its description. */
  readonly summary: string;
}

/** The tools of one source. */
export interface ToolGroup {
  /** As the gateway and policies name it: `builtin`, `mcp:notes`. */
  readonly source: string;
  readonly name: string;
  /** What kind of source it is, in words; empty where the name says it. */
  readonly kind: string;
  readonly tools: readonly ListedTool[];
  /** What keeps several of these tools from being called, and how many: it is said once for all of them. */
  readonly shared: readonly { readonly obstacle: ToolObstacle; readonly count: number }[];
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["mcp", t`MCP server`],
  ["http", t`HTTP API`],
  ["sql", t`database`],
  ["module", t`Python module`],
  ["tools", t`programs of a tool file`],
]);

/** The tools by where they come from, in the order in which the gateway lists them. */
export function groupTools(tools: readonly ToolDescriptor[], obstacles: readonly ToolObstacle[]): readonly ToolGroup[] {
  const why = new Map(obstacles.flatMap((obstacle) => obstacle.tools.map((name) => [name, obstacle] as const)));
  const bySource = new Map<string, ListedTool[]>();
  for (const tool of tools) {
    const group = bySource.get(tool.source) ?? [];
    if (group.length === 0) bySource.set(tool.source, group);
    group.push({ tool, obstacle: why.get(tool.name), summary: tool.description.split("\n", 1)[0] ?? "" });
  }
  return [...bySource].map(([source, listed]) => ({
    source,
    ...nameSource(source),
    tools: listed,
    shared: shareObstacles(listed),
  }));
}

/** The tools that hold every word that is looked for, in their name, title, summary or source; groups without any are left out. */
export function searchTools(groups: readonly ToolGroup[], sought: string): readonly ToolGroup[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return groups;
  return groups.flatMap((group) => {
    const tools = group.tools.filter(({ tool, summary }) => {
      const text = `${tool.name}\n${tool.title ?? ""}\n${summary}\n${group.source}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return tools.length === 0 ? [] : [{ ...group, tools, shared: shareObstacles(tools) }];
  });
}

export function countOf(groups: readonly ToolGroup[]): number {
  return groups.reduce((sum, { tools }) => sum + tools.length, 0);
}

function nameSource(source: string): { readonly name: string; readonly kind: string } {
  if (source === "builtin") return { name: t`Built in`, kind: "" };
  const colon = source.indexOf(":");
  const kind = KINDS.get(source.slice(0, colon));
  return kind === undefined ? { name: source, kind: "" } : { name: source.slice(colon + 1), kind };
}

function shareObstacles(listed: readonly ListedTool[]): ToolGroup["shared"] {
  const counts = new Map<ToolObstacle, number>();
  for (const { obstacle } of listed) if (obstacle !== undefined) counts.set(obstacle, (counts.get(obstacle) ?? 0) + 1);
  return [...counts].flatMap(([obstacle, count]) => (count > 1 ? [{ obstacle, count }] : []));
}
