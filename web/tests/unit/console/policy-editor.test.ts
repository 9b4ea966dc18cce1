import { describe, expect, test } from "vitest";
import { canonicalText, toBase64Url } from "../../../src/features/console/approvals/challenge.ts";
import { summariseRehearsal } from "../../../src/features/console/policy/editor/sentences.ts";
import { signThaw, signVersion } from "../../../src/features/console/policy/editor/signing.ts";
import { changedFiles, documentsOf, isFileName, offsetOf } from "../../../src/features/console/policy/editor/texts.ts";
import type { PolicyRehearsal, ProposalOpened, ThawQuestion } from "../../../src/protocol/generated.ts";
import { hashText, toHex } from "../../../src/ui/sha256.ts";

const TEXTS = { "default.cedar": "permit", "schema.cedarschema": "schema" };
const CASES = { "cases/a.toml": "case" };

async function digestOf(value: unknown): Promise<string> {
  return toHex(await hashText(canonicalText(value)));
}

async function opened(changed: Readonly<Record<string, unknown>> = {}): Promise<ProposalOpened> {
  const version = await digestOf(TEXTS);
  const statement = {
    v: 1,
    type: "countersign.policy-version",
    proposalId: "pol_1",
    reason: "why",
    policyVersion: version,
    basePolicyVersion: "base",
    casesDigest: await digestOf(CASES),
    signatures: 2,
    ...changed,
  };
  return {
    proposal: {
      proposalId: "pol_1",
      version,
      base: "base",
      author: "Ada",
      reason: "why",
      madeAt: "2026-01-01T00:00:00.000Z",
      expiresAt: "2026-01-02T00:00:00.000Z",
      needed: 2,
      signers: [],
      loosens: true,
    },
    documents: documentsOf({ ...TEXTS, ...CASES }) ?? [],
    comparison: { compared: 1, complete: true, loosens: true, differences: [], loosened: [] },
    forbidsYou: false,
    ...(await question(statement)),
  };
}

async function question(statement: Readonly<Record<string, unknown>>) {
  const challenge = toBase64Url(await hashText(canonicalText(statement)));
  return { statement, statementDigest: await digestOf(statement), passkeyOptions: { challenge } };
}

describe("what a passkey signs about the policy", () => {
  test("is the hash of the statement, computed here, with the user verified", async () => {
    const given = await opened();
    expect(await signVersion(given, "console.localhost")).toEqual({
      challenge: toBase64Url(await hashText(canonicalText(given.statement))),
      rpId: "console.localhost",
      userVerification: "required",
    });
  });

  test.each([
    ["another kind of statement", { type: "countersign.policy-thaw" }],
    ["another reason", { reason: "something else" }],
    ["other texts", { policyVersion: "ab".repeat(32) }],
    ["another decision table", { casesDigest: "ab".repeat(32) }],
    ["another version before it", { basePolicyVersion: "other" }],
    ["fewer signatures", { signatures: 1 }],
    ["another proposal", { proposalId: "pol_2" }],
  ])("is nothing where the statement names %s", async (_, changed) => {
    await expect(signVersion(await opened(changed), "console.localhost")).rejects.toThrow("Nothing was signed");
  });

  test("is nothing where the texts on the page are not those of the version", async () => {
    const given = await opened();
    const documents = given.documents.map((each) => ({ ...each, text: `${each.text} ` }));
    await expect(signVersion({ ...given, documents }, "console.localhost")).rejects.toThrow("Nothing was signed");
  });

  test("is nothing where the passkey is asked about something else", async () => {
    const given = { ...(await opened()), passkeyOptions: { challenge: "AAAA" } };
    await expect(signVersion(given, "console.localhost")).rejects.toThrow("Nothing was signed");
  });

  test("is the end of the freeze that is shown, and of no other", async () => {
    const freeze = { freezeId: "frz_1", at: "2026-01-01T00:00:00.000Z", why: "so" };
    const ask = async (freezeId: string): Promise<ThawQuestion> => ({
      freeze,
      ...(await question({ v: 1, type: "countersign.policy-thaw", freezeId })),
    });
    expect((await signThaw(await ask("frz_1"), "console.localhost")).userVerification).toBe("required");
    await expect(signThaw(await ask("frz_2"), "console.localhost")).rejects.toThrow("Nothing was signed");
  });
});

describe("the texts of a draft", () => {
  test("differ by their lines, with those around them", () => {
    const long = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const after = long.with(10, "changed");
    const [file] = changedFiles({ a: long.join("\n"), b: "same" }, { a: after.join("\n"), b: "same" });
    expect(file?.name).toBe("a");
    expect(file?.lines.map(({ mark }) => mark)).toEqual([
      ...["same", "same", "same"],
      ...["removed", "added"],
      ...["same", "same", "same"],
    ]);
  });

  test("are marked where the gateway says, also past an end", () => {
    expect(offsetOf("ab\ncd", 2, 2)).toBe(4);
    expect(offsetOf("ab\ncd", 9, 1)).toBe(5);
  });

  test.each(["team.cedar", "cases/team.toml"])("may be in a file %s", (name) => expect(isFileName(name)).toBe(true));
  test.each(["", "../team.cedar", "team.txt", "cases/a/b.toml"])("may not be in a file %j", (name) =>
    expect(isFileName(name)).toBe(false),
  );
});

test("a rehearsal is one sentence", () => {
  const rehearsal: PolicyRehearsal = {
    version: "v",
    judged: 90,
    unjudged: 0,
    unlike: 0,
    questionsBefore: 50,
    questionsAfter: 9,
    changes: [
      { change: "questionRemoved", count: 41, examples: [] },
      { change: "passkeyAdded", count: 2, examples: [] },
      { change: "newlyAllowed", count: 1, examples: [] },
    ],
  };
  expect(summariseRehearsal(rehearsal, 7)).toBe(
    "Over the last 7 days this removes 41 questions, adds 2 passkeys and newly allows 1 call.",
  );
  expect(summariseRehearsal({ ...rehearsal, changes: [] }, 1)).toBe(
    "Over the last day this decides every call as it was decided.",
  );
  expect(summariseRehearsal({ ...rehearsal, judged: 0 }, 1)).toContain("no call on record");
});
