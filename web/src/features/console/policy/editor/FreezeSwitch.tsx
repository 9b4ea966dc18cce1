import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { rich } from "../../../../language/rich.ts";
import { t } from "../../../../language/t.ts";
import type { FreezeView } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Dialog } from "../../../../ui/Dialog.tsx";
import { Field } from "../../../../ui/Field.tsx";
import { TimeAgo } from "../../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../../ui/VisibleText.tsx";
import { explain } from "../../errors.ts";
import { useAsk, useSession } from "../../session.tsx";
import { signThaw } from "./signing.ts";

interface FreezeSwitchProps {
  readonly freeze: FreezeView | undefined;
  readonly onDone: () => void;
}

/** Forbids everything at once; a passkey ends that. */
export function FreezeSwitch({ freeze, onDone }: FreezeSwitchProps) {
  const ask = useAsk();
  const { environment } = useSession();
  const [asking, setAsking] = useState(false);
  const [why, setWhy] = useState("");
  const close = () => setAsking(false);
  const stop = useMutation({
    mutationFn: () => ask("policy/freeze", { why }),
    onSuccess: close,
    onSettled: onDone,
  });
  const thaw = useMutation({
    mutationFn: async () => {
      const question = await ask("policy/thaw-question", {});
      const assertion = await environment.askPasskey(await signThaw(question, environment.host));
      return ask("policy/thaw", { assertion: { ...assertion } });
    },
    onSettled: onDone,
  });
  if (freeze !== undefined) {
    return (
      <Banner tone="danger" title={t`Frozen: nothing is allowed, whatever the policy says`}>
        <p>{rich`Since ${<TimeAgo at={freeze.at} />}: ${<VisibleText text={freeze.why} prose />}`}</p>
        {thaw.isError && <p role="alert">{explain(thaw.error)}</p>}
        <Button busy={thaw.isPending} onClick={() => thaw.mutate()}>
          {t`Thaw with your passkey`}
        </Button>
      </Banner>
    );
  }
  return (
    <div className="row">
      <Button variant="danger" onClick={() => setAsking(true)}>
        {t`Freeze everything`}
      </Button>
      <Dialog
        open={asking}
        title={t`Forbid everything at once?`}
        onClose={close}
        actions={
          <Button variant="danger" busy={stop.isPending} disabled={why.trim() === ""} onClick={() => stop.mutate()}>
            {t`Freeze`}
          </Button>
        }
      >
        <p>
          {t`Every call is refused, questions are withdrawn and grants end for good. What runs already runs to its end.`}
        </p>
        <Field label={t`Why`} value={why} onChange={(event) => setWhy(event.target.value)} />
        {stop.isError && <Banner tone="danger" urgent title={explain(stop.error)} />}
      </Dialog>
    </div>
  );
}
