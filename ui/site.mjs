// Builds the folder of the page without a server: node site.mjs [OUT]. Any static host can serve it. The same sources, Go and Node give the
// same bytes.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const out = process.argv[2] ?? "../site";
rmSync(out, { recursive: true, force: true });
mkdirSync(`${out}/examples`, { recursive: true });

const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning", jsx: "automatic", jsxImportSource: "preact", format: "iife" };
await build({ ...common, entryPoints: ["src/site/main.tsx"], outfile: `${out}/site.js` });
await build({ ...common, entryPoints: ["src/app.css"], outfile: `${out}/app.css` });

// The worker is one script: its file system, Go's glue, and what answers the page.
const text = async (entry) => (await build({ ...common, entryPoints: [entry], write: false })).outputFiles[0].text;
const root = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
writeFileSync(`${out}/worker.js`, [await text("src/site/prelude.ts"), readFileSync(`${root}/lib/wasm/wasm_exec.js`, "utf8"), await text("src/site/worker.ts")].join("\n"));

const wasm = `${out}/sosgo.wasm`;
execFileSync("go", ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", wasm, "../cmd/sosgo-browser"], { stdio: "inherit", env: { ...process.env, GOOS: "js", GOARCH: "wasm", GOFLAGS: "" } });
writeFileSync(`${wasm}.gz`, gzipSync(readFileSync(wasm), { level: 9 }));
rmSync(wasm);

const dumps = "../testdata/dumps";
for (const [name, from] of Object.entries({ crash: "net10-crash-nested/net10-crash-nested", hang: "net10-stacks/net10-stacks", memory: "net10-zoo/net10-zoo" }))
  copyFileSync(`${dumps}/${from}.dmp.zst`, `${out}/examples/${name}.dmp.zst`);

// The policy holds for the worker, too, whose script has an address of the page. Nothing but the page's own files can be asked for.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "require-trusted-types-for 'script'; trusted-types sosgo";
writeFileSync(`${out}/index.html`, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark"><title>sosgo</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="app.css"><script src="site.js" defer></script></head><body><div id="app"></div><noscript>This page needs JavaScript. It runs from this server's files alone.</noscript></body></html>
`);
