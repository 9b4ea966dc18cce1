import { useMemo, useState } from "react";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { type ArgumentRow, argumentPages } from "./argument-pages.ts";

/** Where a person is in the arguments of a call, and how much of them they have not had in sight yet. */
export interface Reading {
  readonly pages: readonly (readonly ArgumentRow[])[];
  readonly page: number;
  readonly unread: number;
  readonly turn: (page: number) => void;
}

/** The reading of one question; it begins at the first page. */
export function useReading({ approval, order }: ApprovalQuestion): Reading {
  const [page, setPage] = useState(0);
  const [furthest, setFurthest] = useState(0);
  const pages = useMemo(() => argumentPages(order, approval.arguments), [order, approval.arguments]);
  const turn = (next: number) => {
    setPage(next);
    setFurthest(Math.max(furthest, next));
  };
  return { pages, page, unread: pages.length - 1 - furthest, turn };
}
