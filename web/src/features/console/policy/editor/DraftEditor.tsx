import { useMutation } from "@tanstack/react-query";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { t } from "../../../../language/t.ts";
import type { PolicyFault, PolicyProposed, PolicyText } from "../../../../protocol/generated.ts";
import { Banner } from "../../../../ui/Banner.tsx";
import { Button } from "../../../../ui/Button.tsx";
import { Card } from "../../../../ui/Card.tsx";
import { Field, SelectField } from "../../../../ui/Field.tsx";
import { Spinner } from "../../../../ui/Spinner.tsx";
import { explain } from "../../errors.ts";
import { useAsk } from "../../session.tsx";
import { CheckResult } from "./CheckResult.tsx";
import { ChangedLines, Comparison } from "./Differences.tsx";
import { FileEditor } from "./FileEditor.tsx";
import { Propose } from "./Propose.tsx";
import { useCheck } from "./queries.ts";
import { RehearsalPanel } from "./RehearsalPanel.tsx";
import { RunInShadow } from "./Shadow.tsx";
import type { EditorHandle } from "./TextEditor.tsx";
import { bytesOf, documentsOf, isFileName, MOST_BYTES, SCHEMA, type Texts, textsOf } from "./texts.ts";

interface DraftEditorProps {
  readonly active: PolicyText;
  readonly onProposed: (answer: PolicyProposed) => void;
}

/** Texts that somebody writes, and the version that they were made from. */
interface Written {
  readonly texts: Texts;
  readonly base: string;
}

/** The files, what is wrong with them, what they would change, and the way to propose them. */
export function DraftEditor({ active, onProposed }: DraftEditorProps) {
  const inForce = useMemo(() => textsOf(active.documents), [active.documents]);
  // Undefined as long as nothing was changed: then the page shows what is in force, also after it became another version.
  const [written, setWritten] = useState<Written>();
  const texts = written?.texts ?? inForce;
  const [chosen, setChosen] = useState("");
  const name = chosen in texts ? chosen : firstFile(texts);
  const editor = useRef<EditorHandle>(null);
  const [target, setTarget] = useState<PolicyFault>();
  useWarningBeforeLeaving(written !== undefined);
  useEffect(() => {
    if (target === undefined || editor.current === null) return;
    editor.current.goTo(target.line, target.column);
    setTarget(undefined);
  }, [target]);

  const size = useMemo(() => bytesOf(texts), [texts]);
  const change = (next: Texts) => setWritten({ texts: next, base: written?.base ?? active.version });
  const goTo = (fault: PolicyFault) => {
    setChosen(fault.file);
    setTarget(fault);
  };
  return (
    <>
      <Card as="section" labelledBy="policy-files">
        <h2 id="policy-files">{t`Files`}</h2>
        <SelectField
          label={t`File`}
          value={name}
          options={Object.keys(texts).map((each) => [each, texts[each] === inForce[each] ? each : `${each} (changed)`])}
          onChange={(event) => setChosen(event.target.value)}
        />
        <Check texts={texts} name={name} editor={editor} fits={size <= MOST_BYTES} onChange={change} onGoTo={goTo} />
        {size > MOST_BYTES && <TooLarge size={size} />}
        <NewFile
          taken={texts}
          onAdd={(added) => {
            change({ ...texts, [added]: "" });
            setChosen(added);
          }}
        />
        {written !== undefined && (
          <div className="row">
            <Button variant="quiet" onClick={() => setWritten(undefined)}>
              {t`Throw the draft away`}
            </Button>
          </div>
        )}
      </Card>
      {written !== undefined && (
        <Card as="section" labelledBy="policy-draft">
          <h2 id="policy-draft">{t`What the draft changes`}</h2>
          {written.base !== active.version && (
            <Banner tone="waiting" title={t`Another version came into force since you began`}>
              <p>{t`The difference below is from that version. Where the draft would undo it, change the draft.`}</p>
              <Button size="small" onClick={() => setWritten({ ...written, base: active.version })}>
                {t`I have looked at the difference`}
              </Button>
            </Banner>
          )}
          <ChangedLines before={inForce} after={texts} />
          {size <= MOST_BYTES && (
            <>
              <DecidedOtherwise texts={texts} />
              <h3>{t`What it would have done`}</h3>
              <RehearsalPanel texts={texts} />
              <RunInShadow texts={texts} />
              <Propose
                texts={written.texts}
                base={written.base}
                onProposed={(answer) => {
                  if (answer.outcome === "proposed") setWritten(undefined);
                  onProposed(answer);
                }}
              />
            </>
          )}
        </Card>
      )}
    </>
  );
}

const NO_FAULTS: readonly PolicyFault[] = [];

interface CheckProps {
  readonly texts: Texts;
  readonly name: string;
  readonly editor: RefObject<EditorHandle | null>;
  /** Whether the draft can be sent to be examined. */
  readonly fits: boolean;
  readonly onChange: (texts: Texts) => void;
  readonly onGoTo: (fault: PolicyFault) => void;
}

function Check({ texts, name, editor, fits, onChange, onGoTo }: CheckProps) {
  const { check, outdated } = useCheck(texts);
  const faults = useMemo(() => check.data?.faults.filter(({ file }) => file === name) ?? NO_FAULTS, [check.data, name]);
  return (
    <>
      <FileEditor
        ref={editor}
        name={name}
        text={texts[name] ?? ""}
        faults={outdated || !fits ? NO_FAULTS : faults}
        schema={texts[SCHEMA] ?? ""}
        onChange={(text) => onChange({ ...texts, [name]: text })}
      />
      {fits && check.isError && <Banner tone="danger" urgent title={explain(check.error)} />}
      {fits && outdated && <Spinner label={t`Examining the draft`} />}
      {fits && !outdated && check.data !== undefined && <CheckResult check={check.data} onGoTo={onGoTo} />}
    </>
  );
}

/** Said before anything is sent: a message that is too large would cost the connection, and nobody would know why. */
function TooLarge({ size }: { readonly size: number }) {
  return (
    <Banner tone="danger" urgent title={t`This draft is too large to be sent from a page`}>
      <p>
        {t`It takes ${kibOf(size)} KiB, and a page can send ${kibOf(MOST_BYTES)} KiB. Nothing of it is lost and nothing was sent: shorten it, or copy its files into a folder and propose that from the shell of the gateway’s host.`}
      </p>
      <p>
        <code>countersign policy publish FOLDER --reason WHY</code>
      </p>
    </Banner>
  );
}

function kibOf(bytes: number): number {
  return Math.ceil(bytes / 1024);
}

function NewFile({ taken, onAdd }: { readonly taken: Texts; readonly onAdd: (name: string) => void }) {
  const [name, setName] = useState("");
  const allowed = isFileName(name) && !(name in taken);
  return (
    <details>
      <summary>{t`Add a file`}</summary>
      <Field
        label={t`Name of the new file`}
        hint={t`such as team.cedar, or cases/team.toml`}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button
        size="small"
        disabled={!allowed}
        onClick={() => {
          onAdd(name);
          setName("");
        }}
      >
        {t`Add it`}
      </Button>
    </details>
  );
}

function DecidedOtherwise({ texts }: { readonly texts: Texts }) {
  const ask = useAsk();
  const compare = useMutation({
    mutationFn: (given: Texts) => ask("policy/compare", { documents: documentsOf(given) ?? [{ name: "", text: "" }] }),
  });
  return (
    <div className="stack">
      <div className="row">
        <Button busy={compare.isPending} onClick={() => compare.mutate(texts)}>
          {t`Compare over every kind of call`}
        </Button>
      </div>
      {compare.isError && <Banner tone="danger" urgent title={explain(compare.error)} />}
      {compare.data !== undefined && (
        <>
          {compare.variables !== texts && <p className="note">{t`The draft was changed since.`}</p>}
          <Comparison comparison={compare.data} />
        </>
      )}
    </div>
  );
}

/** Rules come first in what people change. */
function firstFile(texts: Texts): string {
  const names = Object.keys(texts);
  return names.find((name) => name.endsWith(".cedar")) ?? names[0] ?? "";
}

function useWarningBeforeLeaving(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [unsaved]);
}
