import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { encode } from "cborg";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/verifier/json.ts";
import { SignedAnswers } from "../../../src/verifier/signed-answers.ts";

const enrolled: JsonObject = {
  event: "principal:enrolled",
  principalId: "usr_1",
  credentialId: "AAAA",
  publicKey: "AAAA",
  backupEligible: false,
};
const changed: JsonObject = {
  event: "setting:changed",
  principalId: "usr_1",
  setting: "approval_seconds",
  value: 60,
  chosen: { approval_seconds: 60 },
  credentialId: "AAAA",
};
const payload: JsonObject = {
  statement: '{"setting":"approval_seconds","value":60}',
  consoleSessionId: "cse_1",
  assertion: {},
};

async function findFault(body: JsonObject, told: JsonObject | null): Promise<string | null> {
  const answers = new SignedAnswers();
  await answers.check(enrolled, null);
  const fault = await answers.check(body, told);
  expect(answers.signatures).toBe(0);
  return fault;
}

test("a change of a setting has to be what its person's passkey signed", async () => {
  expect(await findFault({ ...changed, value: 61 }, payload)).toContain("is another change");
  expect(await findFault({ ...changed, setting: "drain_seconds" }, payload)).toContain("is another change");
  expect(await findFault({ ...changed, principalId: "usr_2" }, payload)).toContain("somebody else's");
  expect(await findFault({ ...changed, credentialId: "BBBB" }, payload)).toContain("nobody's");
  expect(await findFault(changed, payload)).toContain("does not hold");
});

test("a change of the command line, or one whose payload was erased, has no signature to check", async () => {
  expect(await findFault({ ...changed, principalId: null, credentialId: null }, null)).toBeNull();
  expect(await findFault(changed, null)).toBeNull();
});

const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

/** A passkey at a console, with the record of its registration: answers a challenge as a browser writes it (WebAuthn L3). */
function passkey() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = [x, y].map((each) => Buffer.from(each, "base64url"));
  // RFC 9053: an EC2 key for ES256 on P-256.
  const cose = new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point[0]],
    [-3, point[1]],
  ]);
  const registered = { ...enrolled, publicKey: Buffer.from(encode(cose)).toString("base64url") };
  const answer = (challenge: Uint8Array, flags = 0x05): JsonObject => {
    const client = JSON.stringify({
      type: "webauthn.get",
      challenge: Buffer.from(challenge).toString("base64url"),
      origin: "https://console.example.org",
      crossOrigin: false,
    });
    const data = Buffer.concat([sha256("console.example.org"), Buffer.from([flags, 0, 0, 0, 1])]);
    const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
    return {
      id: "AAAA",
      rawId: "AAAA",
      type: "public-key",
      response: {
        clientDataJSON: Buffer.from(client).toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url"),
      },
    };
  };
  return { registered, answer };
}

test("a change that its person's passkey signed holds and is counted, and each other answer of it is refused", async () => {
  const { registered, answer } = passkey();
  const statement = String(payload.statement);
  const check = async (assertion: JsonObject, said = payload) => {
    const answers = new SignedAnswers();
    await answers.check(registered, null);
    return [await answers.check(changed, { ...said, assertion }), answers.signatures];
  };
  expect(await check(answer(sha256(statement)))).toEqual([null, 1]);
  const refused = async (assertion: JsonObject, why: string, said = payload) => {
    const [fault, signatures] = await check(assertion, said);
    expect(fault).toContain(why);
    expect(signatures).toBe(0);
  };
  await refused(answer(sha256("another question")), "is not to this question");
  await refused(answer(sha256(statement), 0x01), "did not verify who used it");
  await refused(passkey().answer(sha256(statement)), "does not verify");
  // The same change in other bytes is another statement.
  const spaced = { ...payload, statement: '{"setting": "approval_seconds", "value": 60}' };
  await refused(answer(sha256(statement)), "is not to this question", spaced);
});
