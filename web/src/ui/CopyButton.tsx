import { useState } from "react";
import { t } from "../language/t.ts";
import { Button } from "./Button.tsx";
import { useAnnounce } from "./LiveRegion.tsx";

/** Puts `text` on the clipboard and says so. `what` is the noun in its name: “Copy digest”. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const announce = useAnnounce();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      announce(t`Copied ${what}.`);
    } catch {
      announce(t`The browser does not allow copying; select the ${what} instead.`);
    }
  };
  return (
    <Button size="small" variant="quiet" onClick={copy} onBlur={() => setCopied(false)}>
      {copied ? t`Copied` : t`Copy ${what}`}
    </Button>
  );
}
