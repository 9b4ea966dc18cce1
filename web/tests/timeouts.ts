/** Waits are bounded so that a hang fails, and bounded generously: a busy machine is no bug. */
if (typeof document !== "undefined") {
  const { configure } = await import("@testing-library/dom");
  configure({ asyncUtilTimeout: 10_000 });
}

export {};
