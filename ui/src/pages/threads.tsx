import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { isReport, question, type Question } from "../api";
import { callees, callers, merge, totals, type Node, type Stack, type Total } from "../chart";
import { Flame } from "../flame";
import type { CrashinfoResult as Crash, Frame, ClrstackResult as Frames, StacksResult as Stacks, ManagedThread as Thread, ThreadSample, ClrthreadsResult as Threads, Variable } from "../docs";
import { Addr, Copy, Link, Method, Notes, osThread, Place, Section, Share, Show, Table, Text, ThreadLink, total, TypeName, Waiting } from "../parts";
import { link, route, useDoc, useParam } from "../state";
import { count, csharp, plural, shortMethod } from "../text";

/** All threads, or one of them with its variables. */
export function ThreadsPage(): JSX.Element {
  const one = route.value.arg;
  return one ? <OneThread id={one} /> : <><Merged /><List /></>;
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
  const root = useMemo(() => merge(shown.map(stackOf), "threads"), [shown]);
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
        <p class="dim">{plural(shown.length, "thread")} with managed frames{total(d, "stacks", stacks) > stacks.length ? ` among the first ${count(stacks.length)} of ${count(total(d, "stacks", stacks))}` : ""}; the outermost frame is on top.
          {stacks.length > shown.length ? ` Of ${plural(stacks.length - shown.length, "thread")} no managed frame is known.` : ""}</p>
        <div class="views" role="group" aria-label="How stacks are shown">{views.map(([id, text]) => <button type="button" aria-pressed={view === id} onClick={() => setView(id)}>{text}</button>)}</div>
        {view === "threads" ? <Flame id="threads" root={byThread} label="Stacks of threads, in the order of the threads" unit={threadsOf} />
          : view === "sandwich" ? <Sandwich root={root} method={method} choose={setMethod} />
          : <Flame id="stacks" root={root} label="Stacks of all threads, merged, the largest first" unit={threadsOf} choose={{ key: "c", text: "callers and callees", run: (n) => { setMethod(n.name); setView("sandwich"); } }} />}
        <details><summary>The same as a list: {plural(groups.length, "stack")}</summary>
          {groups.slice(0, 200).map((g) => <div class="card"><p><b>{plural(g.length, "thread")}</b> {g.slice(0, 30).map((s) => <><ThreadLink t={numbered(s)} />{" "}</>)}</p>
            <ol class="frames">{(g[0]?.frames ?? []).slice(0, 60).map((f) => <li><Method name={f.name} /> <Place file={f.file} line={f.line} /></li>)}</ol></div>)}</details>
      </>}</Show>
    </Section>
  );
}

const views = [["largest", "Merged, largest first"], ["threads", "By thread"], ["sandwich", "Callers and callees"]] as const;
const threadsOf = (n: number): string => plural(n, "thread");

function stackOf(s: ThreadSample): Stack {
  const f = [...(s.frames ?? [])].reverse();
  const names = f.map((x) => csharp(x.name ?? x.module ?? "?"));
  return { names, labels: names.map(shortMethod), groups: f.map((x) => x.module ?? "") };
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

function List(): JSX.Element {
  const doc = useDoc<Threads>(question("threads"));
  const crash = useDoc<Crash>(question("crash"));
  return (
    <Section title="Threads">
      <Show doc={doc} q={question("threads")} what="listing threads">{(t) => (
        <Table<Thread> rows={t.threads ?? []} caption="threads" text={(r) => `${r.index} ${r.name} ${r.osId} ${osThread(r.osId ?? 0)} ${r.activity?.text} ${r.activity?.callerFrame} ${r.exception?.type}`} columns={[
          { head: "Thread", cell: (r) => <ThreadLink t={r} />, by: (r) => r.index },
          { head: "", cell: (r) => { const died = r.osId !== undefined && r.osId === crash?.result?.osThreadId; return died || r.special?.length ? <>{died ? <span class="tag suspect">died</span> : null} {(r.special ?? []).map((s) => <span class="tag">{s}</span>)}</> : null; } },
          { head: "Does", cell: (r) => <Text s={r.activity?.text} />, by: (r) => r.activity?.text },
          { head: "In", cell: (r) => { const f = r.activity?.callerFrame ?? r.activity?.topFrame; return f ? <Method name={f} /> : null; }, by: (r) => r.activity?.callerFrame },
          { head: "Exception", cell: (r) => r.exception ? <Link page="object" arg={r.exception.address}><TypeName name={r.exception.type} /></Link> : null, by: (r) => r.exception?.type },
          { head: "System's id", cell: (r) => r.osId ? osThread(r.osId) : "ended", by: (r) => r.osId, num: true },
          { head: "Managed id", cell: (r) => r.managedId, by: (r) => r.managedId, num: true },
        ]} />)}</Show>
    </Section>
  );
}

/** A thread: id is its number, or its id of the system as 0x…. */
function OneThread({ id }: { id: string }): JSX.Element {
  const threads = useDoc<Threads>(question("threads"));
  const t = threads?.result?.threads?.find((x) => (id.startsWith("0x") ? osThread(x.osId ?? 0) : String(x.index)) === id);
  const named = id.startsWith("0x") ? ["-tid", String(parseInt(id))] : [id];
  const q: Question = isReport ? question("frames") : { words: ["clrstack", "-a", "-native", ...named], count: 5000 };
  const doc = useDoc<Frames>(q, true);
  const frames = (doc?.result?.frames ?? []).filter((f) => f !== null).filter((f) => !isReport || f.osId === t?.osId);
  return (
    <Section title={`Thread ${t?.index ?? id}${t?.name ? ` “${t.name}”` : ""}`}>
      <p><a href={link("threads")}>All threads</a>{t?.osId ? ` · system's id ${osThread(t.osId)} (${t.osId})` : ""}{t?.managedId !== undefined ? ` · managed id ${t.managedId}` : ""} {(t?.special ?? []).map((s) => <span class="tag">{s}</span>)} {t?.thread && <Addr a={t.thread} />}</p>
      {t?.activity && <p class="lead">{t.activity.text.replace(/^./, (c) => c.toUpperCase())}{t.activity.callerFrame ? <> in <Method name={t.activity.callerFrame} /></> : null}.</p>}
      {t?.exception && <p>It threw <Link page="object" arg={t.exception.address}><TypeName name={t.exception.type} /></Link> last.</p>}
      {doc ? <>
        {isReport && (doc.shortened || total(doc, "frames", doc.result?.frames) > (doc.result?.frames ?? []).length) && <p class="note">The report does not have the frames of all threads.</p>}
        {doc.result && <p class="dim">{plural(isReport ? frames.length : total(doc, "frames", frames), "frame")}, the innermost first. <Copy what="the stack" text={() => frames.map((f) => frameName(f) + (f.file ? ` in ${f.file}:${f.line}` : "")).join("\n") + "\n"} /></p>}
        <ol class="stack" data-fact="frames">{frames.map((f) => <FrameRow f={f} />)}</ol><Notes doc={doc} />
      </> : <Waiting what="walking the stack" q={q} />}
    </Section>
  );
}

const frameName = (f: Frame): string => f.exact ?? f.method ?? f.symbol ?? (f.module ? `${f.module}+0x${(f.offset ?? 0).toString(16)}` : f.frame ?? "?");

function FrameRow({ f }: { f: Frame }): JSX.Element {
  const variables = [...(f.arguments ?? []).map((v) => ({ v, kind: "argument" })), ...(f.locals ?? []).map((v) => ({ v, kind: "local" }))];
  const name = frameName(f);
  return (
    <li class={f.kind ?? ""}>
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
