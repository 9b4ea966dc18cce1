import { useEffect, useState } from "react";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { type Inspection, inspect } from "./challenge.ts";

/** What this browser computed about a question; undefined until it has. */
export function useInspection(question: ApprovalQuestion): Inspection | undefined {
  const [found, setFound] = useState<{ readonly question: ApprovalQuestion; readonly inspection: Inspection }>();
  useEffect(() => {
    let current = true;
    inspect(question).then((inspection) => {
      if (current) setFound({ question, inspection });
    });
    return () => {
      current = false;
    };
  }, [question]);
  return found?.question === question ? found.inspection : undefined;
}
