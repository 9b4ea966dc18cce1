import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { StoppedView } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { explain } from "../errors.ts";
import { useAllowQuestions } from "./allow-questions.ts";
import { useStopped } from "./queries.ts";

/** What asks this person nothing more, because they said no so often, each with the button that lets it ask again. */
export function StoppedQuestions() {
  const stopped = useStopped().data ?? [];
  return stopped.map((each) => <Stop key={each.turnId ?? each.sessionId} stopped={each} />);
}

function Stop({ stopped }: { readonly stopped: StoppedView }) {
  const allow = useAllowQuestions();
  const toast = useToast();
  const { sessionId, denials, conversationId, turnId } = stopped;
  const onAllow = () => allow.mutate(stopped, { onSuccess: () => toast(t`The agent may ask you again.`) });
  return (
    <Banner
      tone="waiting"
      title={turnId === undefined ? t`A session of the shell asks you nothing more` : t`A turn asks you nothing more`}
    >
      {turnId === undefined ? (
        <p>
          {rich`You said no ${denials} times in a row to session ${<code>{sessionId}</code>}. Every call of it that needs you is turned down at once, whatever turn and conversation it comes from, until you let it ask again.`}
        </p>
      ) : (
        <p>
          {rich`You said no ${denials} times in the open turn of conversation ${<code>{conversationId}</code>}. Every call of it that needs you is turned down at once, until you let it ask again. The next turn may ask.`}
        </p>
      )}
      {allow.isError && <p role="alert">{explain(allow.error)}</p>}
      <div>
        <Button busy={allow.isPending} onClick={onAllow}>
          {t`Let it ask again`}
        </Button>
      </div>
    </Banner>
  );
}
