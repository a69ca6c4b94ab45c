// The page without a server: it asks for a dump and hands it to a worker.
import { render, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { askAt, Refusal } from "../api";
import { start } from "../app";
import { forget, go, startTheme } from "../state";
import { bytes } from "../text";
import { Runner, type Program } from "./runner";

interface Example { file: string; title: string; text: string }
const examples: Example[] = [
  { file: "crash.dmp.zst", title: "A crash", text: "a worker throws, and nobody catches it" },
  { file: "hang.dmp.zst", title: "A hang", text: "threads wait for each other" },
  { file: "memory.dmp.zst", title: "Memory", text: "what fills the heap, and what keeps it" },
];

/** What the program needs of a browser and this one does not have. */
export function lacking(b: typeof globalThis): string[] {
  const needs: [string, unknown][] = [["WebAssembly", b.WebAssembly], ["workers", b.Worker], ["DecompressionStream", b.DecompressionStream], ["Blob.arrayBuffer", b.Blob?.prototype.arrayBuffer]];
  return needs.filter(([, there]) => !there).map(([name]) => name);
}

/** Larger dumps may need more memory than WebAssembly has: 4 GB. Strings of 18 million objects take 2.8 GB of the browser. */
const large = 1.6 * 2 ** 30;

async function get(file: string): Promise<Response> {
  const r = await fetch(file);
  if (!r.ok) throw new Error(`${file}: the server says ${r.status}`);
  return r;
}

/** Loads the program, which is compressed unless the server unpacked it on the way. */
async function load(): Promise<Program> {
  const [packed, script] = await Promise.all([get("sosgo.wasm.gz").then((r) => r.blob()), get("worker.js").then((r) => r.text())]);
  const head = new Uint8Array(await packed.slice(0, 2).arrayBuffer());
  const code = head[0] === 0x1f && head[1] === 0x8b ? await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer() : await packed.arrayBuffer();
  return { module: await WebAssembly.compile(code), script };
}

let program: Promise<Program> | undefined;
/** The dump that the pages show. */
let opened: Runner | undefined;

const at = document.getElementById("app")!;

/** Shows the first page, which opens the files that are given. */
function begin(given: File[] = []): void {
  opened?.end();
  if (opened) go("overview");
  opened = undefined;
  render(null, at);
  render(<Start given={given} />, at);
}

function Start({ given }: { given: File[] }): JSX.Element {
  const [state, setState] = useState("");
  const [problem, setProblem] = useState<{ text: string; advice: string }>();
  const [over, setOver] = useState(false);
  /** Files with a large dump. The page says so before it opens them. */
  const [doubtful, setDoubtful] = useState<File[]>();
  const missing = lacking(globalThis);
  const busy = useRef(false);
  /** Opens one dump: what is dropped meanwhile is not. */
  const open = async (files: File[], nevertheless = false): Promise<void> => {
    if (busy.current || missing.length > 0) return;
    const doubt = !nevertheless && files.some((f) => f.size > large);
    setDoubtful(doubt ? files : undefined);
    if (doubt) return;
    busy.current = true;
    try { await openOne(files); } finally { busy.current = false; }
  };
  const openOne = async (files: File[]): Promise<void> => {
    // The largest file is the dump, and the others are module files and PDBs.
    const [dump, ...modules] = [...files].sort((a, b) => b.size - a.size);
    if (!dump) return;
    setProblem(undefined);
    try {
      setState("loading sosgo");
      program ??= load();
      program.catch(() => { program = undefined; });
      const runner = new Runner(await program, dump, modules, (done, total) => setState(`unpacking ${bytes(done)} of ${bytes(total)}`));
      setState(`opening ${dump.name}`);
      try { await runner.start(); } catch (e) { runner.end(); throw e; }
      opened = runner;
      askAt(runner);
      forget();
      render(null, at);
      start();
    } catch (e) {
      setState("");
      const path = `/dump/${dump.name}`;
      setProblem({ text: (e instanceof Error ? e.message : String(e)).replace(`${path}: open dump ${path}`, dump.name).replaceAll(path, dump.name), advice: e instanceof Refusal ? e.advice : "" });
    }
  };
  useEffect(() => {
    const drag = (e: DragEvent): void => setOver(e.type === "dragover");
    const drop = (e: DragEvent): void => { setOver(false); void open([...(e.dataTransfer?.files ?? [])]); };
    addEventListener("dragover", drag);
    addEventListener("dragleave", drag);
    addEventListener("drop", drop);
    void open(given);
    return () => { removeEventListener("dragover", drag); removeEventListener("dragleave", drag); removeEventListener("drop", drop); };
  }, []);
  const example = async (x: Example): Promise<void> => {
    try {
      setState(`loading ${x.file}`);
      await open([new File([await (await get("examples/" + x.file)).blob()], x.file)]);
    } catch (e) { setState(""); setProblem({ text: String(e), advice: "" }); }
  };
  const off = !!state || missing.length > 0;
  return <main id="main" class={`start${over ? " over" : ""}`}>
    <h1>sosgo</h1>
    <p class="lead">Opens the dump of a .NET process in this browser: what is wrong, whom it concerns, and the code. The file is read here, and nothing is sent.</p>
    {missing.length > 0 && <p class="problem" role="alert">This browser can't open dumps: it has no {missing.join(", no ")}. Chrome or Edge 80, Firefox 113 and Safari 16.4 and later can; so can the program <code>sosgo web</code>.</p>}
    <p class="drop"><label class="choose">Choose a dump<input type="file" multiple class="hidden" disabled={off} onChange={(e) => void open([...(e.currentTarget.files ?? [])])} /></label> or drop it here:
      a core of Linux or macOS, or a minidump, also as .gz or .zst, or a pack. Module files and PDBs can be chosen with it.</p>
    {state && <p class="waiting" role="status"><span class="spin" /> {state}</p>}
    {problem && <p class="problem" role="alert">{problem.text}{problem.advice && <><br />{problem.advice}</>}</p>}
    {doubtful && <p class="note" role="alert">This dump has {bytes(Math.max(...doubtful.map((f) => f.size)))}. A browser gives a page 4 GB: crash, threads, locks and counts of types will be there; what holds memory, equal strings and waste may not. The program <code>sosgo web</code> has no such limit.{" "}
      <button type="button" onClick={() => void open(doubtful, true)}>Open it nevertheless</button></p>}
    <h2>Or look at an example</h2>
    <ul class="examples">{examples.map((x) => <li><button type="button" disabled={off} onClick={() => void example(x)}>{x.title}</button> {x.text}</li>)}</ul>
    <h2>What you get</h2>
    <figure class="sample" aria-label="The first page of the example of a hang"><p class="headline fatal"><span class="tag fatal">deadlock</span> Thread 33 "deadlock one" holds object (Scenario.s_first) and waits for object (Scenario.s_second), thread 34 "deadlock two" … <span class="strength proved">proved</span></p>
      <ul class="tiles">{samples.map(([name, of, figure, tile]) => <li><div class={`tile ${tile}`}><span class="name">{name}</span><span class="state">{of}</span><b>{figure}</b></div></li>)}</ul></figure>
    <dl class="facts"><div><dt>Sizes</dt><dd>the first facts of any dump after some seconds; all answers up to 1.6 GB or 18 million objects</dd></div>
      <div><dt>Browsers</dt><dd>Chrome or Edge 80, Firefox 113, Safari 16.4, and later</dd></div></dl>
  </main>;
}

/** The parts of the first page, as the example of a hang has them. */
const samples: [string, string, string, string][] = [["Crash", "nothing found", "none", ""], ["Hang", "deadlock", "6 waits", "bad"], ["Memory", "nothing found, checked in part", "122 KB", ""], ["Dump", "in part", "9.2 MB", ""]];

// A file that is dropped on the pages of a dump opens in its place; the browser would show it, and the pages were gone.
addEventListener("dragover", (e) => e.preventDefault());
addEventListener("drop", (e) => {
  e.preventDefault();
  const files = [...(e.dataTransfer?.files ?? [])];
  if (opened && files.length > 0) begin(files);
});
startTheme();
begin();
