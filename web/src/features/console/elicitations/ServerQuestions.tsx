import { type FormEvent, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { Elicitation, ElicitationAction } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { useToast } from "../../../ui/Toast.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { useActivated } from "../approvals/activation-delay.ts";
import { explain } from "../errors.ts";
import { useAnswer } from "./answering.ts";
import { FormFields } from "./FormFields.tsx";
import { draftOf, valuesOf } from "./form-values.ts";
import { useElicitations } from "./queries.ts";
import styles from "./ServerQuestions.module.css";

/** What the servers of running tools ask this person; nothing where none asks. */
export function ServerQuestions() {
  const asked = useElicitations().data ?? [];
  if (asked.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="asked">
      <h2 id="asked">{t`Asked by servers`}</h2>
      <ul className="stack">
        {asked.map((each) => (
          <Question key={each.id} asked={each} />
        ))}
      </ul>
    </section>
  );
}

function Question({ asked }: { readonly asked: Elicitation }) {
  const [draft, setDraft] = useState(() => draftOf(asked.fields));
  const activated = useActivated(asked.id);
  const answer = useAnswer();
  const toast = useToast();
  const { source } = asked;
  const give = (action: ElicitationAction) => {
    if (!activated) return;
    const values = action === "accept" ? { values: valuesOf(asked.fields, draft) } : {};
    answer.mutate(
      { elicitationId: asked.id, action, ...values },
      {
        onSuccess: () =>
          toast(action === "accept" ? t`Your answer went to ${source}.` : t`Nothing was sent to ${source}.`),
      },
    );
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    give("accept");
  };
  return (
    <Card as="li" tone="waiting">
      <form className="stack" onSubmit={onSubmit} autoComplete="off" aria-label={t`Question of ${source}`}>
        <h3>{rich`The server ${<code>{source}</code>} asks you`}</h3>
        <Banner tone="info" title={t`This is no approval`}>
          <p>
            {rich`The words and fields below are the server's own. Whatever they say, an answer approves nothing: it is sent to ${<code>{source}</code>} as you write it, and nowhere else. Write no password, key, code or card number.`}
          </p>
        </Banner>
        {asked.speaksOfSecrets && (
          <Banner tone="danger" title={t`It speaks of passwords, keys or codes`}>
            <p>{t`Nobody needs yours here. Decline if you are asked for one.`}</p>
          </Banner>
        )}
        <div className={styles.said}>
          <VisibleText text={asked.message} prose />
        </div>
        <FormFields fields={asked.fields} draft={draft} onChange={setDraft} />
        {answer.isError && <Banner tone="danger" urgent title={explain(answer.error)} />}
        <div className="row">
          <Tag>{asked.tool}</Tag>
          <Countdown until={asked.expiresAt} label={t`Expires in`} />
        </div>
        <div className="row">
          <Button type="submit" variant="primary" busy={answer.isPending} aria-disabled={!activated}>
            {t`Send to ${source}`}
          </Button>
          <Button variant="danger" aria-disabled={!activated || answer.isPending} onClick={() => give("decline")}>
            {t`Decline`}
          </Button>
          <Button variant="quiet" aria-disabled={!activated || answer.isPending} onClick={() => give("cancel")}>
            {t`Give no answer`}
          </Button>
        </div>
      </form>
    </Card>
  );
}
