/** What a check says: each of its parts with how it came out, and the first thing that is wrong by its place in the file. */

export type PartStanding = "held" | "failed" | "not reached";

export interface CheckedPart {
  readonly title: string;
  readonly standing: PartStanding;
  readonly detail: string;
}

export interface Fault {
  /** Such as `records[2].payload`, or `line 7`. */
  readonly place: string;
  readonly detail: string;
}

export interface Verdict {
  /** `neither` where the file does not even begin like one of them. */
  readonly kind: "receipt" | "export" | "neither";
  readonly fault: Fault | null;
  readonly parts: readonly CheckedPart[];
  /** Whose log it is: the key that was used. Empty where none could be read. */
  readonly key: string;
  readonly size: number;
  readonly root: string;
  /** How many passkeys' answers hold. */
  readonly signatures: number;
  /** Payloads that the file does not have: erased, or kept back. */
  readonly withheld: number;
  /** Those of them of which a record in the file says that they were erased. */
  readonly erased: number;
  /** What each anchor that it carries shows, and what was not checked of it. */
  readonly anchors: readonly string[];
  /** Whether it is under the checkpoint that was given. */
  readonly anchored: boolean;
}

/** What whoever checks has from elsewhere. */
export interface Kept {
  /** A key of the form `name+hash+key`. */
  readonly key?: string | undefined;
  /** A signed checkpoint. */
  readonly checkpoint?: string | undefined;
  /** The key of a cosigner, of the same form. */
  readonly cosigner?: string | undefined;
  /** The certificates of a time-stamping authority: a file in PEM or DER. */
  readonly authority?: Uint8Array | undefined;
  /** Check the signatures of older checkpoints too. The newest covers all records. */
  readonly everySignature?: boolean | undefined;
}

/** Ends a check: a fault, in one of its parts. */
export class Found extends Error {
  readonly fault: Fault;

  constructor(place: string, detail: string) {
    super(detail);
    this.fault = { place, detail };
  }
}

/** The parts of a check, gone through in their order. */
export class CheckCourse<Name extends string> {
  private readonly titles: Readonly<Record<Name, string>>;
  private readonly done = new Map<Name, string>();
  private at: Name | null = null;

  constructor(titles: Readonly<Record<Name, string>>) {
    this.titles = titles;
  }

  /** Now this part is checked, and whatever fails is its. */
  begin(name: Name): void {
    this.at = name;
  }

  /** A part came to its end. */
  hold(name: Name, detail: string): void {
    this.done.set(name, detail);
  }

  parts(fault: Fault | null): readonly CheckedPart[] {
    return (Object.keys(this.titles) as Name[]).map((name) => {
      const title = this.titles[name];
      if (fault !== null && name === this.at) return { title, standing: "failed", detail: fault.detail };
      const detail = this.done.get(name);
      return detail === undefined
        ? { title, standing: "not reached", detail: "" }
        : { title, standing: "held", detail };
    });
  }
}

/** A number of things, in words. */
export function count(number: number, one: string): string {
  return `${number} ${number === 1 ? one : `${one}s`}`;
}
