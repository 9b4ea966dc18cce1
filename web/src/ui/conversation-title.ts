import { t } from "../language/t.ts";

const CALL = /^Call of (\S+)(.*)$/;
const TOOL = /^The tool (\S+)(.*)$/;

/**
 * The title of a conversation in the page's language. One that begins with a call, or with a look at a tool, is named by the page and
 * kept in English, so that it is not left in the language of the day; what a person wrote is shown as it is.
 */
export function shownTitle(title: string): string {
  const [, called, after = ""] = CALL.exec(title) ?? [];
  if (called !== undefined) return t`Call of ${called}` + after;
  const [, looked, behind = ""] = TOOL.exec(title) ?? [];
  return looked === undefined ? title : t`The tool ${looked}` + behind;
}
