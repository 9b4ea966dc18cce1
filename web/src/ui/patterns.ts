import type { Pattern } from "../protocol/generated.ts";

/** Within what an argument may vary, to be read after its name. */
export function describePattern({ kind, bound }: Pattern): string {
  switch (kind) {
    case "folder":
      return `anywhere in the folder ${bound}/`;
    case "host":
      return `anywhere at ${bound}`;
    case "atMost":
      return `from 0 to ${bound}`;
  }
}
