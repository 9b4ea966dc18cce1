import { type ComponentType, lazy, type ReactNode } from "react";
import { t } from "../../language/t.ts";
import { PendingCount } from "./approvals/PendingCount.tsx";
import { Home } from "./home/Home.tsx";
import type { LoadedPage } from "./page-loaders.ts";
import { paths } from "./paths.ts";

/** One page of the console. The build gives the gateway the paths of the table, so that it serves the console there. */
export interface ConsolePage {
  /** An address of this console; `:name` stands for one segment. */
  readonly path: string;
  /** What the window is called while the page is open. */
  readonly title: string;
  /**
   * Who may see it; `reader` is whoever is signed in, auditors too, and they see no other page. Others are told so and find no
   * link to it; what the gateway answers them is for the gateway to decide.
   */
  readonly access: "anyone" | "reader" | "signedIn" | "operator";
  readonly component: ComponentType;
  /** What is loaded when it is shown. The build gives the gateway the files, so that they come with the page itself. */
  readonly loads?: LoadedPage;
  /** The page's place in the navigation. A page without one is reached by a link. */
  readonly navigation?: NavigationEntry;
}

interface NavigationEntry {
  readonly label: string;
  /** The shapes of a line drawing on a 24 px grid. */
  readonly icon: ReactNode;
  /** What stands behind the label, such as a count. */
  readonly Badge?: ComponentType;
}

// Time runs while a question is opened, so its page needs no table first.
const loadReview = async () => ({ default: (await import("./approvals/ApprovalReview.tsx")).ApprovalReview });
const ApprovalReview = lazy(loadReview);

const loadPageLoaders = async () => (await import("./page-loaders.ts")).pageLoaders;
const page = (name: LoadedPage) => ({ component: lazy(async () => (await loadPageLoaders())[name]()), loads: name });

/**
 * Every page of the console, in the order of the navigation: the most used first, since a phone shows four and keeps the others
 * behind "More". A new page is a row here, and nothing else in this folder.
 */
export const consolePages: readonly ConsolePage[] = [
  {
    path: paths.home,
    title: t`Home`,
    access: "signedIn",
    component: Home,
    navigation: { label: t`Home`, icon: <path d="M4 11l8-7 8 7v8.5h-5.5V14h-5v5.5H4z" /> },
  },
  {
    path: paths.approvals,
    title: t`Approvals`,
    access: "signedIn",
    ...page("Inbox"),
    navigation: {
      label: t`Approvals`,
      icon: (
        <>
          <path d="M6 3.5h9l3.5 3.5v13.5H6z" />
          <path d="M9 13.5l2.25 2.25L15.5 11" />
        </>
      ),
      Badge: PendingCount,
    },
  },
  { path: `${paths.approvals}/:id`, title: t`Approval`, access: "signedIn", component: ApprovalReview },
  {
    path: paths.grants,
    title: t`Grants`,
    access: "signedIn",
    ...page("Grants"),
    navigation: {
      label: t`Grants`,
      icon: (
        <>
          <circle cx="12" cy="12" r="8.5" />
          <path d="M12 7v5l3.25 2" />
        </>
      ),
    },
  },
  {
    path: paths.audit,
    title: t`Audit`,
    access: "reader",
    ...page("Calls"),
    navigation: { label: t`Audit`, icon: <path d="M5 6h14M5 10.5h14M5 15h9M5 19.5h6" /> },
  },
  { path: `${paths.audit}/calls/:position`, title: t`Call`, access: "reader", ...page("CallPage") },
  {
    path: paths.auditCompare,
    title: t`Compare conversations`,
    access: "reader",
    ...page("CompareConversations"),
  },
  { path: paths.auditRecords, title: t`Every record`, access: "reader", ...page("Records") },
  { path: paths.auditLoad, title: t`Load on people`, access: "reader", ...page("Load") },
  { path: paths.auditModels, title: t`Models`, access: "reader", ...page("Models") },
  {
    path: paths.policy,
    title: t`Policy`,
    access: "signedIn",
    ...page("Policy"),
    navigation: {
      label: t`Policy`,
      icon: (
        <>
          <path d="M12 3.5l7.5 3v5.5c0 4-3 7-7.5 8.5-4.5-1.5-7.5-4.5-7.5-8.5V6.5z" />
          <path d="M9 12h6" />
        </>
      ),
    },
  },
  { path: paths.policyExplain, title: t`Explain a call`, access: "operator", ...page("PolicyExplain") },
  { path: paths.policyEditor, title: t`Policy editor`, access: "operator", ...page("PolicyEditor") },
  {
    path: paths.clients,
    title: t`Clients`,
    access: "signedIn",
    ...page("Clients"),
    navigation: {
      label: t`Clients`,
      icon: (
        <>
          <path d="M4 5.5h16v10H4z" />
          <path d="M9 19.5h6M12 15.5v4" />
        </>
      ),
    },
  },
  {
    path: paths.sources,
    title: t`Sources`,
    access: "operator",
    ...page("Sources"),
    navigation: {
      label: t`Sources`,
      icon: (
        <>
          <path d="M9 3.5v4M15 3.5v4M6.5 7.5h11v4a5.5 5.5 0 0 1-11 0z" />
          <path d="M12 17v3.5" />
        </>
      ),
    },
  },
  { path: `${paths.sources}/:name`, title: t`Source`, access: "operator", ...page("SourcePage") },
  { path: `${paths.sources}/:name/callback`, title: "Sign-in", access: "operator", ...page("SignInCallback") },
  {
    path: paths.people,
    title: t`People`,
    access: "operator",
    ...page("People"),
    navigation: {
      label: t`People`,
      icon: (
        <>
          <circle cx="9" cy="8.5" r="3.5" />
          <path d="M3 19.5c0-3.5 2.5-5.5 6-5.5s6 2 6 5.5M15.5 5.5a3.5 3.5 0 0 1 0 6M17.5 14.5c2.25.5 3.5 2.25 3.5 5" />
        </>
      ),
    },
  },
  {
    path: paths.passkeys,
    title: t`Passkeys`,
    access: "signedIn",
    ...page("Passkeys"),
    navigation: {
      label: t`Passkeys`,
      icon: (
        <>
          <circle cx="8" cy="9.5" r="4.5" />
          <path d="M11.5 12.5l8 7M16 16.5l2-2.25" />
        </>
      ),
    },
  },
  {
    path: paths.settings,
    title: t`Settings`,
    access: "operator",
    ...page("SettingsPage"),
    navigation: {
      label: t`Settings`,
      icon: (
        <>
          <path d="M4 7.5h8M17 7.5h3M4 16.5h3M12 16.5h8" />
          <circle cx="14.5" cy="7.5" r="2.5" />
          <circle cx="9.5" cy="16.5" r="2.5" />
        </>
      ),
    },
  },
  {
    path: paths.backup,
    title: t`Backup`,
    access: "operator",
    ...page("BackupPage"),
    navigation: {
      label: t`Backup`,
      icon: (
        <>
          <path d="M4 5h16v4.5H4zM5.5 9.5v10h13v-10" />
          <path d="M12 12v4.5M9.75 14.5L12 16.75l2.25-2.25" />
        </>
      ),
    },
  },
  { path: paths.authorize, title: t`Continue to the shell`, access: "signedIn", ...page("Authorize") },
  { path: paths.connect, title: t`Connect a program`, access: "signedIn", ...page("Connect") },
  { path: paths.enrol, title: t`Register your passkey`, access: "anyone", ...page("Enrol") },
  { path: paths.device, title: t`Register this device`, access: "anyone", ...page("Device") },
  { path: paths.signIn, title: t`Sign in`, access: "anyone", ...page("SignIn") },
];

/**
 * Asks for the page of a question at once, since time runs while it is opened, and for the list of calls, which everybody may
 * see, while the gateway says who is signed in. Any other page loads when it is shown.
 */
export function loadAhead(address: string): void {
  // Whoever cannot have it now asks again by showing it.
  if (address.startsWith(`${paths.approvals}/`)) void loadReview().catch(() => undefined);
  else if (address === paths.audit)
    void loadPageLoaders()
      .then((loaders) => loaders.Calls())
      .catch(() => undefined);
  else if (address !== paths.home) void loadPageLoaders().catch(() => undefined);
}

/** Once the first page is there: what the next one is loaded with, so that going to it takes one round trip and not two. */
export function loadBehind(): void {
  void loadPageLoaders().catch(() => undefined);
}
