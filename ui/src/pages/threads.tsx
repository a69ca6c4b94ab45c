import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isReport, question, type Question } from "../api";
import { callees, callers, merge, totals, unrepeated, type Node, type Stack, type Total } from "../chart";
import { Flame } from "../flame";
import type { CrashinfoResult as Crash, Frame, ClrstackResult as Frames, StacksResult as Stacks, ManagedThread as Thread, ThreadSample, ClrthreadsResult as Threads, Variable } from "../docs";
import { Addr, Copy, Link, Method, Notes, osThread, Place, Section, Share, Show, Table, Text, ThreadLink, total, TypeName, Waiting } from "../parts";
import { link, route, useDoc, useParam } from "../state";
import { count, csharp, plural, shortMethod } from "../text";

/** All threads, or one of them with its variables. */
export function ThreadsPage(): JSX.Element {
  const one = route.value.arg;
  return one ? <OneThread id={one} /> : <><List /><Merged /></>;
}

function Merged(): JSX.Element {
  const doc = useDoc<Stacks>(question("stacks"));
  const stacks = doc?.result?.stacks ?? [];
  const threads = useDoc<Threads>(question("threads"));
  const numbers = useMemo(() => new Map((threads?.result?.threads ?? []).map((t) => [t.osId, t.index])), [threads]);
  const numbered = (s: ThreadSample): ThreadSample & { index?: number } => ({ ...s, index: numbers.get(s.osId) });
  const shown = useMemo(() => stacks.filter((s) => (s.frames ?? []).length > 0), [doc]);
  const [view, setView] = useParam("view", "largest");
  const [method, setMethod] = useParam("method");
  const root = useMemo(() => merge(shown.map((s) => stackOf(s)), "threads"), [shown]);
  const inverted = useMemo(() => (view === "inverted" ? merge(shown.map((s) => stackOf(s, true)), "threads") : root), [shown, view]);
  const byThread = useMemo((): Node => ({ name: "threads", value: shown.length, children: shown.map((s) => {
    const t = numbered(s);
    const name = `thread ${t.index ?? osThread(t.osId)}${t.name ? ` “${t.name}”` : ""}`;
    return { ...merge([stackOf(s)], name), label: `${t.index ?? osThread(t.osId)} ${t.name ?? ""}`.trim(), group: "", href: link("threads", String(t.index ?? osThread(t.osId))) };
  }) }), [shown, numbers]);
  const groups = useMemo(() => {
    const by = new Map<string, typeof stacks>();
    for (const s of shown) {
      const key = (s.frames ?? []).map((f) => f.name).join("\n");
      by.set(key, [...(by.get(key) ?? []), s]);
    }
    return [...by.values()].sort((a, b) => b.length - a.length);
  }, [doc]);
  return (
    <Section title="Merged stacks">
      <Show doc={doc} what="walking stacks">{(_, d) => shown.length === 0 ? <p>No managed frame of {stacks.length === 1 ? "the thread" : `the ${plural(stacks.length, "thread")}`} is known.</p> : <>
        <p class="dim">{plural(shown.length, "thread")} with managed frames{total(d, "stacks", stacks) > stacks.length ? ` among the first ${count(stacks.length)} of ${count(total(d, "stacks", stacks))}` : ""}; the {view === "inverted" ? "innermost" : "outermost"} frame is on top; ↻ marks frames that repeat, which are drawn once.
          {stacks.length > shown.length ? ` Of ${plural(stacks.length - shown.length, "thread")} no managed frame is known.` : ""}</p>
        <div class="views" role="group" aria-label="How stacks are shown">{views.map(([id, text]) => <button type="button" aria-pressed={view === id} onClick={() => setView(id)}>{text}</button>)}</div>
        {view === "threads" ? <Flame id="threads" root={byThread} label="Stacks of threads, in the order of the threads" unit={threadsOf} />
          : view === "inverted" ? <Flame id="inverted" root={inverted} label="Stacks of all threads, from the innermost frame on" unit={threadsOf} />
          : view === "sandwich" ? <Sandwich root={root} method={method} choose={setMethod} />
          : <Flame id="stacks" root={root} label="Stacks of all threads, merged, the largest first" unit={threadsOf} choose={{ key: "c", text: "callers and callees", run: (n) => { setMethod(n.name); setView("sandwich"); } }} />}
        <details><summary>The same as a list: {plural(groups.length, "stack")}</summary>
          {groups.slice(0, 200).map((g) => <div class="card"><p><b>{plural(g.length, "thread")}</b> {g.slice(0, 30).map((s) => <><ThreadLink t={numbered(s)} />{" "}</>)}</p>
            <ol class="frames">{(g[0]?.frames ?? []).slice(0, 60).map((f) => <li><Method name={f.name} /> <Place file={f.file} line={f.line} /></li>)}</ol></div>)}</details>
      </>}</Show>
    </Section>
  );
}

const views = [["largest", "Merged, largest first"], ["inverted", "By what they stand in"], ["threads", "By thread"], ["sandwich", "Callers and callees"]] as const;
const threadsOf = (n: number): string => plural(n, "thread");

/** A stack from its outermost frame on, or from its innermost. Frames that repeat are folded. */
function stackOf(s: ThreadSample, inverted = false): Stack {
  const f = inverted ? s.frames ?? [] : (s.frames ?? []).toReversed();
  const all = f.map((x) => csharp(x.name ?? x.module ?? "?")), kept = unrepeated(all);
  return { names: kept.map((k) => all[k.at]!), labels: kept.map((k) => shortMethod(all[k.at]!) + (k.repeats ? " ↻" : "")), groups: kept.map((k) => f[k.at]?.module ?? "") };
}

/** A method with those that call it above, and those that it calls below. */
function Sandwich({ root, method, choose }: { root: Node; method: string; choose: (name: string) => void }): JSX.Element {
  const all = useMemo(() => totals(root), [root]);
  const at = all.find((t) => t.name === method);
  const above = useMemo(() => callers(root, method), [root, method]), below = useMemo(() => callees(root, method), [root, method]);
  const pick = { key: "c", text: "callers and callees of this method", run: (n: Node) => choose(n.name) };
  return <>
    {at && <div class="sandwich" data-fact="sandwich"><p class="lead"><Method name={at.name} />: <b>{threadsOf(at.total)}</b>, {threadsOf(at.self)} of {at.total === 1 ? "it" : "them"} in it itself</p>
      <h3>Callers</h3><Flame id="callers" root={above} label="Callers" unit={threadsOf} up choose={pick} whole={root.value} />
      <h3>Callees</h3><Flame id="callees" root={below} label="Callees" unit={threadsOf} choose={pick} whole={root.value} /></div>}
    <Table<Total> rows={all} caption="methods" sort={1} most={at ? 15 : 50} text={(t) => t.name} columns={[
      { head: "Method", cell: (t) => <button type="button" class="plain" aria-pressed={t === at} onClick={() => choose(t.name)}><Method name={t.name} /></button>, by: (t) => t.label },
      { head: "Threads", cell: (t) => <Share part={t.total} of={root.value}>{count(t.total)}</Share>, by: (t) => t.total, num: true },
      { head: "In it itself", cell: (t) => <Share part={t.self} of={root.value}>{count(t.self)}</Share>, by: (t) => t.self, num: true }]} />
  </>;
}

/** What threads do, the more interesting first; what is not in the list stands between waits and sleep. */
const interest = ["exception", "lock", "task", "static constructor", "monitor", "running", "native"], dull = ["sleep", "unknown", "idle"];
/** So many of the interesting ones mean that a thread can't go on: they come before threads that once caught an exception. */
const blocked = interest.indexOf("running");

/** Threads that do the same in the same method. */
interface ThreadGroup { threads: Thread[]; does: string; method: string | null | undefined; died: boolean; rank: number }

function grouped(threads: Thread[], died: number | undefined): ThreadGroup[] {
  const by = new Map<string, ThreadGroup>();
  for (const t of threads) {
    const a = t.activity, method = a?.callerFrame ?? a?.topFrame;
    const own = t.osId !== undefined && t.osId === died;
    const at = interest.indexOf(a?.kind ?? ""), down = dull.indexOf(a?.kind ?? "unknown");
    const rank = own ? -1 : at >= 0 && at < blocked ? at : t.exception ? blocked - 0.5 : at >= 0 ? at : down >= 0 ? interest.length + 1 + down : interest.length;
    const key = [own, !!t.exception, a?.text, method].join("\n");
    const g = by.get(key) ?? { threads: [], does: a?.text ?? "", method, died: own, rank };
    g.threads.push(t);
    by.set(key, g);
  }
  return [...by.values()].sort((a, b) => a.rank - b.rank || b.threads.length - a.threads.length);
}

/** Processor time of threads in seconds, and whether some of them have no recorded time; undefined if none has. */
export function cpuTime(threads: Array<Pick<Thread, "userTime" | "kernelTime">>): { seconds: number; part: boolean } | undefined {
  const timed = threads.filter((t) => t.userTime != null && t.kernelTime != null);
  return timed.length === 0 ? undefined : { seconds: timed.reduce((n, t) => n + t.userTime! + t.kernelTime!, 0), part: timed.length < threads.length };
}

/** A processor time as text. */
export function cpuText(threads: Parameters<typeof cpuTime>[0]): string {
  const t = cpuTime(threads);
  return t ? `${t.part ? "at least " : ""}${t.seconds.toFixed(2)} s` : "–";
}

/** Why threads have no processor times though others have, each reason once. */
export function noTimes(threads: Array<Pick<Thread, "noTimes">>): string[] {
  return [...new Set(threads.flatMap((t) => (t.noTimes ? [t.noTimes] : [])))];
}

/** How many threads of a group are named before the others are folded. */
const named = 3;

function List(): JSX.Element {
  const doc = useDoc<Threads>(question("threads"));
  const crash = useDoc<Crash>(question("crash"));
  const one = (r: Thread): JSX.Element => <div><ThreadLink t={r} /> {(r.special ?? []).map((s) => <span class="tag">{s}</span>)}</div>;
  return <Show doc={doc} q={question("threads")} what="listing threads">{(t) => {
    const groups = grouped(t.threads ?? [], crash?.result?.osThreadId);
    const times = cpuTime(t.threads ?? []) ? [{ head: "CPU time", cell: (g: ThreadGroup) => <span title={noTimes(g.threads).join("; ") || undefined}>{cpuText(g.threads)}</span>, by: (g: ThreadGroup) => cpuTime(g.threads)?.seconds, num: true }] : [];
    return <><Table<ThreadGroup> rows={groups} caption="threads" text={(g) => `${g.does} ${g.method} ${g.threads.map((r) => `${r.index} ${r.name} ${r.osId} ${osThread(r.osId ?? 0)} ${r.exception?.type}`).join(" ")}`} columns={[
      { head: "Threads", cell: (g) => count(g.threads.length), by: (g) => g.threads.length, num: true },
      { head: "Does", cell: (g) => <>{g.died ? <span class="tag suspect">died</span> : null} <Text s={g.does} /></>, by: (g) => g.does },
      { head: "In", cell: (g) => (g.method ? <Method name={g.method} brief /> : null), by: (g) => g.method },
      { head: "Thread", cell: (g) => <>{g.threads.slice(0, named).map(one)}{g.threads.length > named && <details><summary>{count(g.threads.length - named)} more</summary>{g.threads.slice(named).map(one)}</details>}</>, by: (g) => g.threads[0]?.index },
      ...times,
      { head: "Last exception", cell: (g) => g.threads.filter((r) => r.exception).slice(0, named).map((r) => <div><Link page="object" arg={r.exception!.address}><TypeName name={r.exception!.type} /></Link></div>), by: (g) => g.threads[0]?.exception?.type },
    ]} />
    {(t.threads ?? []).filter((x) => x.noTimes).map((x) => <p class="dim"><ThreadLink t={x} /> has no CPU time: {x.noTimes}.</p>)}</>;
  }}</Show>;
}

/** A thread: id is its number, or its id of the system as 0x…. */
function OneThread({ id }: { id: string }): JSX.Element {
  const threads = useDoc<Threads>(question("threads"));
  const t = threads?.result?.threads?.find((x) => (id.startsWith("0x") ? osThread(x.osId ?? 0) : String(x.index)) === id);
  const named = id.startsWith("0x") ? ["-tid", String(parseInt(id))] : [id];
  const q: Question = isReport ? question("frames") : { words: ["clrstack", "-a", "-native", ...named], count: 5000 };
  const doc = useDoc<Frames>(q, true);
  const [all, setAll] = useState(false);
  const frames = (doc?.result?.frames ?? []).filter((f) => f !== null).filter((f) => !isReport || f.osId === t?.osId);
  const first = frames.findIndex((f) => f.kind !== "native");
  const native = first > fewNative ? first : 0;
  return (
    <Section title={`Thread ${t?.index ?? id}${t?.name ? ` “${t.name}”` : ""}`}>
      <p><a href={link("threads")}>All threads</a>{t?.osId ? ` · OS id ${osThread(t.osId)} (${t.osId})` : ""}{t?.managedId !== undefined ? ` · managed id ${t.managedId}` : ""}{t && cpuTime([t]) ? ` · CPU time ${cpuText([t])}, ${t.kernelTime!.toFixed(2)} s of it in the kernel` : t?.noTimes ? ` · CPU time – (${t.noTimes})` : ""}{t?.state ? ` · state ${t.state}` : ""}{t?.gcMode ? ` · GC mode ${t.gcMode.toLowerCase()}` : ""} {(t?.special ?? []).map((s) => <span class="tag">{s}</span>)} {t?.thread && <Addr a={t.thread} />}</p>
      {t?.activity && <p class="lead">{t.activity.text.replace(/^./, (c) => c.toUpperCase())}{t.activity.callerFrame ? <> in <Method name={t.activity.callerFrame} /></> : null}.</p>}
      {t?.exception && <p>It threw <Link page="object" arg={t.exception.address}><TypeName name={t.exception.type} /></Link> last.</p>}
      {doc ? <>
        {isReport && (doc.shortened || total(doc, "frames", doc.result?.frames) > (doc.result?.frames ?? []).length) && <p class="note">The report does not have the frames of all threads.</p>}
        {doc.result && <p class="dim">{plural(isReport ? frames.length : total(doc, "frames", frames), "frame")}, the innermost first. <Copy what="the stack" text={() => frames.map((f) => frameName(f) + (f.file ? ` in ${f.file}:${f.line}` : "")).join("\n") + "\n"} /></p>}
        {native > fewNative && <p><button type="button" onClick={() => setAll(!all)}>{all ? "Fold" : "Show"} the {native} native frames above the first method</button></p>}
        <ol class="stack" data-fact="frames">{frames.map((f, i) => <FrameRow f={f} folded={i < native && !all} />)}</ol>
        <Notes doc={doc} />
      </> : <Waiting what="walking the stack" q={q} />}
    </Section>
  );
}

const frameName = (f: Frame): string => f.exact ?? f.method ?? f.symbol ?? (f.module ? `${f.module}+0x${(f.offset ?? 0).toString(16)}` : f.frame ?? "?");

/** More native frames than these above the first method are folded. */
const fewNative = 3;

function FrameRow({ f, folded }: { f: Frame; folded: boolean }): JSX.Element {
  const variables = [...(f.arguments ?? []).map((v) => ({ v, kind: "argument" })), ...(f.locals ?? []).map((v) => ({ v, kind: "local" }))];
  const name = frameName(f);
  return (
    <li class={f.kind ?? ""} hidden={folded}>
      <span class="name">{f.kind === "native" ? <span class="native">{f.module}!{f.symbol ?? `+0x${(f.offset ?? 0).toString(16)}`}</span> : <Method name={name} />}</span>
      {f.frame && f.frame !== name && <span class="tag">{f.frame}</span>} <Place file={f.file} line={f.line} /> <Addr a={f.ip} />{f.trust === "scan" && <span class="tag unknown">found by scanning</span>}
      {f.repeat && f.repeat > 1 ? <span class="tag">{count(f.repeat)} times</span> : null}
      {f.error && <p class="problem small"><Text s={f.error} /></p>}
      {variables.length > 0 && <details><summary>{plural(variables.length, "variable")}</summary><dl class="vars">{variables.map(({ v, kind }) => <div><dt>{v.name ?? `${kind} ${v.index}`}</dt><dd><VariableValue v={v} /></dd></div>)}</dl></details>}
    </li>
  );
}

function VariableValue({ v }: { v: Variable }): JSX.Element {
  return <><TypeName name={v.type} /> {v.state === "value" ? <>= <Text s={v.value ?? v.word} /></> : <span class="dim">&lt;{v.state}&gt;</span>}</>;
}
