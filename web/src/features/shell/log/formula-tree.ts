import { __renderToDomTree as renderToTree } from "katex";
import { styledLetter } from "./styled-letters.ts";

// KaTeX gives its tree away, and its types do not say so.
declare module "katex" {
  function __renderToDomTree(tex: string, options: KatexOptions): unknown;
}

/** A piece of text, or an element of MathML. Nothing of it is ever read as HTML. */
export type FormulaPart =
  | string
  | {
      readonly name: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly parts: readonly FormulaPart[];
    };

/** A formula as MathML, or null where it cannot be read and is shown as it was written. */
export type DrawFormula = (tex: string, display: boolean) => FormulaPart | null;

/** What KaTeX is to paint red: commands that it does not know or that are not allowed. */
const ERROR_COLOR = "#bad000";
/** No length of a formula is greater than this many times the size of its letters. */
const GREATEST_EM = 5;
/** A formula may be moved out of its place by so much in all, in the same measure: it must not cover what others say. */
const GREATEST_SHIFT_EM = 3;
const DEEPEST = 40;
const MOST_PARTS = 3_000;

/** Commands with which a few characters become millions, or that name what is outside of the formula. */
const REFUSED =
  /\\(?:[gex]?def|let|futurelet|global|long|(?:new|renew|provide)command|(?:html|href|url|includegraphics)[A-Za-z]*)(?![A-Za-z])/;

const ELEMENTS = new Set(
  "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle mpadded mphantom menclose".split(
    " ",
  ),
);
/** None of a colour, a class, a style or a link. */
const ATTRIBUTES = new Set(
  "display displaystyle scriptlevel stretchy fence separator lspace rspace minsize maxsize symmetric largeop movablelimits linethickness columnalign columnspacing rowspacing columnlines rowlines accent accentunder notation form".split(
    " ",
  ),
);

export const drawFormula: DrawFormula = (tex, display) => {
  if (REFUSED.test(tex)) return null;
  try {
    const tree: unknown = renderToTree(tex, {
      displayMode: display,
      output: "mathml",
      throwOnError: true,
      errorColor: ERROR_COLOR,
      strict: "ignore",
      trust: false,
      maxSize: GREATEST_EM,
      maxExpand: 200,
    });
    return new Drawing().read(mathIn(tree), 0);
  } catch {
    // It is no formula, or one that would overflow the stack.
    return null;
  }
};

/** What KaTeX makes of a formula, as far as it is read here. */
interface Node {
  readonly type?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
  /** Of a space alone: how wide it is in em, and the character that is as wide. */
  readonly width?: number;
  readonly character?: string | null;
}

function mathIn(tree: unknown): Node {
  const math = (tree as Node).children?.find(({ type }) => type === "math");
  if (math === undefined) throw new TypeError("there is no formula in the tree");
  return math;
}

class Refused extends Error {
  override readonly name = "Refused";
}

/** One formula while it is read, with what is left of its bounds. */
class Drawing {
  #parts = 0;
  #shift = 0;

  read(node: Node, depth: number): FormulaPart {
    this.#parts += 1;
    if (this.#parts > MOST_PARTS || depth > DEEPEST) throw new Refused("too large");
    if (node.text !== undefined) return node.text;
    if (node.width !== undefined) return this.#space(node.width, node.character ?? "");
    const name = node.type ?? "";
    const children = node.children ?? [];
    // The source stands in an annotation beside the formula, which is the first.
    if (name === "semantics" && children[0] !== undefined) return this.read(children[0], depth);
    if (name === "" && children.length > 0) return this.#row(children, depth);
    if (!ELEMENTS.has(name)) throw new Refused(`an element ${name}`);
    const variant = node.attributes?.mathvariant;
    const parts = children.map((child) => {
      const part = this.read(child, depth + 1);
      return typeof part === "string" && variant !== undefined ? styledLetter(part, variant) : part;
    });
    return { name, attributes: this.#attributes(name, node.attributes ?? {}), parts };
  }

  #row(children: readonly Node[], depth: number): FormulaPart {
    return { name: "mrow", attributes: {}, parts: children.map((child) => this.read(child, depth + 1)) };
  }

  #space(em: number, character: string): FormulaPart {
    if (character !== "") return { name: "mtext", attributes: {}, parts: [character] };
    return { name: "mspace", attributes: { width: this.#length(`${em}em`) }, parts: [] };
  }

  #attributes(element: string, given: Readonly<Record<string, string>>): Record<string, string> {
    const kept: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      if (name === "mathcolor" && value === ERROR_COLOR) throw new Refused("a command that is not known");
      // A bar is a space with a ground, and would be a space without it.
      if (name === "mathbackground" && element === "mspace") throw new Refused("a bar");
      // Upright letters are the one style that every browser draws by itself.
      if (name === "mathvariant" && value === "normal") kept[name] = value;
      else if (element === "mpadded") {
        if (name === "voffset") kept[name] = this.#length(value, true);
      } else if (ATTRIBUTES.has(name)) kept[name] = this.#length(value);
    }
    return kept;
  }

  /** A value whose lengths are bounded, and with which the formula stays where it is. */
  #length(value: string, moves = false): string {
    for (const [, length] of value.matchAll(/(-?[\d.]+)(?:em|ex|px|pt)/g)) {
      const em = Number(length);
      if (moves || em < 0) this.#shift += Math.abs(em);
      if (!(em <= GREATEST_EM && this.#shift <= GREATEST_SHIFT_EM)) throw new Refused("moved out of its place");
    }
    return value;
  }
}
