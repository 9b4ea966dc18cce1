import type { ModelInfo, Tier } from "../protocol/generated.ts";
import { chainedLane } from "./chained-lane.ts";
import { jsonLane } from "./json-lane.ts";
import type { Lane } from "./lane.ts";
import { nativeLane } from "./native-lane.ts";

/** By the loop that a model can carry: a property of its weights, which the gateway has found out by trying them. */
const LANES: Readonly<Record<Tier, Lane>> = { native: nativeLane, chained: chainedLane, single: jsonLane };

/** The tier of a model. One that does not say is taken at what it always said: whether it takes declared tools. */
export function tierOf({ tier, supportsTools }: Pick<ModelInfo, "tier" | "supportsTools">): Tier {
  return tier ?? (supportsTools ? "native" : "single");
}

/** The lane of its tier. */
export function laneFor(model: ModelInfo): Lane {
  return LANES[tierOf(model)];
}
