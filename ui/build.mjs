// Builds the bundle that internal/front/webui embeds: node build.mjs [OUT]. The same sources give the same bytes.
import { build } from "esbuild";
import { copyFileSync, mkdirSync } from "node:fs";

const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning",
  jsx: "automatic", jsxImportSource: "preact" };

if (process.argv[2] === "test") {
  await build({ ...common, minify: false, entryPoints: ["test/all.ts"], outfile: "out/test.mjs", format: "esm", platform: "node" });
} else {
  const out = process.argv[2] ?? "../internal/front/webui/bundle";
  mkdirSync(out, { recursive: true });
  await build({ ...common, entryPoints: ["src/main.ts"], outfile: `${out}/app.js`, format: "iife" });
  await build({ ...common, entryPoints: ["src/app.css"], outfile: `${out}/app.css` });
  copyFileSync("src/questions.json", `${out}/questions.json`);
}
