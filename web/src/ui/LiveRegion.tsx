import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

type Announce = (message: string) => void;

const Announcer = createContext<Announce>(() => {});

/** Says a sentence to people who do not see the screen, politely: after what is being read. */
export function useAnnounce(): Announce {
  return useContext(Announcer);
}

/** The one polite region of the page. Two of them, in turn, so that the same sentence twice is also said twice. */
export function LiveRegion({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ message: "", turn: 0 });
  const announce = useCallback<Announce>((message) => setSaid((before) => ({ message, turn: 1 - before.turn })), []);
  return (
    <Announcer value={announce}>
      {children}
      <div className="visually-hidden" role="status">
        {said.turn === 0 ? said.message : ""}
      </div>
      <div className="visually-hidden" role="status">
        {said.turn === 1 ? said.message : ""}
      </div>
    </Announcer>
  );
}
