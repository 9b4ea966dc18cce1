import { LANGUAGES, language, speak } from "../language/language.ts";
import { t } from "../language/t.ts";
import { SelectField } from "./Field.tsx";

/** The page's language. What is chosen holds at once, for the page loads again, and for this app in this browser only. */
export function LanguageField() {
  return (
    <SelectField
      label={t`Language`}
      hint={t`The page loads again in it.`}
      value={language}
      options={LANGUAGES}
      onChange={({ currentTarget: { value } }) => {
        const chosen = LANGUAGES.find(([each]) => each === value);
        if (chosen !== undefined) speak(chosen[0]);
      }}
    />
  );
}
