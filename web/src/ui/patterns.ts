import { t } from "../language/t.ts";
import type { Pattern } from "../protocol/generated.ts";

/** Within what an argument may vary, to be read after its name. */
export function describePattern({ kind, bound }: Pattern): string {
  switch (kind) {
    case "folder":
      return t`anywhere in the folder ${bound}/`;
    case "host":
      return t`anywhere at ${bound}`;
    case "atMost":
      return t`from 0 to ${bound}`;
  }
}
