import { type ReactNode, useId, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { t } from "../../language/t.ts";
import { LineDrawing } from "./icons.tsx";
import styles from "./Navigation.module.css";
import type { ConsolePage } from "./pages.tsx";
import { paths } from "./paths.ts";

/** So many entries have room on the narrowest screen, with "More" beside them. */
const FIRST = 4;

interface NavigationProps {
  /** The pages that this person may see; those with a place in the navigation are listed. */
  readonly pages: readonly ConsolePage[];
  /** In the bar of a wide window, or in the dock of a narrow one; a style sheet shows one of the two. */
  readonly place: "bar" | "dock";
}

/** The links to the pages. Where there is no room for all, those after the first few are behind a button. */
export function Navigation({ pages, place }: NavigationProps) {
  const [location] = useLocation();
  const listed = pages.filter(({ navigation }) => navigation !== undefined);
  const isCurrent = ({ path }: ConsolePage) => (path === paths.home ? location === path : location.startsWith(path));
  const links = listed.map((page) => <PageLink key={page.path} page={page} current={isCurrent(page)} />);
  return (
    <nav className={styles[place]} aria-label={t`Console`}>
      {links.slice(0, FIRST)}
      {/* Another page is another menu, and that one is closed. */}
      {links.length > FIRST && (
        <More key={location} current={listed.slice(FIRST).some(isCurrent)}>
          {links.slice(FIRST)}
        </More>
      )}
    </nav>
  );
}

function PageLink({ page, current }: { readonly page: ConsolePage; readonly current: boolean }) {
  if (page.navigation === undefined) return null;
  const { label, icon, Badge } = page.navigation;
  return (
    <Link href={page.path} className={styles.link} aria-current={current ? "page" : undefined}>
      <span className={styles.icon}>
        <LineDrawing>{icon}</LineDrawing>
      </span>
      {label}
      {Badge !== undefined && <Badge />}
    </Link>
  );
}

interface MoreProps {
  /** One of the links is that of the open page. */
  readonly current: boolean;
  readonly children: readonly ReactNode[];
}

/** A disclosure of links (ARIA Authoring Practices, disclosure navigation): no menu, so that Tab goes through it. */
function More({ current, children }: MoreProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what the button in it opened, wherever the focus is.
    <div
      className={styles.more}
      onKeyDown={(event) => open && event.key === "Escape" && close()}
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false)}
    >
      <button
        ref={button}
        type="button"
        className={styles.link}
        aria-expanded={open}
        aria-controls={id}
        data-current={current || undefined}
        onClick={() => setOpen(!open)}
      >
        <span className={styles.icon}>
          <LineDrawing>
            <path d="M5 12h.01M12 12h.01M19 12h.01" />
          </LineDrawing>
        </span>
        {t`More`}
      </button>
      <div id={id} className={styles.others} data-open={open || undefined}>
        {children}
      </div>
    </div>
  );
}
