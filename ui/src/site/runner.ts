// The page's side of the worker.
import { Refusal, type Completion, type Progress, type Question, type Source, type Subject } from "../api";
import type { Begin, Message, Request } from "./protocol";

/** What workers are made of. */
export interface Program { module: WebAssembly.Module; script: string }

interface Asked { request: Request; at?: Progress; order: number; resolve: (text: string) => void; reject: (e: Error) => void }

/** The browser asks for a policy before the address of a script may be made. */
const policy = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(u: string): string } } }).trustedTypes
  ?.createPolicy("sosgo", { createScriptURL: (u: string) => u });

/**
 * Which of the waiting questions comes first: one that does not walk the heap; then the waits, whose walk records the census of the heap, from
 * which the counts come without another walk; and at last those that need the graph of all objects.
 */
const walks = ["waits", "dumpheap"];
const order = (q: Question): number => (q.graph ? walks.length + 1 : walks.indexOf(q.words[0] ?? "") + 1);

/** A dump in a worker. */
export class Runner implements Source {
  private worker: Worker | undefined;
  private readonly waiting: Asked[] = [];
  private running: Asked | undefined;
  private open = false;

  constructor(private readonly program: Program, private readonly dump: File, private readonly modules: File[], private readonly unpacked: (done: number, total: number) => void) {}

  /** Starts the worker and opens the dump. */
  start(): Promise<void> {
    return new Promise((opened, failed) => {
      // Its address is one of the page's own, so that the page's policy holds for it, too.
      const u = URL.createObjectURL(new Blob([this.program.script], { type: "text/javascript" }));
      const w = new Worker(policy ? policy.createScriptURL(u) : u);
      this.worker = w;
      const broken = (e: Error): void => {
        failed(e);
        this.running?.reject(e);
        this.running = undefined;
        this.next();
      };
      w.onmessage = ({ data }: MessageEvent<Message>) => {
        if ("progress" in data) this.unpacked(...data.progress);
        else if ("at" in data) { if (this.running) this.running.at = data.at; }
        else if ("failed" in data) broken(new Refusal(data.failed.text, data.failed.advice));
        else if ("opened" in data) { URL.revokeObjectURL(u); this.open = true; opened(); this.next(); }
        else { this.running?.resolve(data.answer); this.running = undefined; this.next(); }
      };
      w.onerror = (e) => { this.open = false; broken(new Refusal(`the program ended: ${e.message}`, "reload the page; a dump that needs more than 4 GB of memory needs sosgo itself")); };
      const begin: Begin = { program: this.program.module, dump: this.dump, modules: this.modules };
      w.postMessage(begin);
    });
  }

  /** Ends the worker. */
  end(): void { this.worker?.terminate(); this.open = false; }

  document(q: Question, signal?: AbortSignal): Promise<string> {
    return this.ask({ words: q.words, from: q.from ?? 0, count: q.count, last: q.last ?? false, list: q.list ?? "" }, order(q), signal);
  }
  line(line: string, signal: AbortSignal): Promise<string> { return this.ask({ line }, 0, signal); }
  async complete(line: string): Promise<Completion> { return JSON.parse(await this.ask({ complete: line }, 0)) as Completion; }
  progress(q: Question): Promise<Progress | undefined> {
    const r = this.running;
    return Promise.resolve(r && "words" in r.request && r.request.words.join(" ") === q.words.join(" ") ? r.at : undefined);
  }
  subject(): Promise<Subject> { return Promise.resolve({ file: this.dump.name }); }

  private ask(request: Request, order: number, signal?: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked: Asked = { request, order, resolve, reject };
      this.waiting.push(asked);
      signal?.addEventListener("abort", () => this.leave(asked));
      this.next();
    });
  }

  /** Gives the worker the next question. */
  private next(): void {
    if (!this.open || this.running || this.waiting.length === 0) return;
    const first = Math.min(...this.waiting.map((a) => a.order));
    this.running = this.waiting.splice(this.waiting.findIndex((a) => a.order === first), 1)[0]!;
    this.worker!.postMessage(this.running.request);
  }

  /** Gives a question up. WebAssembly can't be interrupted: a worker that computes its answer is replaced. */
  private leave(asked: Asked): void {
    const i = this.waiting.indexOf(asked);
    if (i >= 0) this.waiting.splice(i, 1);
    else if (this.running !== asked) return;
    else {
      this.end();
      this.running = undefined;
      void this.start().catch(() => undefined);
    }
    asked.reject(new DOMException("stopped", "AbortError"));
  }
}
