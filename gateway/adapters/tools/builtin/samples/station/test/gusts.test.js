import assert from "node:assert/strict";
import { test } from "node:test";
import { speeds, strongestGust } from "../src/gusts.js";

test("a turn per second is 2.4 km/h", () => assert.deepEqual(speeds([1, 10]), [2.4, 24]));

test("a gust is the mean of three seconds", () => assert.equal(strongestGust([0, 10, 20, 30, 0]), 48));

test("two seconds are too short for a gust", () => assert.equal(strongestGust([30, 30]), 0));
