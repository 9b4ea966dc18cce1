import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { draftFromSource, keptFields, readChange } from "../../../src/features/console/sources/change.ts";
import { compareDefinitions, compareLines } from "../../../src/features/console/sources/difference.ts";
import { EMPTY_DRAFT, readDraft } from "../../../src/features/console/sources/draft.ts";
import { goTo, NOWHERE, rangeOf } from "../../../src/features/console/sources/selection.ts";
import { describeTouches, secretsIn } from "../../../src/features/console/sources/touches.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { FakeSource } from "./fake-sources.ts";

describe("a comparison of lines", () => {
  test("holds all of the old text and all of the new one, in order", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = compareLines(before, after);
        const side = (mark: "removed" | "added") =>
          lines.filter((line) => line.mark === mark || line.mark === "same").map((line) => line.text);
        expect(side("removed")).toEqual(before);
        expect(side("added")).toEqual(after);
      }),
    );
  });

  test("marks only what differs", () => {
    expect(compareLines(["a", "b", "c"], ["a", "x", "c"]).map(({ mark }) => mark)).toEqual([
      "same",
      "removed",
      "added",
      "same",
    ]);
  });

  test("of two texts too long to compare shows both whole", () => {
    const before = Array.from({ length: 1_100 }, (_, index) => `old ${index}`);
    const after = Array.from({ length: 1_100 }, (_, index) => `new ${index}`);
    expect(compareLines(before, after)).toHaveLength(2_200);
  });
});

describe("a comparison of definitions", () => {
  test("leaves out what is the same, in whatever order its members stand", () => {
    expect(
      compareDefinitions(
        { name: "a", paramSchema: { one: 1, two: [{ x: 1, y: 2 }] } },
        { paramSchema: { two: [{ y: 2, x: 1 }], one: 1 }, name: "a" },
      ),
    ).toEqual([]);
  });

  test("tells a member that came or went, and a text from a number of the same look", () => {
    const names = (before: Record<string, unknown>, after: Record<string, unknown>) =>
      compareDefinitions(before, after).map(({ name }) => name);
    expect(names({}, { title: "new" })).toEqual(["title"]);
    expect(names({ title: "old" }, { title: null })).toEqual(["title"]);
    expect(names({ x: "1" }, { x: 1 })).toEqual(["x"]);
  });
});

describe("a draft", () => {
  const draft = (part: Partial<typeof EMPTY_DRAFT>) => readDraft({ ...EMPTY_DRAFT, name: " notes ", ...part });

  test("of a program keeps each line as one argument, and equals signs in values", () => {
    expect(
      draft({ command: "npx", args: "-y\n two words \n\n", env: "A=b=c\nB=", writable: "/data\r\n", network: true }),
    ).toEqual({
      name: "notes",
      kind: "mcp",
      settings: {
        command: "npx",
        args: ["-y", " two words "],
        env: { A: "b=c", B: "" },
        writable: ["/data"],
        network: true,
      },
    });
  });

  test("of an API, an address and a database names what the gateway calls it", () => {
    expect(draft({ form: "address", url: "https://a.example/mcp", headers: "X-Key: one:two" })).toMatchObject({
      settings: { url: "https://a.example/mcp", headers: { "X-Key": "one:two" } },
    });
    expect(draft({ form: "address", url: "https://a.example/mcp", allowPrivate: true })).toMatchObject({
      settings: { url: "https://a.example/mcp", allow_private: true },
    });
    expect(
      draft({ form: "api", baseUrl: "https://a.example", documentPlace: "/api.json", label: "label:high" }),
    ).toEqual({
      name: "notes",
      kind: "http",
      settings: { base_url: "https://a.example", document_file: "/api.json", labels: ["label:high"] },
    });
    expect(draft({ form: "api", documentFrom: "text", documentText: "openapi: 3.1.0" })).toMatchObject({
      settings: { document: "openapi: 3.1.0" },
    });
    expect(draft({ form: "api", documentFrom: "url", documentPlace: "https://a.example/x" })).toMatchObject({
      settings: { document_url: "https://a.example/x" },
    });
    expect(draft({ form: "database", database: "sqlite:////a.db", role: "change" })).toMatchObject({
      kind: "sql",
      settings: { url: "sqlite:////a.db", role: "change" },
    });
  });

  test("of a server that may ask says so, and of any other nothing", () => {
    for (const form of ["program", "address"] as const) {
      expect(draft({ form, command: "npx", url: "https://a.example", asks: true })).toMatchObject({
        settings: { elicitation: "ask" },
      });
      expect(JSON.stringify(draft({ form, command: "npx", url: "https://a.example" }))).not.toContain("elicitation");
    }
    expect(JSON.stringify(draft({ form: "database", database: "sqlite:////a.db", asks: true }))).not.toContain("ask");
  });

  test("says which line cannot be sent", () => {
    expect(draft({ env: "A=b\nnothing" })).toMatchObject({ field: "env" });
    expect(draft({ form: "address", headers: ": value" })).toMatchObject({ field: "headers" });
    expect(draft({ form: "api", documentFrom: "text", documentText: "x".repeat(200_000) })).toMatchObject({
      field: "documentText",
    });
  });
});

describe("a change", () => {
  const source = (kind: "mcp" | "http" | "sql", settings: Record<string, unknown>) => ({
    ...new FakeSource(new FakeGateway(), []).view(),
    kind,
    settings,
    settingsDigest: "seen",
  });
  const settings = {
    program: {
      command: ["npx", "-y"],
      args: ["serve"],
      env: { A: "b=c" },
      folders: ["/data"],
      timeout: 5,
      network: true,
    },
    address: { url: "https://a.example/mcp", headers: { "X-Key": "one:two" }, oauth: { client_id: "x" } },
    file: { base_url: "https://a.example", document_file: "/api.json", operations: ["list"], allow_private: true },
    pasted: { base_url: "https://a.example", document: "openapi: …", labels: ["label:high"] },
    database: { url: "sqlite:////a.db", role: "change", tables: { orders: ["id"] } },
  };
  const sources = {
    program: source("mcp", settings.program),
    address: source("mcp", settings.address),
    file: source("http", settings.file),
    pasted: source("http", settings.pasted),
    database: source("sql", settings.database),
  };
  const change = (name: keyof typeof sources, part: Partial<typeof EMPTY_DRAFT>) => {
    const read = readChange(sources[name], { ...draftFromSource(sources[name]), ...part });
    return "field" in read ? read : { settings: read.settings, without: read.without };
  };

  test("of nothing is nothing, whatever the form does not show", () => {
    for (const name of Object.keys(sources) as (keyof typeof sources)[]) {
      expect(change(name, {}), name).toEqual({ settings: {}, without: [] });
    }
  });

  test("names what is other, what is taken away, and the digest of what was looked at", () => {
    expect(readChange(sources.program, { ...draftFromSource(sources.program), env: "" })).toEqual({
      name: "notes",
      settingsDigest: "seen",
      settings: {},
      without: ["env"],
    });
    expect(change("address", { url: "https://b.example/mcp", asks: true })).toEqual({
      settings: { url: "https://b.example/mcp", elicitation: "ask" },
      without: [],
    });
    expect(change("database", { role: "query", label: "label:high" })).toEqual({
      settings: { role: "query", labels: ["label:high"] },
      without: [],
    });
    expect(change("program", { network: false })).toEqual({ settings: {}, without: ["network"] });
    expect(change("program", { env: "nothing" })).toMatchObject({ field: "env" });
  });

  test("leaves what no field can say as it is, and says which fields these are", () => {
    const odd = {
      program: source("mcp", {
        command: "serve",
        args: ["--x", "", "y"],
        env: { CERT: "-----BEGIN\nA=\n-----END", B: "c" },
        folders: ["/data"],
        labels: ["label:internal", "label:high"],
      }),
      breaks: source("mcp", { command: ["serve", "one\ntwo"], writable: [" ", "/data"] }),
      address: source("mcp", { url: "https://a.example/mcp", headers: { "X-Key": " spaced" } }),
      labelled: source("http", { base_url: "https://a.example", document_file: "/api.json ", labels: ["label:own"] }),
    };
    const kept = Object.fromEntries(Object.entries(odd).map(([name, each]) => [name, [...keptFields(each)]]));
    expect(kept).toEqual({
      program: ["command", "args", "env", "label"],
      breaks: ["command", "args", "writable"],
      address: ["headers"],
      labelled: ["label", "documentPlace"],
    });
    for (const each of Object.values(odd)) {
      expect(readChange(each, draftFromSource(each))).toMatchObject({ settings: {}, without: [] });
    }
    // Whatever those fields say, another one can be changed.
    const typed = { ...draftFromSource(odd.program), args: "--y", env: "nothing", label: "", folders: "/other" };
    expect(readChange(odd.program, typed)).toMatchObject({ settings: { folders: ["/other"] }, without: [] });
    for (const each of Object.values(sources)) expect([...keptFields(each)]).toEqual([]);
  });

  test("leaves what the page was not shown whole", () => {
    const long = { ...sources.program, shortened: ["env", "args"] };
    expect([...keptFields(long)]).toEqual(["command", "args", "env"]);
    expect(readChange(long, { ...draftFromSource(long), env: "B=c", network: false })).toMatchObject({
      settings: {},
      without: ["network"],
    });
  });

  test("of one word of a command sends all of them", () => {
    expect(change("program", { args: "-y\nserve\n--all" })).toEqual({
      settings: { command: "npx", args: ["-y", "serve", "--all"] },
      without: [],
    });
    expect(change("program", { args: "" })).toEqual({ settings: { command: "npx" }, without: ["args"] });
  });

  test("of the place of a document takes the place of what was there", () => {
    expect(change("pasted", { documentFrom: "file", documentPlace: "/b.json" })).toEqual({
      settings: { document_file: "/b.json" },
      without: ["document"],
    });
    expect(change("pasted", { documentText: "openapi: 3.1.0" })).toEqual({
      settings: { document: "openapi: 3.1.0" },
      without: [],
    });
    expect(change("file", { documentFrom: "url", documentPlace: "https://a.example/x" })).toEqual({
      settings: { document_url: "https://a.example/x" },
      without: ["document_file"],
    });
    expect(change("file", { documentFrom: "text", documentText: "openapi: 3.1.0" })).toEqual({
      settings: { document: "openapi: 3.1.0" },
      without: ["document_file"],
    });
  });
});

describe("a selection", () => {
  const names = ["a", "b", "c", "d"];

  test("reaches from where it began to the cursor, in both directions, and ends with a plain move", () => {
    const begun = goTo(goTo(NOWHERE, names, 2, false), names, 3, true);
    expect(rangeOf(begun, names)).toEqual([2, 3]);
    expect(rangeOf(goTo(begun, names, 0, true), names)).toEqual([0, 2]);
    expect(rangeOf(goTo(begun, names, 1, false), names)).toEqual([1, 1]);
  });

  test("is the cursor alone when the tool that it began at is gone", () => {
    const begun = goTo(goTo(NOWHERE, names, 0, false), names, 2, true);
    expect(rangeOf(begun, ["b", "c"])).toEqual([1, 1]);
  });
});

describe("what a source may touch", () => {
  const touches = (kind: "mcp" | "http" | "sql", settings: Record<string, unknown>) =>
    describeTouches({ ...new FakeSource(new FakeGateway(), []).view(), kind, settings }).map(
      ({ name, says = "", values }) => `${name}: ${[says, ...values].join(" ").trim()}`,
    );

  test("is said of each kind from its own settings", () => {
    expect(touches("mcp", { command: ["npx", "-y"], folders: ["/a", "/b"], writable: ["/b"], network: true })).toEqual([
      "Program: It is started on the gateway's machine, shut in, with these words: npx -y",
      "May read: /a",
      "May change: A folder of its own, and: /b",
      "Network: It may reach any address.",
      "Questions: It may ask you nothing.",
      "Secrets: It is given no stored secret.",
    ]);
    expect(touches("mcp", { url: "https://a.example", elicitation: "ask" })).toContain(
      "Questions: It may ask you for details during a call.",
    );
    expect(touches("mcp", { url: "https://a.example", allow_private: true })).toContain(
      "Private addresses: Its host may be a machine of a private network.",
    );
    expect(touches("http", { base_url: "https://a.example", allow_private: true, document: "{}" })).toContain(
      "Private addresses: Its host may be a machine of a private network.",
    );
    expect(touches("sql", { url: "sqlite:////a.db", tables: { orders: [] } })).toContain("Tables: Only these: orders");
    expect(touches("sql", { url: "sqlite:////a.db", role: "change" })).toContain("Role: It may read and change rows.");
  });

  test("names every secret that stands anywhere in the settings", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: settings are written like this
    expect(secretsIn({ headers: { a: "Bearer ${secret:B} ${secret:A}" }, list: ["${secret:C}"] })).toEqual([
      "A",
      "B",
      "C",
    ]);
  });
});
