import type { ComponentType } from "react";

type Loaded = Promise<{ readonly default: ComponentType }>;

/**
 * How each page but the home page is loaded. This table is fetched after the first page is shown: it names the files of every
 * page, and whoever only looks at the home page needs none of them.
 */
export const pageLoaders = {
  Authorize: async (): Loaded => ({ default: (await import("./account/Authorize.tsx")).Authorize }),
  BackupPage: async (): Loaded => ({ default: (await import("./backup/BackupPage.tsx")).BackupPage }),
  CallPage: async (): Loaded => ({ default: (await import("./audit/CallPage.tsx")).CallPage }),
  Calls: async (): Loaded => ({ default: (await import("./audit/Calls.tsx")).Calls }),
  Clients: async (): Loaded => ({ default: (await import("./clients/Clients.tsx")).Clients }),
  CompareConversations: async (): Loaded => ({
    default: (await import("./audit/CompareConversations.tsx")).CompareConversations,
  }),
  Connect: async (): Loaded => ({ default: (await import("./account/Connect.tsx")).Connect }),
  Device: async (): Loaded => ({ default: (await import("./account/Device.tsx")).Device }),
  Enrol: async (): Loaded => ({ default: (await import("./account/Enrol.tsx")).Enrol }),
  Grants: async (): Loaded => ({ default: (await import("./grants/Grants.tsx")).Grants }),
  Inbox: async (): Loaded => ({ default: (await import("./approvals/Inbox.tsx")).Inbox }),
  Load: async (): Loaded => ({ default: (await import("./audit/Load.tsx")).Load }),
  Models: async (): Loaded => ({ default: (await import("./audit/Models.tsx")).Models }),
  Passkeys: async (): Loaded => ({ default: (await import("./account/Passkeys.tsx")).Passkeys }),
  People: async (): Loaded => ({ default: (await import("./people/People.tsx")).People }),
  Policy: async (): Loaded => ({ default: (await import("./policy/Policy.tsx")).Policy }),
  PolicyEditor: async (): Loaded => ({ default: (await import("./policy/editor/Editor.tsx")).Editor }),
  PolicyExplain: async (): Loaded => ({ default: (await import("./policy/explain/Explain.tsx")).Explain }),
  Records: async (): Loaded => ({ default: (await import("./audit/Records.tsx")).Records }),
  SettingsPage: async (): Loaded => ({ default: (await import("./settings/SettingsPage.tsx")).SettingsPage }),
  SignIn: async (): Loaded => ({ default: (await import("./account/SignIn.tsx")).SignIn }),
  SignInCallback: async (): Loaded => ({ default: (await import("./sources/SignInCallback.tsx")).SignInCallback }),
  SourcePage: async (): Loaded => ({ default: (await import("./sources/SourcePage.tsx")).SourcePage }),
  Sources: async (): Loaded => ({ default: (await import("./sources/Sources.tsx")).Sources }),
};

/** A page that is loaded when it is shown. */
export type LoadedPage = keyof typeof pageLoaders;
