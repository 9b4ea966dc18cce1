import type { Source, SourceChange, SourceDecision, SourceTool } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import type { FakeGateway } from "./fake-gateway.ts";

/** A tool that nobody has decided about, as the gateway tells it. */
export function proposedTool(tool: string, changes: Partial<SourceTool> = {}): SourceTool {
  return {
    tool,
    name: `notes__${tool}`,
    standing: "proposed",
    proposed: "read",
    because: "readOnlyHint",
    pin: `${tool}-1`,
    definition: {
      name: tool,
      description: `What ${tool} does.`,
      paramSchema: {
        type: "object",
        properties: { path: { type: "string", description: "Which note." } },
        required: ["path"],
      },
      proposed: "read",
    },
    offered: true,
    modes: { operator: "auto", guest: "consent", anonymous: "forbidden" },
    ...changes,
  };
}

/** A gateway with one source, `notes`, whose tools can be decided about as with the real one. */
export class FakeSource {
  tools: SourceTool[];
  pageSize = 100;
  settings: Source["settings"] = { command: ["serve-notes", "--all"], network: true };
  changes: Partial<Source> = {};

  constructor(gateway: FakeGateway, tools: readonly SourceTool[]) {
    this.tools = [...tools];
    Object.assign(gateway.handlers, {
      "sources/list": () => ({ sources: [this.view()] }),
      "sources/list-tools": this.#list,
      "sources/decide": ({ decisions }: { readonly decisions: readonly SourceDecision[] }) => this.#decide(decisions),
      "sources/test": () => this.view(),
      "sources/change": ({ settings, without = [] }: Pick<SourceChange, "settings" | "without">) => {
        const kept = Object.entries(this.settings).filter(([name]) => !without.includes(name));
        this.settings = { ...Object.fromEntries(kept), ...settings };
        return this.view();
      },
      "sources/switch": ({ enabled }: { readonly enabled: boolean }) => {
        this.changes = { ...this.changes, enabled, state: enabled ? "ready" : "off" };
        return this.view();
      },
    } satisfies FakeGateway["handlers"]);
  }

  view(): Source {
    const count = (standing: SourceTool["standing"]) => this.tools.filter((tool) => tool.standing === standing).length;
    return {
      name: "notes",
      kind: "mcp",
      settings: this.settings,
      settingsDigest: JSON.stringify(this.settings),
      shortened: [],
      enabled: true,
      declared: false,
      addedAt: "2026-11-21T09:00:00.000Z",
      state: "ready",
      version: "notes 1.0",
      refused: [],
      refusedCount: 0,
      counts: {
        proposed: count("proposed"),
        inUse: count("inUse"),
        keptOut: count("keptOut"),
        quarantined: count("quarantined"),
      },
      ...this.changes,
    };
  }

  readonly #list: NonNullable<FakeGateway["handlers"]["sources/list-tools"]> = ({ search = "", standing, after }) => {
    const found = this.tools.filter(
      (tool) =>
        (standing === undefined || tool.standing === standing) &&
        `${tool.tool} ${tool.name} ${tool.definition.description}`.includes(search),
    );
    const rest = after === undefined ? found : found.filter(({ tool }) => tool > after);
    const tools = rest.slice(0, this.pageSize);
    const last = tools.at(-1);
    return { tools, total: found.length, ...(last && tools.length < rest.length && { next: last.tool }) };
  };

  #decide(decisions: readonly SourceDecision[]): Source {
    for (const { tool, pin, category } of decisions) {
      const at = this.tools.findIndex((each) => each.tool === tool);
      const known = this.tools[at];
      if (known === undefined) throw new RpcError(-32003, `no tool ${tool}`);
      if (known.pin !== pin)
        throw new RpcError(-32004, `\`${known.name}\` is not what you looked at any more`, "changed");
      const { category: _category, decided: _decided, ...rest } = known;
      this.tools[at] = {
        ...rest,
        standing: category === undefined ? "keptOut" : "inUse",
        ...(category !== undefined && { category }),
      };
    }
    return this.view();
  }
}
