// Has memlab read what `export heapsnapshot` writes and compute retained sizes, and compares these with sosgo's own.
// Usage: node check.js SOSGO DUMP...
const { execFileSync } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { getFullHeapFromFile } = require("@memlab/heap-analysis");

const [sosgo, ...dumps] = process.argv.slice(2);

/** How often each pair of an object's size and retained size is there. */
function tally(pairs) {
  const out = new Map();
  for (const p of pairs) out.set(p, (out.get(p) ?? 0) + 1);
  return out;
}

/** What sosgo says of all that lives. */
function ours(dump) {
  const question = "from live | select size, retained";
  const text = execFileSync(sosgo, ["-offline", "-d", dump, "--json", "query", "-rows", "10000000", question], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(text).result.rows.map((r) => `${r.size} ${r.retained}`);
}

/** What memlab finds below the root in the snapshot, but for what stands for roots and for garbage. */
async function theirs(dump, file) {
  execFileSync(sosgo, ["-offline", "-d", dump, "export", "heapsnapshot", "-o", file], { stdio: "ignore" });
  const heap = await getFullHeapFromFile(file);
  const garbage = new Map();
  const isGarbage = (node) => {
    if (!garbage.has(node.id)) {
      const up = node.dominatorNode;
      garbage.set(node.id, node.name === "[unreachable]" || (up != null && up.id !== node.id && isGarbage(up)));
    }
    return garbage.get(node.id);
  };
  const out = [];
  heap.nodes.forEach((node) => {
    if (node.self_size > 0 && !isGarbage(node)) out.push(`${node.self_size} ${node.retainedSize}`);
  });
  return out;
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "memlab"));
  let bad = dumps.length === 0;
  try {
    for (const [i, dump] of dumps.entries()) {
      const a = ours(dump), b = await theirs(dump, join(folder, `${i}.heapsnapshot`));
      const counts = tally(b);
      for (const pair of a) counts.set(pair, (counts.get(pair) ?? 0) - 1);
      const different = [...counts].filter(([, n]) => n !== 0);
      console.log(`\n${dump}: ${a.length} objects, of memlab ${b.length}; ${different.length} sizes with retained sizes differ`);
      for (const [pair, n] of different.slice(0, 10)) console.log(`  ${pair}: ${n > 0 ? "memlab" : "sosgo"} has ${Math.abs(n)} more`);
      bad ||= different.length > 0 || a.length === 0;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.exitCode = bad ? 1 : 0;
}

main();
