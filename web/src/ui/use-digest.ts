import { useEffect, useState } from "react";
import { hashText, toHex } from "./sha256.ts";

/** The hex SHA-256 of a text, undefined until it is computed. */
export function useDigest(text: string): string | undefined {
  const [known, setKnown] = useState<{ readonly text: string; readonly digest: string }>();
  useEffect(() => {
    let current = true;
    hashText(text).then((bytes) => {
      if (current) setKnown({ text, digest: toHex(bytes) });
    });
    return () => {
      current = false;
    };
  }, [text]);
  return known?.text === text ? known.digest : undefined;
}
