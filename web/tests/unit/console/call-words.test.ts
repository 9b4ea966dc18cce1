import { expect, test } from "vitest";
import { answerWords } from "../../../src/features/console/audit/call-words.ts";

test("the answer to a question about a call is told in words, and one that this build does not know as it is", () => {
  expect(
    [undefined, "approved", "denied", "expired", "cancelled", "ofAnotherBuild"].map((answer) => answerWords(answer)),
  ).toEqual(["none yet", "approved", "denied", "none in time", "none: the question was withdrawn", "ofAnotherBuild"]);
});
