import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useMemo, useState } from "react";
import { t } from "../../../../language/t.ts";
import type { ImaginedCall, Profile } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { CheckField, Field, SelectField, TextAreaField } from "../../../../ui/Field.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { FormFields } from "../../elicitations/FormFields.tsx";
import { draftOf, type FormDraft, valuesOf } from "../../elicitations/form-values.ts";
import { explain } from "../../errors.ts";
import { useAsk } from "../../session.tsx";
import { Explanation } from "./Explanation.tsx";
import { formOf, type SchemaForm } from "./schema-fields.ts";
import { readMinute, WEEKDAYS } from "./sentences.ts";

const PROFILES = [
  ["operator", t`Operator`],
  ["guest", t`Guest`],
  ["anonymous", t`Visitor`],
] as const satisfies readonly (readonly [Profile, string])[];

const LABELS = ["public", "internal", "confidential", "high"] as const;
const LABEL_NAMES = { public: t`public`, internal: t`internal`, confidential: t`confidential`, high: t`high` } as const;

/** A call that nobody makes: its tool, its arguments by the tool's own schema, who, and in what conversation. */
export function ImagineCall() {
  const ask = useAsk();
  const described = useQuery({ queryKey: ["policy-tools"], queryFn: () => ask("policy/describe", {}) });
  const [tool, setTool] = useState("");
  const list = useId();
  const chosen = described.data?.tools.find(({ descriptor }) => descriptor.name === tool)?.descriptor;
  const form = useMemo(() => formOf(chosen?.paramSchema), [chosen]);
  if (described.isError) return <Banner tone="danger" urgent title={explain(described.error)} />;
  if (described.data === undefined) return <Spinner label={t`Asking for the tools`} />;
  return (
    <Card as="section" label={t`Imagine a call`}>
      <Field
        label={t`Tool`}
        hint={t`Its name; what you type is completed.`}
        list={list}
        value={tool}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTool(event.target.value)}
      />
      <datalist id={list}>
        {described.data.tools.map(({ descriptor }) => (
          <option key={descriptor.name} value={descriptor.name} />
        ))}
      </datalist>
      {chosen === undefined ? (
        tool !== "" && <p role="status">{t`No tool has that name yet.`}</p>
      ) : (
        <Circumstances key={chosen.name} tool={chosen.name} form={form} />
      )}
    </Card>
  );
}

function Circumstances({ tool, form }: { readonly tool: string; readonly form: SchemaForm }) {
  const ask = useAsk();
  const [draft, setDraft] = useState<FormDraft>(() => draftOf(form.fields));
  const [further, setFurther] = useState("{}");
  const [person, setPerson] = useState("");
  const [profile, setProfile] = useState<Profile>("operator");
  const [label, setLabel] = useState<(typeof LABELS)[number]>("public");
  const [tainted, setTainted] = useState(false);
  const [time, setTime] = useState("12:00");
  const [weekday, setWeekday] = useState(1);
  const others = readObject(further);
  const minuteOfDay = readMinute(time);
  const run = useMutation({ mutationFn: (imagined: ImaginedCall) => ask("policy/explain", { imagined }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (others === undefined || minuteOfDay === undefined) return;
    const given = { ...others, ...valuesOf(form.fields, draft) };
    run.mutate({
      tool,
      arguments: given,
      profile,
      label,
      tainted,
      minuteOfDay,
      weekday,
      ...(person !== "" && { person }),
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h2>{t`Its arguments`}</h2>
      <FormFields fields={form.fields} draft={draft} onChange={setDraft} />
      {form.others.length > 0 && (
        <TextAreaField
          label={t`Further arguments, as JSON`}
          hint={t`An object, with ${form.others.join(", ")}`}
          value={further}
          error={others === undefined ? t`This is no JSON object.` : undefined}
          onChange={(event) => setFurther(event.target.value)}
        />
      )}
      <h2>{t`Who, and when`}</h2>
      <SelectField
        label={t`Profile`}
        value={profile}
        options={PROFILES}
        onChange={(event) => setProfile(PROFILES.find(([each]) => each === event.target.value)?.[0] ?? "operator")}
      />
      <Field
        label={t`Person, optional`}
        hint={t`An id, for rules that name somebody`}
        value={person}
        onChange={(event) => setPerson(event.target.value)}
      />
      <SelectField
        label={t`Label of the conversation`}
        value={label}
        options={LABELS.map((each) => [each, LABEL_NAMES[each]])}
        onChange={(event) => setLabel(LABELS.find((each) => each === event.target.value) ?? "public")}
      />
      <CheckField
        label={t`It has read untrusted content`}
        checked={tainted}
        onChange={(event) => setTainted(event.target.checked)}
      />
      <SelectField
        label={t`Day`}
        value={String(weekday)}
        options={WEEKDAYS.map((each, index) => [String(index + 1), each])}
        onChange={(event) => setWeekday(Number(event.target.value))}
      />
      <Field
        label={t`Time`}
        hint={t`In the time zone of the gateway, such as 18:30`}
        value={time}
        error={minuteOfDay === undefined ? t`Write a time from 00:00 to 23:59.` : undefined}
        onChange={(event) => setTime(event.target.value)}
      />
      <div className="row">
        <Button type="submit" variant="primary" busy={run.isPending}>
          {t`Explain it`}
        </Button>
      </div>
      {run.isError && <Banner tone="danger" urgent title={explain(run.error)} />}
      {run.data !== undefined && <Explanation told={run.data} />}
    </form>
  );
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
