import type { ReactNode } from "react";

/** Line drawings on a 24 px grid; decoration beside a word that says the same. */
function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="24"
      height="24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

/** The house's sign: one tick for the call, one for the person who countersigns it. */
export function SealIcon() {
  return (
    <Icon>
      <path d="M4.5 9.5l3 3 5-6" opacity="0.65" />
      <path d="M8.5 15.5l3.5 3.5 7.5-9" strokeWidth="2.5" />
    </Icon>
  );
}

export function HomeIcon() {
  return (
    <Icon>
      <path d="M4 11l8-7 8 7v8.5h-5.5V14h-5v5.5H4z" />
    </Icon>
  );
}

export function ApprovalsIcon() {
  return (
    <Icon>
      <path d="M6 3.5h9l3.5 3.5v13.5H6z" />
      <path d="M9 13.5l2.25 2.25L15.5 11" />
    </Icon>
  );
}

export function GrantsIcon() {
  return (
    <Icon>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7v5l3.25 2" />
    </Icon>
  );
}

export function AuditIcon() {
  return (
    <Icon>
      <path d="M5 6h14M5 10.5h14M5 15h9M5 19.5h6" />
    </Icon>
  );
}

export function PasskeysIcon() {
  return (
    <Icon>
      <circle cx="8" cy="9.5" r="4.5" />
      <path d="M11.5 12.5l8 7M16 16.5l2-2.25" />
    </Icon>
  );
}
