import { expect, test } from "vitest";
import { ChatFailure } from "../../../src/agent/chat.ts";
import { copy } from "../../../src/agent/copy.ts";
import { explainFailure } from "../../../src/agent/gateway.ts";
import { ConnectionLost, RpcError, SessionOver } from "../../../src/protocol/rpc.ts";

test.each([
  [new SessionOver("signedOut"), copy.sessionOver],
  [new ConnectionLost(), copy.gatewayFailed],
  [new RpcError(-32003, "unknown conversation"), copy.notThere],
  [new RpcError(-32000, "the disk is full"), `${copy.gatewayFailed} (the disk is full)`],
  [new ChatFailure("modelUnavailable", "none", "absent"), `${copy.noModel} (none)`],
  [new ChatFailure("refused", "too long"), `${copy.modelRefused} (too long)`],
  [new ChatFailure("failed", "out of memory"), `${copy.modelFailed} (out of memory)`],
  [new ChatFailure("unreachable", "away"), copy.modelSilent],
  [new ChatFailure("brokeOff", "cut"), copy.modelBrokeOff],
  [new ChatFailure("unauthorised", "expired"), copy.modelSilent],
  [new TypeError("undefined is not a function"), copy.gatewayFailed],
  ["a string", copy.gatewayFailed],
])("a failure is told in our words, and never with what only a program understands: %s", (error, words) => {
  expect(explainFailure(error)).toBe(words);
});

test("what was lost on the way is told as whoever sent it would", () => {
  expect(explainFailure(new ConnectionLost(), copy.notSent)).toBe(copy.notSent);
});
