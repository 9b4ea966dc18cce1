import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";
import { keepAdded } from "./added-here.ts";
import { guessName } from "./device-name.ts";
import { canBeTold, digestOfSubscription, findDigest, subscribe, unsubscribe } from "./this-browser.ts";

const key = ["push"] as const;

/** The devices of this person, and which of them this browser is. */
export function usePushState() {
  const ask = useAsk();
  return useQuery({
    queryKey: key,
    queryFn: async () => {
      const state = await ask("push/list", {});
      const digest = state.configured && canBeTold() ? await findDigest() : null;
      return { ...state, here: state.devices.find((device) => device.digest === digest)?.id ?? null };
    },
  });
}

/** Has this browser told, once the person has allowed it. */
export function useTellHere(publicKey: string) {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const subscribed = await subscribe(publicKey);
      await ask("push/add", { name: guessName(navigator.userAgent), ...subscribed });
      keepAdded(await digestOfSubscription(subscribed));
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: key }),
  });
}

/** Has a message sent to a device that says that it is a test. */
export function useTestDevice() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (device: string) => ask("push/test", { device }),
    onError: () => cache.invalidateQueries({ queryKey: key }),
  });
}

/** Tells a device nothing any more. */
export function useForgetDevice() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, isHere }: { readonly id: string; readonly isHere: boolean }) => {
      await ask("push/remove", { device: id });
      if (!isHere) return;
      keepAdded(null);
      await unsubscribe();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: key }),
  });
}
