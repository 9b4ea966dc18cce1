/**
 * protocol.schema.json (written by `python -m gateway.protocol.schema`) -> src/protocol/generated.ts.
 * `--check` writes nothing and fails when the committed file differs.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const schemaPath = fileURLToPath(new URL("../protocol.schema.json", import.meta.url));
const outputPath = fileURLToPath(new URL("../src/protocol/generated.ts", import.meta.url));

/** Pydantic titles every member, and the compiler would name a type after each; `discriminator` is not JSON Schema. */
function withoutNoise(node, insideProperties = false) {
  if (Array.isArray(node)) return node.map((item) => withoutNoise(item));
  if (node === null || typeof node !== "object") return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => insideProperties || !(key === "discriminator" || (key === "title" && typeof value === "string")),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      withoutNoise(value, !insideProperties && (key === "properties" || key === "$defs")),
    ]),
  );
}

const schema = withoutNoise(JSON.parse(await readFile(schemaPath, "utf8")));
const compiled = await compile({ ...schema, title: "CountersignProtocol" }, "CountersignProtocol", {
  additionalProperties: false,
  bannerComment: "// Generated from protocol.schema.json by scripts/gen-protocol.mjs. Never edited by hand.",
  style: { printWidth: 120 },
  unreachableDefinitions: true,
});
/** The compiler adds to each comment where its type is used; the file says that itself. */
const generated = compiled.replaceAll(
  /\n \*\n \* This interface was referenced by .*\n \* via the `definition` .*\n/g,
  "\n",
);

if (process.argv.includes("--check")) {
  if ((await readFile(outputPath, "utf8")) !== generated) {
    console.error(
      "src/protocol/generated.ts differs from protocol.schema.json: run `npm run gen` and commit the result",
    );
    process.exit(1);
  }
} else {
  await writeFile(outputPath, generated);
}
