import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { t } from "../../../language/t.ts";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { Code } from "./Code.tsx";
import { Formula } from "./Formula.tsx";
import { type FormulaToken, readMarkdown } from "./formula-syntax.ts";
import styles from "./Markdown.module.css";
import { safeLink } from "./safe-link.ts";

/** Deeper nesting than this is an attack on the stack, not a text. */
const MAX_DEPTH = 24;

/**
 * Markdown as React elements. Nothing becomes HTML on the way: what looks like a tag is shown as text, a link may only lead
 * to http, https or mail, and an image is a link, because fetching it would send what is in the address to its server.
 * Each block runs in the direction of its own text, and code in that of code.
 * `lang`: what the loop and the gateway say is English, whatever the page speaks, and is read out as that.
 */
export const Markdown = memo(({ text, lang }: { readonly text: string; readonly lang?: "en" }) => {
  return (
    <div className={styles.markdown} lang={lang}>
      {readBlocks(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever appended, and a block is compared by its text
        <Block key={index} raw={block.raw} token={block} />
      ))}
    </div>
  );
});
Markdown.displayName = "Markdown";

/** A finished block is not drawn again while the ones after it stream in. */
const Block = memo(
  ({ token }: { readonly raw: string; readonly token: Token }) => renderBlock(token, 0),
  (before, after) => before.raw === after.raw,
);
Block.displayName = "Block";

function readBlocks(text: string): Token[] {
  try {
    return readMarkdown(text);
  } catch {
    // A few thousand nested quotes overflow the lexer's stack.
    return [{ type: "text", raw: text, text }];
  }
}

function renderBlock(token: Token, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <Heading depth={(token as Tokens.Heading).depth}>{renderInlines(token.tokens, depth)}</Heading>;
    case "paragraph":
      return <p dir="auto">{renderInlines(token.tokens, depth)}</p>;
    case "text":
      return token.tokens ? renderInlines(token.tokens, depth) : (token as Tokens.Text).text;
    case "blockquote":
      return <blockquote dir="auto">{renderBlocks(token.tokens, depth + 1)}</blockquote>;
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} lang={(token as Tokens.Code).lang} />;
    case "list":
      return <List list={token as Tokens.List} depth={depth + 1} />;
    case "table":
      return <Table table={token as Tokens.Table} depth={depth + 1} />;
    case "hr":
      return <hr />;
    case "formula":
      return (
        <p>
          <Formula formula={token as unknown as FormulaToken} />
        </p>
      );
    case "html":
      return <p dir="auto">{token.raw}</p>;
    case "checkbox":
      return (token as Tokens.Checkbox).checked ? "☑ " : "☐ ";
    default:
      return renderInline(token, depth);
  }
}

function renderBlocks(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their places
    <Fragment key={index}>{renderBlock(token, depth)}</Fragment>
  ));
}

function renderInlines(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their places
    <Fragment key={index}>{renderInline(token, depth + 1)}</Fragment>
  ));
}

function renderInline(token: Token, depth: number): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case "strong":
      return <strong>{renderInlines(token.tokens, depth)}</strong>;
    case "em":
      return <em>{renderInlines(token.tokens, depth)}</em>;
    case "del":
      return <del>{renderInlines(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "formula":
      return <Formula formula={token as unknown as FormulaToken} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "link": {
      const { href, tokens } = token as Tokens.Link;
      return <Link href={href}>{renderInlines(tokens, depth)}</Link>;
    }
    case "image": {
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{t`[image: ${text || href}]`}</Link>;
    }
    case "text":
      return token.tokens ? renderInlines(token.tokens, depth) : (token as Tokens.Text).text;
    default:
      return token.raw;
  }
}

function Link({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const safe = safeLink(href);
  if (safe === null) return children;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={safe}>
      {children}
    </a>
  );
}

/** Headings of an answer stand below the page's own, all on one level: a model's levels have gaps. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ReactNode }) {
  return (
    <h2 dir="auto" data-depth={Math.min(depth, 3)}>
      {children}
    </h2>
  );
}

function CodeBlock({ text, lang }: { readonly text: string; readonly lang: string | undefined }) {
  return (
    <figure className={styles.code}>
      <figcaption className={styles.caption}>
        <span>{lang?.split(" ", 1)[0] || t`text`}</span>
        <CopyButton text={text} what={t`code`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is a part of a form */}
      <pre role="group" aria-label={t`Code`} tabIndex={0}>
        <Code text={text} lang={lang?.split(" ", 1)[0] ?? ""} />
      </pre>
    </figure>
  );
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the items of one list keep their places
    <li key={index} data-task={item.task || undefined}>
      {renderBlocks(item.tokens, depth)}
    </li>
  ));
  return list.ordered ? (
    <ol dir="auto" start={list.start || 1}>
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

function Table({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is a part of a form
    <div className={styles.table} role="group" aria-label={t`Table`} tabIndex={0}>
      <table dir="auto">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their places
              <th key={index} scope="col" data-align={table.align[index] ?? undefined}>
                {renderInlines(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
            <tr key={place}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their places
                <td key={index} data-align={table.align[index] ?? undefined}>
                  {renderInlines(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
