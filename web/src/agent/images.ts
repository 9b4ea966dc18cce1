import limits from "../../../loop/limits.json" with { type: "json" };
import { ATTACHER } from "./attached.ts";
import type { Message } from "./messages.ts";

const SEEN: readonly string[] = ["image/png", "image/jpeg", "image/webp"];

/** The ids of the images that came in with a message. */
export function imagesOf(message: Message): readonly string[] {
  if (message.role !== "tool" || message.call.name !== ATTACHER) return [];
  const { attachments = [] } = message.result;
  return attachments.filter(({ mediaType }) => SEEN.includes(mediaType)).map(({ id }) => id);
}

/** The newest ones, as many as are shown at once. */
export function shownImages(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap(imagesOf).slice(-limits.shownImages));
}
