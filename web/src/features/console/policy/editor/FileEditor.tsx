import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { t } from "../../../../language/t.ts";
import { CheckField } from "../../../../ui/Field.tsx";
import { useAsk } from "../../session.tsx";
import { TextEditor, type TextEditorProps } from "./TextEditor.tsx";

const CodeEditor = lazy(async () => ({ default: (await import("./code/CodeEditor.tsx")).CodeEditor }));

/** A field that draws its own text is in the way of a touch keyboard. */
const TOUCHED = "(pointer: coarse)";

interface FileEditorProps extends TextEditorProps {
  readonly schema: string;
}

/** The editor with colours and completion, or the browser's own field, as the person likes. */
export function FileEditor({ schema, ...file }: FileEditorProps) {
  const [plain, setPlain] = useState(() => window.matchMedia(TOUCHED).matches);
  const tools = useToolNames();
  const field = <TextEditor {...file} />;
  return (
    <>
      {plain ? (
        field
      ) : (
        <Suspense fallback={field}>
          <CodeEditor key={file.name} {...file} schema={schema} tools={tools} />
        </Suspense>
      )}
      <CheckField
        label={t`Plain text`}
        hint={t`without colours and completion, for a screen reader or a phone`}
        checked={plain}
        onChange={({ target }) => setPlain(target.checked)}
      />
    </>
  );
}

const NONE: readonly string[] = [];

function useToolNames(): readonly string[] {
  const ask = useAsk();
  const described = useQuery({
    queryKey: ["policy-tools"],
    queryFn: () => ask("policy/describe", {}),
    select: ({ tools }) => tools.map(({ descriptor }) => descriptor.name),
  });
  return described.data ?? NONE;
}
