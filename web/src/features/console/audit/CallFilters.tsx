import { type FormEvent, useState } from "react";
import { t } from "../../../language/t.ts";
import type { CallChoices } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { Field, SelectField } from "../../../ui/Field.tsx";
import { recentMoment } from "../../../ui/moments.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./CallFilters.module.css";
import { decisionWords } from "./call-words.ts";
import { CALL_LABELS, type CallsView, DECISIONS, EMPTY_VIEW, isNarrowed, NARROWING, RANGES } from "./calls-view.ts";
import { CALL_OUTCOMES, wordOf } from "./outcome-words.ts";

const EXACT = "exact";

interface CallFiltersProps {
  readonly view: CallsView;
  readonly choices: CallChoices | undefined;
  readonly onChange: (view: CallsView) => void;
}

/** What narrows the calls. A choice holds at once; a text when it is sent. */
export function CallFilters({ view, choices, onChange }: CallFiltersProps) {
  const change = (part: Partial<CallsView>) => onChange({ ...view, ...part });
  const select = (label: string, name: keyof CallsView, options: readonly (readonly [string, string])[]) => (
    <SelectField
      label={label}
      options={[["", t`Any`], ...withChosen(options, view[name])]}
      value={view[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  const people = choices?.people.map(({ id, name }) => [id, name] as const) ?? [];
  return (
    <div className={styles.filters}>
      <div className={styles.fields}>
        <TimeField view={view} onChange={change} />
        {select(t`Person`, "person", people)}
        {select(t`Tool`, "tool", same(choices?.tools))}
        {select(t`Outcome`, "outcome", CALL_OUTCOMES)}
        <TextFilter key={view.text} text={view.text} onSend={(text) => change({ text })} />
      </div>
      <details className={styles.more}>
        <summary>{t`More filters`}</summary>
        <div className={styles.fields}>
          {select(t`Decision`, "decision", DECISIONS)}
          {select(t`Source`, "source", same(choices?.sources))}
          {select(t`Model`, "model", same(choices?.models))}
          {select(t`Label`, "label", CALL_LABELS)}
          {select(t`Rule`, "rule", same(choices?.rules))}
          {select(
            t`Policy version`,
            "policy",
            choices?.policyVersions.map((id) => [id, id.slice(0, 16)] as const) ?? [],
          )}
        </div>
      </details>
      <Chosen view={view} choices={choices} onChange={change} onClear={() => onChange(cleared(view))} />
    </div>
  );
}

interface PartProps {
  readonly view: CallsView;
  readonly onChange: (part: Partial<CallsView>) => void;
}

function TimeField({ view, onChange }: PartProps) {
  const options: (readonly [string, string])[] = RANGES.map(([range, words]) => [range, words]);
  const exact = view.from !== "";
  return (
    <SelectField
      label={t`Time`}
      options={
        exact
          ? [
              [EXACT, t`${recentMoment.format(Date.parse(view.from))} to ${recentMoment.format(Date.parse(view.to))}`],
              ...options,
            ]
          : options
      }
      value={exact ? EXACT : view.range}
      onChange={(event) => onChange({ range: event.currentTarget.value, from: "", to: "" })}
    />
  );
}

function TextFilter({ text, onSend }: { readonly text: string; readonly onSend: (text: string) => void }) {
  const [draft, setDraft] = useState(text);
  const send = (event: FormEvent) => {
    event.preventDefault();
    onSend(draft.trim());
  };
  return (
    <form className={styles.text} onSubmit={send}>
      <Field
        label={t`Name or id`}
        type="search"
        value={draft}
        maxLength={200}
        placeholder={t`any`}
        autoComplete="off"
        onChange={(event) => setDraft(event.currentTarget.value)}
      />
      <Button type="submit">{t`Find`}</Button>
    </form>
  );
}

interface ChosenProps extends PartProps {
  readonly choices: CallChoices | undefined;
  readonly onClear: () => void;
}

/** What narrows the view now, each with a button that takes it away. */
function Chosen({ view, choices, onChange, onClear }: ChosenProps) {
  if (!isNarrowed(view)) return null;
  return (
    <ul className={styles.chosen} aria-label={t`Narrowed by`}>
      {NARROWING.filter(([name]) => view[name] !== "").map(([name, words]) => (
        <li key={name}>
          <Button size="small" onClick={() => onChange({ [name]: "" })}>
            {words}: <VisibleText text={wordsFor(name, view[name], choices)} prose fold={false} />
            <span className="visually-hidden">{t`, take this away`}</span>
            <span aria-hidden="true"> ×</span>
          </Button>
        </li>
      ))}
      <li>
        <Button size="small" variant="quiet" onClick={onClear}>
          {t`Take all away`}
        </Button>
      </li>
    </ul>
  );
}

function wordsFor(name: keyof CallsView, value: string, choices: CallChoices | undefined): string {
  if (name === "person") return choices?.people.find(({ id }) => id === value)?.name ?? value;
  if (name === "outcome") return wordOf(value);
  if (name === "decision") return decisionWords(value);
  return CALL_LABELS.find(([label]) => name === "label" && label === value)?.[1] ?? value.slice(0, 40);
}

function cleared(view: CallsView): CallsView {
  return { ...EMPTY_VIEW, range: view.range, from: view.from, to: view.to, group: view.group };
}

function same(values: readonly string[] | undefined): readonly (readonly [string, string])[] {
  return values?.map((value) => [value, value] as const) ?? [];
}

/** A value of the address stays on offer, also where nothing in the log has it. */
function withChosen(
  options: readonly (readonly [string, string])[],
  value: string,
): readonly (readonly [string, string])[] {
  return value === "" || options.some(([option]) => option === value) ? options : [...options, [value, value]];
}
