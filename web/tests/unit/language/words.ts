import ts from "typescript";
import { keyOf } from "../../../src/language/t.ts";

/** Attributes of elements that people read or hear. */
const READ_ATTRIBUTES = new Set([
  "aria-label",
  "aria-description",
  "aria-valuetext",
  "alt",
  "placeholder",
  "title",
  "label",
  "hint",
]);

/** Attributes that hold names for machines, whatever they look like. */
const MACHINE_ATTRIBUTES =
  /^(className|id|key|href|to|name|type|role|htmlFor|rel|target|autoComplete|inputMode|lang|d|viewBox|transform|fill|stroke.*|aria-(current|live|controls|haspopup|sort|autocomplete|labelledby|describedby|relevant)|data-.*|translate|variant|tone|size|method|rows|pattern|dateTime|form|colour|kind|enterKeyHint|src|scope|language|path)$/;

/** Calls whose texts are for machines: selectors, names of events, keys of storage, parts of addresses. */
const MACHINE_CALLS =
  /^(querySelector(All)?|closest|matches|addEventListener|removeEventListener|getElementById|createElement(NS)?|setAttribute|getAttribute|hasAttribute|toggleAttribute|matchMedia|startsWith|endsWith|includes|indexOf|split|join|replace(All)?|test|exec|match(All)?|localeCompare|getItem|setItem|removeItem|read|write|set|get|has|delete|append|toLocaleString|DateTimeFormat|NumberFormat|RelativeTimeFormat|ListFormat|PluralRules|Segmenter|Collator|RegExp|Set|URL|Worker|Event|CustomEvent|BroadcastChannel|Error|TypeError|RangeError|DOMException|SharedWorker|fetch|request|call|open|getContext|importKey|digest|from|of|define|mark|register)$/;

/** Tags of templates whose words are in the catalogue. */
export const TAGS: ReadonlySet<string> = new Set(["t", "rich"]);

export interface Words {
  readonly node: ts.JsxText | ts.StringLiteralLike | ts.TemplateExpression;
  readonly text: string;
  /** Whether its place says that people read it; else its form does. */
  readonly placed: boolean;
}

/** The words in a file that people read and that no catalogue can have, because they are no messages. */
export function looseWords(file: ts.SourceFile, checker?: ts.TypeChecker): Words[] {
  const found: Words[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isTaggedTemplateExpression(node) && TAGS.has(node.tag.getText(file))) {
      if (ts.isTemplateExpression(node.template))
        for (const span of node.template.templateSpans) visit(span.expression);
      return;
    }
    if (ts.isJsxElement(node) && node.openingElement.tagName.getText(file) === "code") {
      // What a program reads is in every language the same; what a page shows in it comes from elsewhere.
      return;
    }
    if (ts.isJsxText(node)) {
      if (hasWord(node.text)) found.push({ node, text: node.text, placed: true });
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = textOf(node);
      const place = placeOf(node, checker);
      if (place === "read" ? hasWord(text) : place === "unknown" && looksRead(text)) {
        found.push({ node, text, placed: place === "read" });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

export function textOf(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (!ts.isTemplateExpression(node)) return node.text;
  return node.head.text + node.templateSpans.map(({ literal }, index) => `{${index}}${literal.text}`).join("");
}

function hasWord(text: string): boolean {
  return /\p{L}{2}/u.test(text.replace(/\{\d+\}/g, "").replace(/&\w+;/g, ""));
}

/** Several words, or one that begins a sentence or a label. */
function looksRead(text: string): boolean {
  const words = text.replace(/\{\d+\}/g, " ");
  if (!hasWord(words) || /^[#./?&@]|^[\w-]+[/=:]\S*$|^\S*\/\S*$/.test(text)) return false;
  return (
    /^\p{Lu}\p{Ll}+[.!?…]?$/u.test(text) ||
    /\p{L}{2}[,.:;”’)]* [“(]?(?:\p{L}|\d+ \p{L}{2})/u.test(text) ||
    /\}\s\p{L}{2}|\p{L}{2,} \{/u.test(text)
  );
}

type Place = "read" | "machine" | "unknown";

function placeOf(node: ts.Expression, checker?: ts.TypeChecker): Place {
  let inner: ts.Node = node;
  let outer = node.parent;
  while (passesOn(outer, inner)) {
    inner = outer;
    outer = outer.parent;
  }
  if (ts.isJsxExpression(outer) && (ts.isJsxElement(outer.parent) || ts.isJsxFragment(outer.parent))) return "read";
  const attribute = ts.isJsxExpression(outer) ? outer.parent : outer;
  if (ts.isJsxAttribute(attribute)) {
    const name = attribute.name.getText();
    if (READ_ATTRIBUTES.has(name)) return "read";
    if (MACHINE_ATTRIBUTES.test(name)) return "machine";
  }
  if (isForMachines(inner, outer)) return "machine";
  const type = checker?.getContextualType(node);
  if (type !== undefined && isCode(type)) return "machine";
  return "unknown";
}

/** Whether what the inner expression gives is what the outer one gives. */
function passesOn(outer: ts.Node, inner: ts.Node): boolean {
  if (ts.isParenthesizedExpression(outer) || ts.isAsExpression(outer) || ts.isSatisfiesExpression(outer)) return true;
  if (ts.isConditionalExpression(outer)) return outer.condition !== inner;
  if (!ts.isBinaryExpression(outer)) return false;
  const { kind } = outer.operatorToken;
  if (kind === ts.SyntaxKind.AmpersandAmpersandToken) return outer.right === inner;
  return (
    kind === ts.SyntaxKind.QuestionQuestionToken ||
    kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.PlusToken
  );
}

function isForMachines(node: ts.Node, parent: ts.Node): boolean {
  if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent) || ts.isImportAttribute(parent)) return true;
  if (ts.isBinaryExpression(parent)) return true;
  if ((ts.isPropertyAssignment(parent) || ts.isEnumMember(parent)) && parent.name === node) return true;
  if (ts.isComputedPropertyName(parent)) return true;
  if (ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) {
    const called = parent.expression;
    return MACHINE_CALLS.test(ts.isPropertyAccessExpression(called) ? called.name.text : called.getText());
  }
  return false;
}

/** Whether only certain texts fit, as where one of several codes is expected. */
function isCode(type: ts.Type): boolean {
  const parts = type.isUnion() ? type.types : [type];
  const texts = parts.filter(({ flags }) => flags & (ts.TypeFlags.StringLike | ts.TypeFlags.TemplateLiteral));
  return (
    texts.length > 0 &&
    texts.every((each) => each.isStringLiteral() || (each.flags & ts.TypeFlags.TemplateLiteral) !== 0)
  );
}

/** The messages of a file, as the catalogue's keys. */
export function messagesIn(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && TAGS.has(node.tag.getText(file))) {
      const { template } = node;
      found.push(
        keyOf(
          ts.isTemplateExpression(template)
            ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
            : [template.text],
        ),
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
