// What the findings of a triage say beside their sentences: where they belong, whom they concern, and what to do next.
import { hasObject, hasThread, isReport } from "./api";
import type { Finding, OperationWait, Request, ThreadWait } from "./docs";
import { link } from "./state";
import { count, shortType, type Said } from "./text";

/** The part of the page that a finding belongs to. */
export type Area = "crash" | "hang" | "memory";

const areas: Record<Area, string[]> = {
  crash: ["crash", "failed type initializer", "failed hosted service", "host that is stopping", "process that is ending"],
  memory: ["damaged heap", "out of memory", "many handles", "fragmented heap", "large holder", "hash collisions", "native memory", "load context that stays", "many assemblies", "unshared clients"],
  hang: [],
};

/** The area of a kind of finding. All that is neither a failure nor memory is work that does not go on. */
export const areaOf = (kind: string): Area => (areas.crash.includes(kind) ? "crash" : areas.memory.includes(kind) ? "memory" : "hang");

/** Subjects of a triage that an area needs. */
const subjects: Record<Area, string[]> = {
  crash: ["crash"], hang: ["locks and blocked threads", "thread pool"], memory: ["holders of memory", "soundness of the heap"],
};

export type State = "bad" | "notable" | "nothing" | "in part" | "not readable";

/** What a triage found in an area. */
export function stateOf(area: Area, findings: { kind: string; severity: string }[], unknown: { subject: string; partly?: boolean }[]): State {
  const mine = findings.filter((f) => areaOf(f.kind) === area);
  if (mine.some((f) => f.severity !== "warning")) return "bad";
  if (mine.length > 0) return "notable";
  const lacking = unknown.filter((u) => subjects[area].includes(u.subject));
  return lacking.some((u) => !u.partly) ? "not readable" : lacking.length > 0 ? "in part" : "nothing";
}

/** A link to a place of the page, and the object or thread that it needs. */
export interface Deed { text: string; href: string; object?: string; thread?: string }

const places: Record<string, [page: string, text: string]> = {
  crashinfo: ["crash", "The crash and its stack"], waits: ["waits", "Who waits for whom"], locks: ["locks", "The locks"], threadpool: ["pools", "The thread pool"], sqlpools: ["pools", "The connections"],
  httpclients: ["pools", "The connections"], redis: ["pools", "The connections"], dumpasync: ["async", "Async code"], tasks: ["async", "The tasks"], leaks: ["suspects", "The largest holders"], dumpheap: ["heap", "The types"],
  memory: ["memory", "Memory of the process"], contexts: ["facts", "Load contexts"], host: ["facts", "The host"], requests: ["requests", "The requests"], clrthreads: ["threads", "The threads"], verifyheap: ["heap", "The heap"],
};

/** Where a command's answer stands on the page; a command without a place is run in the terminal. */
export function deed(line: string, type?: string | null): Deed {
  const [command = "", ...args] = line.split(" ");
  const address = args.find((a) => /^(0x)?[0-9a-f]{5,16}$/.test(a));
  const object = address && "0x" + address.replace(/^0x/, "").replace(/^0+/, "");
  if (object && ["dumpobj", "gcroot", "retained", "pe", "dumpasync", "dominators", "items", "do"].includes(command)) {
    return { text: command === "pe" ? "The exception" : command === "dumpasync" ? "One of their stacks" : command === "gcroot" ? "The way from its root" : `The ${type ? shortType(type) : "object"}`, href: link("object", object), object };
  }
  const [thread] = args;
  if (command === "clrstack" && thread && args.length === 1) return { text: `Stack of thread ${thread}`, href: link("threads", thread), thread };
  const place = places[command];
  return place ? { text: place[1], href: link(place[0]) } : { text: line, href: link("terminal", line) };
}

/** The deeds for a finding: at most three, each place once. A report has no terminal, and not all objects. */
export function deeds(f: Finding): Deed[] {
  const out = new Map<string, Deed>();
  const args = f.args ?? [];
  const type = (args.find((a) => a.type === "type") ?? args.find((a) => a.name === "kind"))?.value;
  const have = args.filter((h) => h.name === "holder").flatMap((h) => args.flatMap((a) => (a.address && a.start >= h.start && a.end <= h.end ? ["0x" + a.address.replace(/^0x0*/, "")] : [])));
  for (const line of f.next ?? []) {
    const d = deed(line, line.startsWith("dumpobj") ? type : undefined);
    if ((d.object && !hasObject(d.object)) || (d.thread && !hasThread(d.thread)) || (isReport && d.href.startsWith(link("terminal")))) continue;
    if (out.has(d.href)) continue;
    if (d.object && have.includes(d.object)) d.text = "Who has it";
    // Two stacks, two places: their words differ, too.
    if ([...out.values()].some((o) => o.text === d.text)) d.text = d.text.replace(/^(One|The)\b/, "Another");
    out.set(d.href, d);
  }
  for (const d of objectsNamed(f)) out.set(d.href, d);
  return [...out.values()].slice(0, 3);
}

/** What a large holder keeps: the objects of a type, where the sentence counts them. */
function objectsNamed(f: Finding): Deed[] {
  if (areaOf(f.kind) !== "memory") return [];
  const args = f.args ?? [];
  return args.filter((a) => a.type === "type" && a.value).flatMap((a) => {
    const n = Number(/(?:^|\s)(\d+) $/.exec(f.text.slice(0, a.start))?.[1] ?? 1);
    return n > 1 ? [{ text: `The ${count(n)} ${shortType(a.value!)} objects`, href: link("heap", a.value!) }] : [];
  }).slice(0, 1);
}

/** Code that a finding concerns: how many wait there, what they serve, and where. */
export interface Concerned { count: number; request?: string | undefined; thread?: ThreadWait["thread"] | undefined; method?: string | null | undefined; file?: string | undefined; line?: number | undefined; object?: string | undefined }

/** What a request is called: its method and route. */
export const requestName = (r: Request): string => `${r.method ?? ""} ${(r.route ?? r.path ?? "?").replace(/^(?=[\w{])/, "/")}`.trim();

/** The objects that a conclusion names, or whose fields its commands show. */
export function objectsOf(args: { address?: string }[] | null | undefined, commands: string[] | null | undefined): Set<string> {
  const objects = new Set((args ?? []).flatMap((a) => (a.address ? [a.address] : [])));
  for (const line of commands ?? []) {
    const m = /^dumpobj (?:0x)?0*([0-9a-f]+)$/.exec(line);
    if (m) objects.add("0x" + m[1]);
  }
  return objects;
}

/** Whom a finding concerns: suspended code that waits for its objects, and its threads that wait. */
export function concerned(f: Finding, operations: OperationWait[], threads: ThreadWait[], requests: Request[]): Concerned[] {
  const objects = objectsOf(f.args, f.next);
  const mine = new Set((f.args ?? []).flatMap((a) => (a.type === "thread" && a.thread !== undefined ? [a.thread] : [])));
  const out: Concerned[] = operations.filter((o) => (o.object && objects.has(o.object)) || o.first?.some((a) => a && objects.has(a))).map((o) => ({ count: o.count, request: o.request, method: o.method, file: o.file, line: o.line, object: o.first?.[0] }));
  for (const t of threads) {
    if (t.thread.index === undefined || !mine.has(t.thread.index) && !(t.object && objects.has(t.object))) continue;
    const served = requests.find((r) => r.threads?.some((x) => x.index === t.thread.index));
    out.push({ count: 1, request: served && requestName(served), thread: t.thread, method: t.method, file: t.file, line: t.line });
  }
  return out.sort((a, b) => b.count - a.count);
}

/** The web requests that wait because of a finding, as its own sentence has them behind what is wrong: how many of how many that the process serves. */
export interface Served { waiting: number; of: number; age?: string; routes: string }

/** A finding's sentence in two parts: what is wrong, and the requests that wait because of it. */
export function parted(f: Finding): { wrong: Said; strength: string; served?: Served | undefined } {
  const wrong = f.clauses?.[0], tail = wrong && f.text.startsWith(`${wrong.text}; `) ? (f.args ?? []).filter((a) => a.start > wrong.text.length) : [];
  const named = (name: string): number | undefined => tail.find((a) => a.name === name && a.type === "count")?.number;
  const waiting = named("waiting"), of = named("requests"), routes = tail.find((a) => a.name === "routes"), age = tail.find((a) => a.type === "duration");
  if (!wrong || waiting === undefined || of === undefined || !routes) return { wrong: f, strength: f.strength };
  return { wrong, strength: wrong.strength, served: { waiting, of, ...(age && { age: f.text.slice(age.start, age.end) }), routes: f.text.slice(routes.start) } };
}

/** Seconds of a duration such as 1h2m3.5s; NaN where it is none. */
export function seconds(age: string | undefined): number {
  const parts = [...(age ?? "").matchAll(/([\d.]+)(ms|µs|[dhms])/g)];
  const unit: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1, ms: 0.001, "µs": 1e-6 };
  return parts.length ? parts.reduce((sum, [, n, u]) => sum + Number(n) * (unit[u ?? "s"] ?? NaN), 0) : NaN;
}

/** The age of the oldest of these requests. */
export const oldest = (requests: Request[]): string | undefined => requests.reduce<string | undefined>((a, r) => (a === undefined || seconds(r.age) > seconds(a) ? r.age ?? a : a), undefined);

/** Requests of one route that wait for the same. */
export interface RequestGroup { name: string; does: string; method?: string | null | undefined; file?: string | undefined; line?: number | undefined; idle: boolean; waits: boolean; requests: Request[]; age?: string | undefined }

/** What a request does now: what its thread does, or what its code waits for. */
const doing = (r: Request): string => r.threads?.[0]?.does ?? (r.stack?.reason ? `waits for ${r.stack.reason}` : r.state);

/** Code of the class libraries: what waits there waits for code of the program. */
export const isLibrary = (method: string): boolean => /^(System|Microsoft)\./.test(method);

/** Requests by route and wait: those that wait for something first, then the larger and older groups. Waits that are normal are last. */
export function groupRequests(requests: Request[], idle: { reason: string }[]): RequestGroup[] {
  const normal = new Set(idle.flatMap((i) => [i.reason, `waits for ${i.reason}`]));
  const by = new Map<string, RequestGroup>();
  for (const r of requests) {
    const does = doing(r), name = requestName(r);
    const frames = r.stack?.frames ?? [];
    const frame = frames.find((f) => f.method && !isLibrary(f.method)) ?? frames.find((f) => f.method) ?? frames[0];
    const method = r.threads?.[0]?.method ?? frame?.method ?? frame?.name, isIdle = r.upgraded === true || normal.has(does);
    const key = [name, does, method].join("\n");
    const g = by.get(key) ?? { name, does, method, file: frame?.file, line: frame?.line, idle: isIdle, waits: !isIdle && (r.threads?.length ? !does.startsWith("runs") : r.stack !== undefined), requests: [] };
    g.requests.push(r);
    by.set(key, g);
  }
  const groups = [...by.values()];
  for (const g of groups) g.age = oldest(g.requests);
  return groups.sort((a, b) => Number(a.idle) - Number(b.idle) || b.requests.length - a.requests.length || (seconds(b.age) || 0) - (seconds(a.age) || 0));
}
