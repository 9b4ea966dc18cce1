/** The addresses of the shell, which the build gives the gateway: an empty conversation, and one that is stored. */
export const shellPages = [{ path: "/" }, { path: "/c/:id" }] as const;
