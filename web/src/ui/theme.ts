/** Which colours: those that the system prefers, or one kind always. */
export type Theme = "system" | "light" | "dark";

const DARK = "(prefers-color-scheme: dark)";

/** The rules for dark colours, kept because their condition is changed. */
const darkRules = new Set<CSSMediaRule>();

/** Shows the page in these colours from now on. */
export function applyTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === "system" ? "" : theme;
  for (const sheet of document.styleSheets) collect(sheet.cssRules);
  for (const rule of darkRules) rule.media.mediaText = theme === "system" ? DARK : theme === "dark" ? "all" : "not all";
}

function collect(rules: CSSRuleList): void {
  for (const rule of rules) {
    if (rule instanceof CSSMediaRule && rule.conditionText === DARK) darkRules.add(rule);
    else if (rule instanceof CSSGroupingRule) collect(rule.cssRules);
  }
}
