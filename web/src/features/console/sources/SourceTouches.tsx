import { t } from "../../../language/t.ts";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { describeTouches, type SettingsOfSource } from "./touches.ts";

/** What a source may touch, in words, and its settings as they are stored. */
export function SourceTouches({ source }: { readonly source: SettingsOfSource }) {
  return (
    <>
      <KeyValue
        rows={describeTouches(source).map(({ name, says, values }) => ({
          name,
          value: (
            <>
              {says !== undefined && <p>{says}</p>}
              {values.length > 0 && (
                <ul>
                  {values.map((value, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the words of one setting never move
                    <li key={index}>
                      <VisibleText text={value} />
                    </li>
                  ))}
                </ul>
              )}
            </>
          ),
        }))}
      />
      <details>
        <summary>{t`All settings`}</summary>
        <JsonView value={source.settings} />
      </details>
    </>
  );
}
