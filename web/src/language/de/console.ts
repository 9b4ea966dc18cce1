import console from "./console.json" with { type: "json" };
import errors from "./errors.ts";
import reasons from "./reasons.ts";
import ui from "./ui.json" with { type: "json" };

export default { ...ui, ...console, ...errors, ...reasons };
