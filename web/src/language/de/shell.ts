import calls from "./calls.ts";
import effects from "./effects.ts";
import errors from "./errors.ts";
import loop from "./loop.ts";
import reasons from "./reasons.ts";
import shell from "./shell.json" with { type: "json" };
import ui from "./ui.json" with { type: "json" };

export default { ...ui, ...shell, ...errors, ...reasons, ...effects, ...calls, ...loop };
