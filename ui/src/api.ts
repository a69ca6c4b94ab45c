// Documents come from the server, or lie in the file if it is a report.
import type { ListPart, Problem } from "./docs";
import list from "./questions.json";
import { visible } from "./text";

/** A document: a command's result, and what went wrong. */
export interface Doc<T> {
  command: string; schema: number; result?: T; warnings?: Problem[]; error?: Problem;
  lists?: Record<string, ListPart>; shortened?: boolean;
  /** What can be asked again, where the page itself made the document. */
  asked?: Question;
}
/** What the page is about. */
export interface Subject { file: string; others?: string[] }

/** A command, and the part of its lists that is wanted: of all of them, or of one. */
export interface Question { words: string[]; count: number; from?: number; list?: string; last?: boolean; graph?: boolean }
export type Name = keyof typeof list;
const questions: Record<Name, Question> = list;

/** The question of that name; values take the place of $. */
export function question(name: Name, value?: string): Question {
  const q = questions[name];
  return value === undefined ? q : { ...q, words: q.words.map((w) => (w === "$" ? value : w)), graph: name === "path" || name === "referrers" || name === "keeps" };
}

interface Report { subject: Subject; documents: Record<string, Doc<unknown>> }

const embedded = readReport();

function readReport(): Report | undefined {
  const text = typeof document === "undefined" ? null : document.getElementById("report")?.textContent;
  return text ? (JSON.parse(visible(text)) as Report) : undefined;
}

/** The page is a report: there is no server that could be asked more. */
export const isReport = embedded !== undefined;

/** A queue of requests that build on the graph of objects: the first one makes it, and others would only wait in line. */
const queue = { running: 0, waiting: [] as (() => void)[] };

async function inTurn<T>(graph: boolean, run: () => Promise<T>): Promise<T> {
  if (!graph) return run();
  while (queue.running >= 2) await new Promise<void>((go) => queue.waiting.push(go));
  queue.running++;
  try {
    return await run();
  } finally {
    queue.running--;
    queue.waiting.shift()?.();
  }
}

/** Where answers come from. */
export interface Source {
  /** Returns the document that answers q, as text. */
  document(q: Question, signal?: AbortSignal): Promise<string>;
  /** Returns what a line of the prompt prints. */
  line(line: string, signal: AbortSignal): Promise<string>;
  /** Returns the words that may stand in place of the last characters of a line, and how many these are. */
  complete(line: string): Promise<Completion>;
  /** Returns how far the command that answers q is, where that is known. */
  progress?(q: Question): Promise<Progress | undefined>;
  subject(): Promise<Subject>;
}

export interface Completion { found: string[]; length: number }
export interface Progress { work: string; done: number; total: number }

/** Why a source has no answer. */
export class Refusal extends Error {
  constructor(text: string, readonly advice: string) { super(text); }
}

/** The name by which the server is asked how far it is. Another page of the same dump has others. */
const watch = (q: Question): string => `${me} ${q.words.join(" ")}`.slice(0, 200);
const me = Math.random().toString(36).slice(2);

/** What a request for an address below the page's own returns. */
interface Reply { status: number; text: string }

/** The editor that shows the page: it asks the server for the page, which may ask nobody itself. */
interface Editor { postMessage(m: { get: string; id: number } | { stop: number }): void }

/** Sends requests through an editor. */
export function throughEditor(editor: Editor): (path: string, signal?: AbortSignal) => Promise<Reply> {
  let last = 0;
  const asked = new Map<number, (r: Reply) => void>();
  addEventListener("message", ({ data }: MessageEvent<{ id?: number } & Reply>) => {
    asked.get(data.id ?? 0)?.(data);
    asked.delete(data.id ?? 0);
  });
  return (path, signal) => new Promise((resolve, reject) => {
    const id = ++last;
    asked.set(id, (r) => (r.status ? resolve(r) : reject(new Error(r.text))));
    signal?.addEventListener("abort", () => { editor.postMessage({ stop: id }); asked.delete(id); reject(new DOMException("stopped", "AbortError")); });
    editor.postMessage({ get: path, id });
  });
}

async function fetched(path: string, signal?: AbortSignal): Promise<Reply> {
  const r = await fetch(path, signal ? { signal } : {});
  return { status: r.status, text: await r.text() };
}

const inEditor = (globalThis as { acquireVsCodeApi?: () => Editor }).acquireVsCodeApi;
const get = inEditor ? throughEditor(inEditor()) : fetched;

/** The server that the page comes from. */
const server: Source = {
  async document(q, signal) {
    const [command = "", ...args] = q.words;
    const p = new URLSearchParams(args.map((a) => ["a", a]));
    if (q.from) p.set("from", String(q.from));
    p.set("count", String(q.count));
    if (q.list) p.set("list", q.list);
    if (q.last) p.set("last", "1");
    if (q.graph) p.set("watch", watch(q));
    const r = await get(`api/${encodeURIComponent(command)}?${p}`, signal);
    if (r.status !== 200) throw new Refusal(r.text || `the server says ${r.status}`, "");
    return r.text;
  },
  async line(line, signal) { return (await get(`line?${new URLSearchParams({ line })}`, signal)).text; },
  async complete(line) { return JSON.parse(visible((await get(`complete?${new URLSearchParams({ line })}`)).text)) as Completion; },
  async progress(q) {
    const r = await get(`progress?${new URLSearchParams({ watch: watch(q) })}`);
    return r.status === 200 ? JSON.parse(visible(r.text)) as Progress : undefined;
  },
  async subject() { return JSON.parse(visible((await get("subject.json")).text)) as Subject; },
};

let source = server;

/** Has all that follows ask there. */
export function askAt(s: Source): void { source = s; }

/** The page has no server: a worker beside it answers. */
export const isAlone = (): boolean => source !== server;

/** The document of a report that answers q. */
export function inReport<T>(q: Question): Doc<T> {
  const found = embedded?.documents[q.words.join(" ")] as Doc<T> | undefined;
  return found ?? failed<T>(q, "this is not in the report", `in a shell: sosgo -d ${embedded?.subject.file} ${q.words.join(" ")}; or ask on the page of sosgo web`);
}

/** The objects that a report has, and their types. */
export const objects: ReadonlyMap<string, string> = new Map(Object.entries(embedded?.documents ?? {})
  .filter(([words, d]) => words.startsWith("dumpobj ") && d.result).map(([words, d]) => [words.slice("dumpobj ".length), (d.result as { type?: string }).type ?? ""]));

/** There is a page of what is at an address: a server can be asked for it, and a report may have it. */
export const hasObject = (a: string): boolean => !isReport || objects.has(a);

const reported = new Set(((embedded?.documents[list.threads.words.join(" ")]?.result as { threads?: { index?: number; osId?: number }[] } | undefined)?.threads ?? [])
  .flatMap((t) => [String(t.index), `0x${(t.osId ?? 0).toString(16)}`]));

/** There is a page of a thread: of its number in the list of threads, or of its id of the system as 0x…. */
export const hasThread = (id: string): boolean => !isReport || reported.has(id);

/** Asks the source for a document. What fails is in the document. */
export async function ask<T>(q: Question, signal: AbortSignal): Promise<Doc<T>> {
  return inTurn(q.graph ?? false, async () => {
    const text = await source.document(q, signal);
    try {
      return JSON.parse(visible(text)) as Doc<T>;
    } catch {
      return failed<T>(q, "the answer ended early", "reload the page to ask again");
    }
  }).catch((e: unknown) => {
    if (signal.aborted) throw e;
    return e instanceof Refusal ? failed<T>(q, e.message, e.advice) : failed<T>(q, "the server does not answer", "sosgo web may have ended");
  });
}

function failed<T>(q: Question, text: string, advice: string): Doc<T> {
  return { command: q.words[0] ?? "", schema: 0, error: { text, kind: "page", advice }, asked: q };
}

/** The document of a command that was stopped. */
export const stopped = (q: Question): Doc<unknown> => failed(q, "stopped", "");

export const complete = (line: string): Promise<Completion> => source.complete(line);
export const progress = async (q: Question): Promise<Progress | undefined> => (q.graph || isAlone() ? source.progress?.(q) : undefined);

/** Runs a line of the prompt and returns what it prints. */
export async function runLine(line: string, signal: AbortSignal): Promise<string> {
  return visible(await source.line(line, signal), false);
}

/** The subject of a report. */
export const reportSubject = (): Subject | undefined => embedded?.subject;

export async function subject(): Promise<Subject> {
  return embedded ? embedded.subject : source.subject();
}
