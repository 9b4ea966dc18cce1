/*
 * What the shell loads when the first turn is near: the loop, and what the person's own settings add to it. It is the larger part
 * of this program.
 */

export { TurnRunner } from "../../agent/runner.ts";
export { personalChat, withRoom } from "./personal-chat.ts";
