/** The passkeys' signatures in the record: each answer by the passkey that was registered for that person, over what they were shown. */

import { fromHex, hash } from "./bytes.ts";
import {
  agree,
  encodeText,
  isJsonObject,
  type JsonObject,
  need,
  needFlag,
  needObject,
  needText,
  parseJson,
} from "./json.ts";
import { signedDigest } from "./plans.ts";
import { findFaultInAnswer, type RecordedPasskey } from "./webauthn.ts";

export class SignedAnswers {
  /** How many hold. */
  signatures = 0;
  private readonly passkeys = new Map<string, RecordedPasskey>();
  private readonly questions = new Map<string, JsonObject>();
  private readonly alone = new Map<string, string>();

  /** What is wrong with the next record, or null. An answer whose payload was erased cannot be checked. */
  async check(body: JsonObject, payload: JsonObject | null): Promise<string | null> {
    switch (body.event) {
      case "principal:enrolled":
      case "passkey:added": {
        const credentialId = needText(body, "credentialId");
        this.passkeys.set(credentialId, {
          credentialId,
          personId: needText(body, "principalId"),
          publicKey: needText(body, "publicKey"),
          backupEligible: needFlag(body, "backupEligible"),
        });
        return null;
      }
      case "passkey:removed":
        this.passkeys.delete(needText(body, "credentialId"));
        return null;
      case "principal:removed": {
        const gone = needText(body, "principalId");
        for (const [id, each] of this.passkeys) if (each.personId === gone) this.passkeys.delete(id);
        return null;
      }
      case "approval:requested":
        this.questions.set(needText(body, "approvalId"), body);
        return null;
      case "approval:given":
        return this.checkAnswer(body, payload);
      case "approval:break-glass":
        this.alone.set(needText(body, "approvalId"), needText(body, "statementDigest"));
        return this.checkAnswer(body, payload);
      case "approval:resolved": {
        const fault = need(body, "status") === "approved" ? await this.checkAnswer(body, payload) : null;
        this.questions.delete(needText(body, "approvalId"));
        this.alone.delete(needText(body, "approvalId"));
        return fault;
      }
      case "setting:changed":
        return this.checkSetting(body, payload);
      default:
        return null;
    }
  }

  /** A change of a setting: signed by the passkey of the person who is on record for it, over this setting and value. */
  private async checkSetting(body: JsonObject, payload: JsonObject | null): Promise<string | null> {
    const setting = needText(body, "setting");
    if (need(body, "credentialId") === null || payload === null) return null;
    const passkey = this.passkeys.get(needText(body, "credentialId"));
    if (passkey === undefined || passkey.personId !== need(body, "principalId")) {
      return `the passkey that signed the change of \`${setting}\` is on record as nobody's or somebody else's`;
    }
    const statement = needText(payload, "statement");
    const signed = parseJson(statement);
    if (!isJsonObject(signed) || !agree(signed, body, ["setting", "value"])) {
      return `what was signed for \`${setting}\` is another change`;
    }
    const fault = await findFaultInAnswer(needObject(payload, "assertion"), hash(encodeText(statement)), true, passkey);
    if (fault !== null) return `the passkey's signature of the change of \`${setting}\` does not hold: ${fault}`;
    this.signatures++;
    return null;
  }

  private async checkAnswer(body: JsonObject, payload: JsonObject | null): Promise<string | null> {
    const id = needText(body, "approvalId");
    const question = this.questions.get(id);
    if (need(body, "credentialId") === null || payload === null || question === undefined) return null;
    const passkey = this.passkeys.get(needText(body, "credentialId"));
    if (passkey === undefined) return `the passkey that answered approval \`${id}\` is on record as nobody's`;
    if (passkey.personId !== need(body, "principalId")) {
      return `the passkey that answered approval \`${id}\` is somebody else's`;
    }
    const alone = this.alone.get(id);
    const challenge = fromHex(alone ?? signedDigest(payload, needText(question, "statementDigest")));
    const mustVerifyPerson = alone !== undefined || need(question, "kind") === "stepUp";
    const fault = await findFaultInAnswer(needObject(payload, "assertion"), challenge, mustVerifyPerson, passkey);
    if (fault !== null) return `the passkey's answer to approval \`${id}\` does not hold: ${fault}`;
    this.signatures++;
    return null;
  }
}
