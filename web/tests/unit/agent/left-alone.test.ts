import { describe, expect, test } from "vitest";
import limits from "../../../../loop/limits.json" with { type: "json" };
import { ownAnswer, showClosest } from "../../../src/agent/answers.ts";
import { isAskedFor } from "../../../src/agent/asked.ts";
import { withoutFalseClaims } from "../../../src/agent/claims.ts";
import { copy } from "../../../src/agent/copy.ts";
import { answerFigure } from "../../../src/agent/figures.ts";
import { fill } from "../../../src/agent/fill.ts";
import { findingIn, sought } from "../../../src/agent/finding.ts";
import { callMayFollow } from "../../../src/agent/following.ts";
import { foundFiles, furtherCall, lookingFor, pointedReading, resolved } from "../../../src/agent/further.ts";
import type { Message, ToolMessage } from "../../../src/agent/messages.ts";
import { spokenArguments } from "../../../src/agent/optional.ts";
import { fittingPassages } from "../../../src/agent/passages.ts";
import { abilitiesOf } from "../../../src/agent/prompts.ts";
import { divide, numbersIn, readQuantities } from "../../../src/agent/quantities.ts";
import { readingOfFound } from "../../../src/agent/reading.ts";
import { signatureOf } from "../../../src/agent/render.ts";
import { tableOf } from "../../../src/agent/tables.ts";
import type { ModelInfo } from "../../../src/protocol/generated.ts";
import { descriptor, gatewayGiving, ok, scriptedChat, smallModel, stage } from "./scripted.ts";

/** What is read as rows, numbers and files, and what is left alone because it may mean something else. */

const tools = [
  descriptor("read_file", { category: "read" }),
  descriptor("list_directory", { category: "read" }),
  descriptor("search_files", {
    category: "read",
    paramSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  }),
];

function closed(name: string, given: Record<string, unknown>, content: string): ToolMessage {
  return {
    role: "tool",
    turnId: "trn_1",
    call: { id: "c", name, arguments: given },
    result: ok(content),
  } as ToolMessage;
}

const cellsOf = (text: string, name: string) => tableOf(text, name)?.rows.map(({ cells }) => [...cells]);

describe("tables", () => {
  test("an empty or missing cell of JSON holds nothing", () => {
    const rows = cellsOf('[{"shop": "Lidl", "amount": 3}, {"shop": null, "amount": 4}, {"amount": 5}]', "a.json");
    expect(rows).toEqual([
      ["Lidl", "3"],
      ["", "4"],
      ["", "5"],
    ]);
  });

  test("a table by its ending needs no line of names", () => {
    expect(cellsOf("Lidl,3\nPret,4\n", "a.csv")).toEqual([
      ["Lidl", "3"],
      ["Pret", "4"],
    ]);
  });

  test("lines with commas are no table where neither name nor numbers say so", () => {
    expect(tableOf("yes, but\nno, and\n", "letter.txt")).toBeNull();
    expect(tableOf("Lidl,3\nPret,4\n", "letter.txt")?.columns).not.toEqual(["Lidl", "3"]);
    expect(tableOf("{}", "a.json")).toBeNull();
  });

  test("rows are counted only in a table, and files only in a listing", () => {
    const source = { name: "a.txt", text: "one line\nand another\n", whole: true, hasLines: true };
    expect(answerFigure("how many rows are in a.txt?", source)).toBeNull();
    const table = { name: "a.csv", text: "item,amount\npaper,40\nink,65\n", whole: true, hasLines: true };
    expect(answerFigure("how many files are in a.csv?", table)).toBeNull();
    expect(answerFigure("how many", table)).toBeNull();
    const totals = { ...table, text: "item,amount\ntotal,65\ntotal,66\n" };
    expect(answerFigure("what is the sum of a.csv?", totals)).toBeNull();
  });
});

describe("numbers", () => {
  test.each([
    "1,234.50.60 EUR and 2 EUR",
    "12.34,5,6 EUR and 1.50 EUR",
    "12,34.5 EUR and 2.25 EUR",
    "1,2,3 EUR and 2,25 EUR",
  ])("%s is not guessed", (text) => {
    expect(readQuantities(numbersIn(text))).toBeNull();
  });

  test("groups of three are read by their mark", () => {
    expect(readQuantities(numbersIn("1,234 EUR and 1,234,567 EUR"))?.numbers).toHaveLength(2);
    expect(readQuantities(numbersIn("1.234.567 EUR"))?.numbers).toEqual([{ units: 1234567n, scale: 0 }]);
    expect(readQuantities(numbersIn("1.234 EUR and 2.345 EUR"))?.numbers).toHaveLength(2);
  });

  test("a negative number is divided away from zero", () => {
    expect(divide({ units: -1n, scale: 0 }, 2).mean).toEqual({ units: -5n, scale: 1 });
  });
});

describe("texts", () => {
  test("a passage that does not fit any more is left out", () => {
    const lines = Array.from({ length: 60 }, (_, number) => `garden ${"rose ".repeat(12)}${number}`);
    const kept = fittingPassages(lines.join("\n"), "what grows in the garden?", 1500);
    expect(kept.length).toBeLessThanOrEqual(1500);
    expect(kept).toContain("left out");
  });

  test("one line that is left out is named as one", () => {
    const lines = [...Array.from({ length: 16 }, (_, at) => `garden ${at}`), "z".repeat(90)];
    const text = lines.join("\n");
    expect(fittingPassages(text, "garden", text.length - 1)).toContain("left out 1 line]");
  });

  test("the closest lines of a result without lines are shown", () => {
    const source = { name: "`x`", text: "the garden has roses", whole: true, hasLines: false };
    expect(showClosest(copy.notComputed, "what is in the garden?", source)).toContain("roses");
  });
});

test("a file that is shown says how many of its lines are left out", () => {
  const shown = (lines: number) => {
    const text = Array.from({ length: lines }, (_, at) => `line ${at}`).join("\n");
    return ownAnswer(closed("read_file", { path: "a.txt" }, text), "show me a.txt", tools, "2026-03-10") ?? "";
  };
  expect(shown(limits.excerptLines)).not.toContain("left out");
  expect(shown(limits.excerptLines + 1)).toContain(copy.leftOutOne);
  expect(shown(limits.excerptLines + 2)).toContain(fill(copy.leftOut, () => "2"));
});

describe("files that are found", () => {
  const wish = "find the note that mentions Ana and tell me what she wants";

  test("nothing is searched where no tool searches", () => {
    expect(lookingFor(wish, tools)).not.toBeNull();
    expect(lookingFor(wish, tools.slice(0, 1))).toBeNull();
    const bare = descriptor("search_files", { paramSchema: { type: "object", required: ["query"] } });
    expect(lookingFor(wish, [...tools.slice(0, 1), bare])?.arguments).toEqual({ query: "Ana" });
  });

  test("a file without a known size is not the largest", () => {
    const say = "what does the largest file in notes/ say?";
    const listed = closed("list_directory", { path: "notes" }, "notes holds 2 entries:\n- old/\n- there (a link)");
    expect(furtherCall(say, [listed], tools)).toBeNull();
    const equal = closed(
      "list_directory",
      { path: "notes" },
      "notes holds 2 entries:\n- a.txt (1 bytes)\n- b.txt (1 bytes)",
    );
    expect(furtherCall(say, [equal, equal], tools)).toBeNull();
    const none = closed("list_directory", {}, "notes holds 1 entry:\n- a.txt (1 bytes)");
    expect(furtherCall("what does the newest file in notes/ say?", [none], tools)).toBeNull();
    expect(furtherCall("what does the smallest file in notes/ say?", [none], tools)?.arguments).toEqual({
      path: "a.txt",
    });
  });

  test("what is to be changed is not read by pointing at it", () => {
    const messages: Message[] = [closed("search_files", { query: "Ana" }, "notes/ana.txt:1: Ana")];
    expect(pointedReading("what does it say?", messages, tools)?.arguments).toEqual({ path: "notes/ana.txt" });
    expect(pointedReading("delete it and say what it was", messages, tools)).toBeNull();
  });

  test("lines of a search that name no file are passed over, and a file without an ending is found by its name", () => {
    const search = closed("search_files", { query: "Ana" }, "notes/LICENSE:1: Ana\n…[left out 3 lines]");
    expect(foundFiles(search, tools)).toEqual(["notes/LICENSE"]);
    const read = { name: "read_file", arguments: { path: "license" } };
    expect(resolved(read, [search], tools).arguments).toEqual({ path: "notes/LICENSE" });
  });

  test("a search of somebody's own is followed only for what asks of files that have no name", () => {
    expect(sought("what does a.txt say about Ana?", "Ana")).toBeNull();
    expect(findingIn("find and tell me what she wants")).toBeNull();
    expect(findingIn(`find ${"very ".repeat(30)}old notes and tell me what they say`)).toBeNull();
    expect(lookingFor("what does the newest file say?", tools)).toBeNull();
  });

  test("what was found and read already is not read again", () => {
    const search = closed("search_files", { query: "Ana" }, "notes/ana.txt:1: Ana wrote");
    const read = closed("read_file", { path: "notes/ana.txt" }, "Ana wrote");
    const say = "what does Ana want on Tuesday?";
    expect(readingOfFound(say, [search], tools)?.arguments).toEqual({ path: "notes/ana.txt" });
    expect(readingOfFound(say, [read, search], tools)).toBeNull();
  });
});

describe("tools", () => {
  test("a schema without types still makes a signature", () => {
    const schema = { type: "object", properties: { a: true }, required: ["a", "b"] };
    expect(signatureOf("look", "Look.", schema)).toBe("look(a, b) - Look.");
  });

  test("abilities are one, several or none", () => {
    expect(abilitiesOf([])).toBe("");
    expect(abilitiesOf([descriptor("look", { description: "Look around." })])).toBe("look around");
    expect(abilitiesOf([descriptor("look", { description: "" }), descriptor("ask", { description: "Ask." })])).toBe(
      "ask",
    );
  });

  test("a tool whose schema says nothing of its arguments is known by its name", () => {
    for (const paramSchema of [{ type: "object" }, { type: "object", properties: { deep: true } }]) {
      const tool = descriptor("ping_all", { category: "read", description: "Ping.", paramSchema });
      expect(isAskedFor({}, tool, "ping all of them now", false)).toBe(true);
      expect(isAskedFor({}, tool, "sing a song for me now", false)).toBe(false);
    }
  });

  test("an argument with no word behind its name is not given", () => {
    const schema = { properties: { label: { type: "string" } }, required: [] };
    expect(spokenArguments(schema, "run it, and what is a label?")).toEqual({});
    expect(spokenArguments(schema, "run it with the label ½-x!")).toEqual({});
  });

  test("a call without words is about nothing", () => {
    const record = {
      message: "dim the hall, and mow the lawn",
      closed: [{ call: { id: "c", name: "jot", arguments: {} }, result: ok("") }],
      earlier: [],
      tools: [{ name: "jot", category: "write" as const }],
    };
    expect(withoutFalseClaims("The hall and the lawn are fine.", record)).toBe("");
  });

  test("an act is used up by as many calls as the message asks for, whatever else it asks", () => {
    const say = "delete a.txt and save x to b.txt";
    const gone = closed("delete_file", { path: "a.txt" }, "deleted");
    const remover = descriptor("delete_file", { category: "destructive" });
    const writer = descriptor("write_file", { category: "write" });
    const again = { name: "delete_file", arguments: { path: "b.txt" } };
    const writing = { name: "write_file", arguments: { path: "b.txt" } };
    expect(callMayFollow(say, [gone], again, [remover, writer])).toBe(false);
    expect(callMayFollow(say, [gone], writing, [remover, writer])).toBe(true);
    // Writing is how a tool copies, too, so that either act may ask for it.
    expect(callMayFollow("copy a.txt and save b.txt", [gone], writing, [writer])).toBe(true);
  });

  test("reading lets a network tool follow, and no shell", () => {
    const search = closed("search_files", { query: "Ana" }, "a.txt:1: https://a.example");
    const say = "read a.txt and fetch https://a.example";
    const fetched = { name: "http_get", arguments: { url: "https://a.example" } };
    const network = descriptor("http_get", { category: "network" });
    const shell = descriptor("run_command", { category: "execute" });
    expect(callMayFollow(say, [search], fetched, [network])).toBe(true);
    expect(callMayFollow(say, [search], { name: "run_command", arguments: { command: "x" } }, [shell])).toBe(false);
  });
});

describe("turns", () => {
  const chained: ModelInfo = { ...smallModel, tier: "chained" };
  const listing = (path: string) => JSON.stringify({ tool: "list_directory", arguments: { path } });

  test("a chained model that goes in a circle is stopped", async () => {
    const lines = ["a", "b", "a", "b"].map(listing);
    const { runner, said } = stage(gatewayGiving(...lines.map(() => ok("x"))), scriptedChat(...lines).chat);
    await (await runner.run("look into a and b", chained))?.finished;
    expect(said()).toEqual([copy.looped]);
  });

  test("a chained model may mend a call twice", async () => {
    const wrong = { ...ok(""), outcome: "invalidArguments" as const, error: "path is missing" };
    const lines = ["a", "b", "c"].map(listing);
    const gateway = gatewayGiving(...lines.map(() => wrong));
    const { runner, said } = stage(gateway, scriptedChat(...lines, '{"answer":"x"}').chat);
    await (await runner.run("list a, b or c", chained))?.finished;
    expect(said().at(-1)).toContain("path is missing");
  });

  test("a chained model is shown a summary of what is too long, and earlier words without their results", async () => {
    const messages: Message[] = Array.from({ length: 12 }, (_, number): Message[] => [
      { role: "user", turnId: `old_${number}`, content: `hello ${number} ${"x".repeat(900)}` },
      { role: "assistant", turnId: `old_${number}`, content: "Hi.", toolCalls: [] },
    ]).flat();
    const { chat, requests } = scriptedChat("They said hello.", '{"answer":"You are welcome!"}');
    const { runner } = stage(gatewayGiving(), chat, { messages });
    await (await runner.run("thanks", chained))?.finished;
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("They said hello.");
  });

  test("an action is not begun once the calls of the turn are used up", async () => {
    const folders = ["a/", "b/", "c/", "d/", "e/", "f/", "g/", "h/"];
    const wrong = { ...ok(""), outcome: "invalidArguments" as const, error: "path is missing" };
    const lines = folders.slice(0, 7).flatMap((folder) => [listing(folder), `It holds ${folder}x.`]);
    const gateway = gatewayGiving(wrong, ...folders.map(() => ok("x")));
    const { runner, said } = stage(gateway, scriptedChat(listing("a"), ...lines).chat);
    await (await runner.run(`list ${folders.join(", ")}`, smallModel))?.finished;
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(8);
    expect(said().at(-1)).toContain(copy.capped);
  });

  test("nothing is said in the place of a call that nobody asked for where the model has no words", async () => {
    const { runner, said } = stage(gatewayGiving(), scriptedChat(listing("."), "no", "no", "no").chat);
    await (await runner.run("tell me a poem", smallModel))?.finished;
    expect(said()[0]).toMatch(/^Nothing in that asks for one of my tools/);
  });
});
