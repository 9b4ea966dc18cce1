import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { useSession } from "../session.tsx";

/** Goes to the shell in this window, which signs itself in if it has no session. */
export function StartWorking({ agentOrigin }: { readonly agentOrigin: string }) {
  const { environment } = useSession();
  const start = () => {
    environment.shellWish.note();
    environment.navigateTo(`${agentOrigin}/#start`);
  };
  return (
    <Button variant="primary" onClick={start}>
      {t`Start working`}
    </Button>
  );
}
