import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useAsk } from "../session.tsx";
import { addedHere } from "./added-here.ts";

/** Keeps this browser told: looks when the console is opened, and when the worker says that the subscription has changed. */
export function useRenewal(): void {
  const ask = useAsk();
  const cache = useQueryClient();
  useEffect(() => {
    if (!("serviceWorker" in navigator)) return;
    const renew = async () => {
      if (addedHere() === null) return;
      try {
        const { renewHere } = await import("./renewal.ts");
        if (await renewHere(ask)) await cache.invalidateQueries({ queryKey: ["push"] });
      } catch {
        // The list of devices says that this browser is none; nobody is kept from anything else.
      }
    };
    void renew();
    navigator.serviceWorker.addEventListener("message", renew);
    return () => navigator.serviceWorker.removeEventListener("message", renew);
  }, [ask, cache]);
}
