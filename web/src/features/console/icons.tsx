import type { ReactNode } from "react";

/** A line drawing on a 24 px grid; decoration beside a word that says the same. */
export function LineDrawing({ children }: { readonly children: ReactNode }) {
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

/** The product's logo: one tick for the call, one for the person who countersigns it. */
export function LogoIcon() {
  return (
    <LineDrawing>
      <path d="M4.5 9.5l3 3 5-6" opacity="0.65" />
      <path d="M8.5 15.5l3.5 3.5 7.5-9" strokeWidth="2.5" />
    </LineDrawing>
  );
}
