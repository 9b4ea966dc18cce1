import console from "./console.json" with { type: "json" };
import effects from "./effects.ts";
import errors from "./errors.ts";
import reasons from "./reasons.ts";
import ui from "./ui.json" with { type: "json" };
import verifier from "./verifier.json" with { type: "json" };
import faults from "./verifier-faults.json" with { type: "json" };

/** What the check of a call says, which the page that works alone has as well. */
const check = Object.fromEntries(
  Object.entries({ ...verifier, ...faults }).map(([english, text]) => [`check:${english}`, text]),
);

export default { ...ui, ...console, ...errors, ...reasons, ...effects, ...check };
