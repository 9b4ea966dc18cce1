import { t } from "../../language/t.ts";
import { JsonView } from "../../ui/JsonView.tsx";
import { KeyValue } from "../../ui/KeyValue.tsx";
import { VisibleText } from "../../ui/VisibleText.tsx";

/** The arguments of a call, one to a row. */
export function Arguments({ given }: { readonly given: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(given).map(([name, value]) => ({
    name,
    term: <VisibleText text={name} />,
    value: <JsonView value={value} />,
  }));
  return rows.length === 0 ? <p>{t`None.`}</p> : <KeyValue rows={rows} />;
}
