/**
 * Takes away what jsdom and Testing Library spend a third of these tests' time on: the style of every ancestor of every element that
 * is asked for by its role, and the page in print at each try of a wait.
 */
if (typeof document !== "undefined") {
  const { configure, prettyDOM } = await import("@testing-library/dom");
  configure({ getElementError: (message, container) => lateError(message ?? "", () => prettyDOM(container) || "") });
  keepStyles();
}

/** An error that prints the page when somebody reads it. */
function lateError(message: string, print: () => string): Error {
  const error = new Error(message);
  let told: string | undefined;
  const read = (): string => {
    told ??= `${message}\n\n${print()}`;
    return told;
  };
  const write = (text: string): void => {
    told = text;
  };
  return Object.defineProperty(error, "message", { configurable: true, get: read, set: write });
}

/** No style sheet of the apps is loaded here, so elements that are alike in what the browser's own sheet asks look alike. */
function keepStyles(): void {
  const styleOf = window.getComputedStyle.bind(window);
  const kept = new Map<string, CSSStyleDeclaration>();
  window.getComputedStyle = (element, pseudo) => {
    const asked = ["style", "hidden", "open", "type"].map((name) => element.getAttribute(name));
    const key = JSON.stringify([element.tagName, pseudo, ...asked]);
    const style = kept.get(key) ?? styleOf(element, pseudo);
    kept.set(key, style);
    return style;
  };
}

export {};
