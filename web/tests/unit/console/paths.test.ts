import { expect, test } from "vitest";
import { destination, enrolmentToken, paths, signInThen } from "../../../src/features/console/paths.ts";
import { CONSOLE } from "./fake-gateway.ts";

test.each([["/approvals/apr_1"], ["/authorize?state=abc%26next%3D%2F"], ["/audit?tool=write_file&outcome=ok"]])(
  "signing in comes back to %s",
  (address) => {
    const search = new URL(signInThen(address), CONSOLE).search;
    expect(destination(search, CONSOLE)).toBe(address);
  },
);

// Security case 45: a link from somebody else must not lead away through the sign-in page.
test.each([
  ["https://evil.example/"],
  ["//evil.example/"],
  ["/\\evil.example/"],
  ["\\\\evil.example"],
  ["/\t/evil.example/"],
  ["javascript:alert(1)"],
  ["data:text/html,x"],
  ["http://console.localhost:9999/"],
  ["signin"],
  ["/signin?next=/signin"],
  [""],
])("a way on to %j is a way home", (next) => {
  expect(destination(`?next=${encodeURIComponent(next)}`, CONSOLE)).toBe(paths.home);
});

test("an id in an address is one segment of it", () => {
  expect(paths.approval("a/../b?c")).toBe("/approvals/a%2F..%2Fb%3Fc");
});

test("the enrolment token is read from behind the hash", () => {
  expect(enrolmentToken("#t=abc-_123")).toBe("abc-_123");
  expect(enrolmentToken("#t=")).toBeNull();
  expect(enrolmentToken("")).toBeNull();
});
