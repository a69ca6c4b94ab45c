// The worker: sosgo as WebAssembly, with the files that the page gives it. It answers one question after the other.
import { sweep, type Files } from "./files";
import type { Begin, Message, Request } from "./protocol";

interface Program {
  open(path: string, modules: string, name: string, progress: (done: number, total: number) => void): Promise<undefined>;
  ask(words: string[], from: number, count: number, last: boolean, list: string): Promise<Uint8Array>;
  line(line: string): Promise<Uint8Array>;
  complete(line: string): Promise<{ found: string[]; length: number }>;
}
declare class Go { importObject: WebAssembly.Imports; run(i: WebAssembly.Instance): Promise<void> }

const scope = globalThis as unknown as { fs: Files; sosgo: Program; sosgoStarted: () => void; sosgoProgress: (work: string, done: number, total: number) => void; onmessage: ((e: MessageEvent) => void) | null; postMessage(m: Message): void };
const decoder = new TextDecoder();
const send = (m: Message): void => scope.postMessage(m);

function fail(e: unknown): void {
  const { text, advice } = e as { text?: string; advice?: string };
  send({ failed: { text: text ?? String(e), advice: advice ?? "" } });
}

async function begin({ program, dump, modules }: Begin): Promise<void> {
  await sweep();
  scope.fs.add("/dump/" + dump.name, dump);
  for (const m of modules) scope.fs.add("/modules/" + m.name, m);
  const go = new Go();
  const started = new Promise<void>((then) => { scope.sosgoStarted = then; });
  const instance = await WebAssembly.instantiate(program, go.importObject);
  scope.fs.memory = instance.exports["mem"] as WebAssembly.Memory;
  const ended = go.run(instance).then(() => { throw new Error("the program ended"); });
  await Promise.race([started, ended]);
  ended.catch(fail);
  await scope.sosgo.open("/dump/" + dump.name, modules.length > 0 ? "/modules" : "", dump.name, (done, total) => send({ progress: [done, total] }));
  send({ opened: true });
}

scope.sosgoProgress = (work, done, total) => send({ at: { work, done, total } });

async function answer(r: Request): Promise<void> {
  if ("complete" in r) return send({ answer: JSON.stringify(await scope.sosgo.complete(r.complete)) });
  const text = "line" in r ? scope.sosgo.line(r.line) : scope.sosgo.ask(r.words, r.from, r.count, r.last, r.list);
  send({ answer: decoder.decode(await text) });
}

scope.onmessage = (e: MessageEvent<Begin>) => {
  begin(e.data).catch(fail);
  scope.onmessage = (next: MessageEvent<Request>) => { answer(next.data).catch(fail); };
};
