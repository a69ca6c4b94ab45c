// What the program was doing: async code, locks, requests, connections.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { hasObject, hasThread, isReport, question, type Doc } from "../api";
import { tree } from "../chart";
import { Drawn } from "../drawn";
import { Flame } from "../flame";
import { around, type GraphEdge, type GraphNode } from "../graph";
import type { AsyncCall, AsyncstacksResult as AsyncStacks, AsyncWork, SqlpoolsResult as Databases, HttpclientsResult as HttpPools, HTTPWait, ObjectpoolsResult as ObjectPools, RedisResult as Redis, RedisQueue, SignalrResult as SignalR, Finding, Lock, LocksResult as Locks, OperationWait, ThreadpoolResult as Pool, Request, RequestsResult as Requests, TasksResult as Tasks, Thread, ThreadWait, TriageResult as Triage, Verdict, WaitsResult as Waits, Worker } from "../docs";
import { areaOf, groupRequests, isLibrary, objectsOf, seconds, type RequestGroup } from "../findings";
import { Addr, Breakable, Facts, isCut, Method, Notes, osThread, Place, Said, Section, Show, Strength, Table, Text, ThreadLink, TypeName, Verdicts, Waiting } from "../parts";
import { link, printing, useDoc } from "../state";
import { count, csharp, duration, lastParts, plural, shortMethod, shortType, time } from "../text";

const callName = (c: AsyncCall): string => c.method ?? c.name ?? "?";

export function AsyncPage(): JSX.Element {
  const doc = useDoc<AsyncStacks>(question("async"));
  const tasks = useDoc<Tasks>(question("tasks"));
  const faulted = useDoc<Tasks>(question("faulted"));
  const root = useMemo(() => tree(doc?.result?.calls ?? [], (c) => ({ name: csharp(callName(c)), label: shortMethod(callName(c)), value: c.count, note: c.await ? `awaits ${c.await}` : "", ...(c.object ? { address: c.object } : {}) }), "async code"), [doc]);
  const waitsDoc = useDoc<Waits>(question("waits")), waits = waitsDoc?.result;
  const graph = useMemo(() => asyncGraph(doc?.result?.calls ?? [], waits), [doc, waits]);
  const apart = useMemo(() => idleApart(doc?.result?.calls ?? [], isCut(waitsDoc) ? undefined : waits), [doc, waits]);
  return <>
    <Section title="Async stacks, merged">
      <Show doc={doc} q={question("async")} what="joining async methods">{(a) => (a.calls ?? []).length === 0 ? <p>No async method was found that is suspended.</p> : <>
        <p class="lead">{plural(a.stacks ?? 0, "async stack")}{a.more ? ", and more calls than are listed" : ""}.</p>
        <Flame id="async" root={root} label="Async stacks, merged" unit={(n) => plural(n, "call")} />
        <Drawn id="async" nodes={graph.nodes} edges={graph.edges} label="Which async method awaits which" legend="An arrow leads from a method to what it awaits; the last boxes are what is waited for." />
        <Calls list={apart.busy} />
        {printing.value && apart.busy.length > mostOnPaper && <p class="dim small">{count(mostOnPaper)} of {count(apart.busy.length)}.</p>}
        {apart.idle.length > 0 && <details><summary>{plural(apart.idle.reduce((n, c) => n + (c.depth === 0 ? c.count : 0), 0), "async stack")} with normal waits: for connections, data, work or time</summary><Calls list={apart.idle} /></details>}
      </>}</Show>
    </Section>
    <Section title="Tasks">
      <Show doc={tasks} q={question("tasks")} what="counting tasks" above={doc}>{(t) => <><p><b data-fact="tasks">{count(t.count)}</b> {t.count === 1 ? "task" : "tasks"}.</p>{(t.counts ?? []).length > 0 && <Table rows={t.counts ?? []} caption="tasks" text={(r) => `${r.name} ${r.status}`} columns={[
        { head: "State", cell: (r) => r.status, by: (r) => r.status }, { head: "Tasks", cell: (r) => count(r.count), by: (r) => r.count, num: true },
        { head: "What", cell: (r) => <Method name={r.name} />, by: (r) => r.name }, { head: "First", cell: (r) => <Addr a={r.first} /> }]} />}</>}</Show>
    </Section>
    <Section title="Unobserved exceptions">
      <Show doc={faulted} q={question("faulted")} what="looking for failed tasks" above={doc}>{(t) => (t.faults ?? []).length === 0 ? <p>No task was found that failed unseen.</p> : <ul>{(t.faults ?? []).map((f) => <li><Method name={f.name} /> <Addr a={f.task} />
        {(f.exceptions ?? []).map((e) => <div><TypeName name={e.type} />: <q>{e.message}</q> <Addr a={e.object} /></div>)}</li>)}</ul>}</Show>
    </Section>
  </>;
}

/** Divides merged async stacks: of idle ones, no method is among those that wait for something. */
export function idleApart(calls: AsyncCall[], w: Waits | undefined): { busy: AsyncCall[]; idle: AsyncCall[] } {
  const waiting = new Set((w?.operations ?? []).flatMap((o) => [o.method, o.from])), out = { busy: [] as AsyncCall[], idle: [] as AsyncCall[] };
  for (let i = 0; i < calls.length;) {
    let end = i + 1;
    while (end < calls.length && calls[end]!.depth > 0) end++;
    const stack = calls.slice(i, end), ends = stack.flatMap((c) => c.ends ?? []);
    const rests = (w?.idle ?? []).length > 0 && ends.length > 0 && !stack.some((c) => c.blocked || waiting.has(c.method));
    (rests ? out.idle : out.busy).push(...stack);
    i = end;
  }
  return out;
}

/** Async calls on paper. */
const mostOnPaper = 15;

/** Async calls, what each awaits below it. */
function Calls({ list }: { list: AsyncCall[] }): JSX.Element {
  return <ol class="calls">{list.slice(0, printing.value ? mostOnPaper : undefined).map((c) => (
    <li style={{ paddingLeft: `min(${1.2 * c.depth}em, 40%)` }}><b>{count(c.count)}</b> <Method name={callName(c)} /> {c.await && <>awaits <Method name={c.await} /></>} <Place file={c.file} line={c.line} /> <Addr a={c.object} />
      {c.blocked ? <span class="tag">{plural(c.blocked, "thread")} blocked</span> : null}
      <Locals of={c} />
      {(c.ends ?? []).map((e) => <div class="end">{runs(e.reason) ? <>{e.count > 1 ? `${count(e.count)}: ` : ""}{runs(e.reason)}</> : <>{e.count > 1 ? `${count(e.count)} wait` : "waits"} for <Text s={e.reason} /></>}</div>)}</li>))}</ol>;
}

/** The variables of the first of equal async calls, when they are asked for. */
function Locals({ of }: { of: AsyncCall }): JSX.Element | null {
  const list = [...(of.saved ?? []).flatMap((l) => l ?? []), ...(of.variables ?? [])];
  if (list.length === 0) return null;
  return <details><summary>{of.count > 1 ? `${plural(list.length, "variable")} of the first` : plural(list.length, "variable")}</summary>
    <Facts list={list.map((v) => [v.kind === "local" ? v.name : v.kind === "this" ? "this" : `${v.name} (parameter)`, <><Text s={v.value} /> <span class="dim"><TypeName name={v.type} /></span></>])} /></details>;
}

/** Threads, and async code, with what they wait for and who has it. */
function WaitGraph({ w }: { w: Waits }): JSX.Element | null {
  const { nodes, edges } = useMemo(() => {
    const g = waitGraph(w);
    // The rest is in the lists below: drawn is what leads to the threads and objects that a conclusion names.
    const named = new Set((w.verdicts ?? []).flatMap((v) => [...[...objectsOf(v.args, v.show)].map((o) => "o" + o), ...(v.args ?? []).flatMap((a) => (a.type === "thread" && a.thread !== undefined ? ["t" + a.thread] : []))]));
    return { nodes: around(g.nodes, g.edges, (n) => named.has(n.id)), edges: g.edges };
  }, [w]);
  return <Drawn id="waits" nodes={nodes} edges={edges} label="Who waits for whom" legend="An arrow leads from a thread or method to what it waits for, and from there to who has it." />;
}

/** How many threads that wait for one thing are drawn apart. */
const apart = 6;

function waitGraph(w: Waits): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const nodes = new Map<string, GraphNode>(), edges: GraphEdge[] = [];
  const node = (n: GraphNode): string => { if (!nodes.has(n.id)) nodes.set(n.id, n); return n.id; };
  const thread = (t: Thread): string => {
    const id = String(t.index ?? osThread(t.osId ?? 0));
    return node({ id: "t" + id, label: `thread ${id}${t.name ? ` ${t.name}` : ""}`, kind: "thread", href: hasThread(id) ? link("threads", id) : undefined });
  };
  const thing = (kind: string, name: string | undefined, object: string | undefined): string =>
    node({ id: object ? "o" + object : `k${kind} ${name}`, label: `${name ?? ""} ${kind}`.trim(), kind: "lock", note: object, href: object && hasObject(object) ? link("object", object) : undefined });
  const by = new Map<string, ThreadWait[]>();
  for (const t of w.threads ?? []) {
    const key = t.object ?? (t.owner ? `${t.kind} ${t.owner.index}` : "");
    if (key) by.set(key, [...(by.get(key) ?? []), t]);
  }
  for (const list of by.values()) {
    const first = list[0]!;
    const o = thing(first.kind, first.name, first.object);
    const owners = new Set(list.map((t) => t.owner?.index));
    // Many that wait for one thing and hold nothing are one node.
    const held = (t: ThreadWait): boolean => (w.threads ?? []).some((x) => x.owner?.index === t.thread.index);
    const many = list.filter((t) => !held(t));
    const single = many.length > apart ? list.filter(held) : list;
    for (const t of single) edges.push({ from: thread(t.thread), to: o, label: "waits for" });
    if (many.length > apart) edges.push({ from: node({ id: "m" + o, label: plural(many.length, "thread"), kind: "thread", note: many.slice(0, 30).map((t) => `thread ${t.thread.index}${t.thread.name ? ` ${t.thread.name}` : ""}`).join("\n") }), to: o, label: "wait for" });
    for (const index of owners) {
      const owner = list.find((t) => t.owner?.index === index)?.owner;
      if (owner) edges.push({ from: o, to: thread(owner), label: "held by" });
    }
  }
  for (const [i, p] of (w.operations ?? []).entries()) {
    if (!p.object && !p.name) continue;
    const o = thing(p.kind, p.name, p.object), first = p.first?.[0];
    edges.push({ from: node({ id: "p" + i, label: `${p.count > 1 ? `${p.count} × ` : ""}${shortMethod(p.method ?? "?")}`, kind: "code", note: p.text, href: first && hasObject(first) ? link("object", first) : undefined }), to: o, label: p.count === 1 ? "waits for" : "wait for" });
    for (const h of p.holders ?? []) edges.push({ from: o, to: h.thread ? thread(h.thread) : node({ id: "o" + h.object, label: shortMethod(h.method ?? "?"), kind: "code", note: h.waits ? `waits for ${h.waits}` : undefined, href: h.object && hasObject(h.object) ? link("object", h.object) : undefined }), label: `${p.kind === "promise" ? "completed by" : "entered by"} (${h.strength})` });
  }
  return { nodes: [...nodes.values()], edges };
}

/** Nodes of a graph that is drawn as a whole. */
const readable = 30;

/** Async methods that await each other, and what the last ones wait for. Of many, those that a conclusion names are kept, with what leads to them. */
function asyncGraph(calls: AsyncCall[], waits: Waits | undefined): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const nodes: GraphNode[] = [], edges: GraphEdge[] = [], ends = new Set<string>();
  const above: string[] = [];
  for (const [i, c] of calls.entries()) {
    above.length = Math.min(above.length, c.depth);
    const id = "c" + i, parent = above[above.length - 1];
    nodes.push({ id, label: `${c.count > 1 ? `${c.count} × ` : ""}${shortMethod(callName(c))}`, kind: "code", object: c.object, note: c.await ? `awaits ${c.await}` : undefined, href: c.object && hasObject(c.object) ? link("object", c.object) : undefined });
    if (parent) edges.push({ from: parent, to: id, label: "awaits" });
    for (const e of c.ends ?? []) {
      const end = "e" + e.reason;
      if (!ends.has(end)) { ends.add(end); nodes.push({ id: end, label: runs(e.reason) ?? e.reason, kind: "lock" }); }
      edges.push({ from: id, to: end, label: e.count > 1 ? `${e.count} wait` : "waits" });
    }
    above.push(id);
  }
  if (nodes.length > readable) {
    const named = new Set((waits?.verdicts ?? []).flatMap((v) => (v.show ?? []).flatMap((c) => { const m = /^dumpasync -address (?:0x)?0*([0-9a-f]+)$/.exec(c); return m ? ["0x" + m[1]] : []; })));
    return { nodes: around(nodes, edges, (n) => named.has(n.object ?? "")), edges };
  }
  return { nodes, edges };
}

/** Conclusions in the order of the findings, which is by how bad they are. */
export function rankedBy<V extends { text: string }>(list: V[], findings: { text: string }[]): V[] {
  const rank = (v: V): number => { const i = findings.findIndex((f) => says(f, v)); return i < 0 ? findings.length : i; };
  return [...list].sort((a, b) => rank(a) - rank(b));
}

/** Whether a finding is a conclusion, to which it may add whom it concerns. */
const says = (f: { text: string }, v: { text: string }): boolean => f.text.startsWith(v.text) || f.text.startsWith(v.text.replace(/^[^:]*: /, ""));

/** The conclusions of the waits, and the findings of other commands that tell why work does not go on: of a server that does not answer, or a pool. */
export const whyWaits = (conclusions: Verdict[], findings: Finding[]): Verdict[] =>
  rankedBy([...conclusions, ...findings.filter((f) => areaOf(f.kind) === "hang" && !conclusions.some((v) => says(f, v)))], findings);

/** Threads that findings name first, in the order of the findings. */
function concernedFirst(threads: ThreadWait[], findings: Finding[]): ThreadWait[] {
  const rank = (t: ThreadWait): number => {
    const i = findings.findIndex((f) => f.args?.some((a) => (a.type === "thread" && a.thread !== undefined && a.thread === t.thread.index) || (a.address !== undefined && a.address === t.object)));
    return i < 0 ? findings.length : i;
  };
  return [...threads].sort((a, b) => rank(a) - rank(b));
}

/** What code does that waits for nothing; undefined where it waits. */
const runs = (reason: string): string | undefined => /^nothing: it (.*)/.exec(reason)?.[1];

/** Who waits for whom. */
export function WaitsPage(): JSX.Element {
  const waits = useDoc<Waits>(question("waits"));
  const quick = useDoc<Triage>(question(isReport ? "triage" : "quick"));
  const findings = quick?.result?.findings ?? [];
  return <Show doc={waits} q={question("waits")} what="reading what threads wait for">{(w) => <>
    <Verdicts list={whyWaits(w.verdicts ?? [], findings)} />
    <WaitGraph w={w} />
    {(w.operations ?? []).length > 0 && <Section title="Async code that waits"><Table<OperationWait> rows={w.operations ?? []} caption="suspended async methods" sort={0} text={(o) => `${o.request} ${o.method} ${o.text} ${o.state}`} columns={[
      { head: "Count", cell: (o) => count(o.count), by: (o) => o.count, num: true }, { head: "Request", cell: (o) => o.request && <b>{o.request}</b>, by: (o) => o.request },
      { head: "Where", cell: (o) => <><Method name={o.method} brief /> <Place file={o.file} line={o.line} /></>, by: (o) => o.method },
      { head: "Waits for", cell: (o) => <><Said s={o} short />{o.state ? `, ${o.state}` : ""} <Addr a={o.object} />{(o.holders ?? []).map((h) => <div class="end"><Method name={h.method} brief /> <Addr a={h.object} /> {o.kind === "promise" ? "completes it later" : "has entered it"}{h.waits ? <> and waits for {h.thing ? <Said s={h.thing} short /> : h.waits}</> : null} <Strength of={h.strength} /></div>)}</>, by: (o) => o.text },
      { head: "First", cell: (o) => <Addr a={o.first?.[0]} /> }]} /></Section>}
    <Section title="Threads that wait">{(w.threads ?? []).length === 0 ? <p>No thread found waiting.</p> : <Table<ThreadWait> rows={concernedFirst(w.threads ?? [], findings)} caption="waiting threads" text={(t) => `${t.thread.index} ${t.thread.name} ${t.text} ${t.method}`} columns={[
      { head: "Thread", cell: (t) => <ThreadLink t={t.thread} />, by: (t) => t.thread.index },
      { head: "Waits for", cell: (t) => <>{t.name ? <>{shortType(t.kind)} <Text s={lastParts(t.name)} /></> : <span class="sentence"><Said s={t} short /></span>} <Addr a={t.object} />{!t.until ? null : runs(t.until) ? <>, which {runs(t.until)}</> : <>, which waits for <Text s={t.until} /></>}</>, by: (t) => t.text },
      { head: "Held by", cell: (t) => (t.owner ? <ThreadLink t={t.owner} /> : null), by: (t) => t.owner?.index },
      { head: "Where", cell: (t) => <><Method name={t.method} brief /> <Place file={t.file} line={t.line} /></>, by: (t) => t.method }, { head: "Known", cell: (t) => t.how, by: (t) => t.how }]} />}</Section>
    {(w.idle ?? []).length > 0 && <p class="dim">Normal waits: {(w.idle ?? []).map((i) => `${i.reason} (${i.count})`).join("; ")}.</p>}
  </>}</Show>;
}

/** How many waiters of a lock are listed. */
const mostWaiters = 3;

/** Who waits for a lock: threads, and tasks, equal ones together. */
function Waiters({ of }: { of: Lock }): JSX.Element {
  const tasks = new Map<string, { n: number; task: string }>();
  for (const x of of.asyncWaiters ?? []) {
    const name = ownCode(x.stack ?? []) ?? "";
    tasks.set(name, { n: (tasks.get(name)?.n ?? 0) + 1, task: tasks.get(name)?.task ?? x.task });
  }
  const all = [...(of.waiting ?? []).map((x) => <div><ThreadLink t={x.thread} />{x.pulse ? " for a pulse" : ""}</div>),
    ...[...tasks].map(([name, t]) => <div>{t.n > 1 ? `${count(t.n)} × ` : ""}{name ? <Method name={name} brief /> : "task"} <Addr a={t.task} /></div>)];
  return <>{all.slice(0, mostWaiters)}{all.length > mostWaiters && <details><summary>{count(all.length - mostWaiters)} more</summary>{all.slice(mostWaiters)}</details>}</>;
}

/** The innermost method of the program in a stack, or the innermost at all. */
const ownCode = (stack: string[]): string | undefined => stack.find((s) => !isLibrary(s)) ?? stack[0];

/** Threads and tasks that wait for a lock, also for a pulse, which the lock does not count. */
const waitersOf = (l: Lock): number => Math.max(l.waiters ?? 0, (l.waiting ?? []).length) + (l.asyncWaiters ?? []).length;

export function LocksPage(): JSX.Element {
  const locks = useDoc<Locks>(question("locks"));
  return <Show doc={locks} q={question("locks")} what="looking for locks">{(l) => (l.locks ?? []).length === 0 ? <p>No lock was found.</p> : (
    <Table<Lock> rows={l.locks ?? []} caption="locks" sort={3} text={(r) => `${r.name} ${r.kind} ${r.type} ${r.owner?.name} ${r.state}`} columns={[
      { head: "Lock", cell: (r) => <>{r.name ? <><span class="type" title={r.name}><Breakable s={lastParts(r.name)} /></span> </> : null}<Addr a={r.address} /></>, by: (r) => r.name },
      // A monitor that has no entry in the table of locks is one, too; and a lock is of its own class.
      { head: "Kind", cell: (r) => <>{r.kind.replace(/^thin /, "")}{r.type && shortType(r.type) !== r.kind ? <> of <TypeName name={r.type} /></> : null}</>, by: (r) => r.kind.replace(/^thin /, "") },
      { head: "Held by, or its state", cell: (r) => r.owner ? <ThreadLink t={r.owner} /> : (r.readers ?? []).length ? <>{(r.readers ?? []).map((t) => <><ThreadLink t={t} /> (reads) </>)}</> : r.held ? "unknown" : r.state },
      { head: "Waiters", cell: (r) => count(waitersOf(r)), by: waitersOf, num: true }, { head: "Who waits", cell: (r) => <Waiters of={r} /> }]} />)}</Show>;
}

/** The method of the program that async code stands in, or its innermost method. */
const codeOf = (w: AsyncWork): string | null | undefined => {
  const frames = w.frames ?? [];
  return ownCode(frames.flatMap((f) => (f.method ? [f.method] : []))) ?? frames[0]?.name;
};

function Work({ threads, stack }: { threads: Worker[] | null | undefined; stack: AsyncWork | undefined }): JSX.Element {
  return <>{(threads ?? []).map((t) => <div class="sentence"><ThreadLink t={t} /> <Text s={t.does} />{t.method && <> in <Method name={t.method} brief /></>}</div>)}
    {stack && <div>{stack.frames?.[0] && <><Method name={codeOf(stack)} brief /> </>}waits for <Text s={stack.reason} /></div>}</>;
}

function Sent({ list }: { list: HTTPWait[] | null | undefined }): JSX.Element {
  return <>{(list ?? []).map((r) => <div>{r.method} <span class="wrap">{r.uri}</span> <Addr a={r.request} />{typeof r.ageMs === "number" && <span class="dim"> for at least {(r.ageMs / 1000).toFixed(1)} s</span>}<Work threads={undefined} stack={r.stack} /></div>)}</>;
}

function Queue({ q }: { q?: RedisQueue }): JSX.Element {
  return <>{count(q?.count)}{q?.first && <span class="dim"> first {q.command} <Addr a={q.first} /> {time(q.since)}</span>}</>;
}

/** What was looked for and is not there, in one sentence, and why something can't be known, once. */
function Others({ list }: { list: [doc: Doc<unknown> | undefined, here: boolean, name: string][] }): JSX.Element | null {
  const others = list.filter(([, here]) => !here);
  const none = others.filter(([doc]) => doc && !doc.error).map(([, , name]) => name);
  const failed = others.flatMap(([doc, , name]) => (doc?.error ? [{ doc, name }] : []));
  const waiting = others.filter(([doc]) => !doc).map(([, , name]) => name);
  const first = failed[0]?.doc.error?.text ?? "";
  const same = failed.filter(({ doc }) => doc.error?.text === first);
  if (others.length === 0) return null;
  return (
    <Section title="Connections">
      {none.length > 0 && <p>Looked for and not found: {none.join(", ")}.</p>}
      {others.map(([doc]) => doc && !doc.error && <Notes doc={doc} />)}
      {same.length > 0 && <p>Not known: {same.map(({ name }) => name).join(", ")}.</p>}
      {same[0] && <Notes doc={same[0].doc} />}
      {failed.filter(({ doc }) => doc.error?.text !== first).map(({ doc }) => <Notes doc={doc} />)}
      {waiting.length > 0 && <Waiting what={`looking for ${waiting.join(", ")}`} />}
    </Section>
  );
}

/** Requests that are listed one by one in a group. */
const mostInGroup = 50;

/** The web requests, by route and wait. */
export function RequestsPage(): JSX.Element {
  const doc = useDoc<Requests>(question("requests"));
  const idle = useDoc<Waits>(question("waits"))?.result?.idle ?? [];
  return <Show doc={doc} q={question("requests")} what="reading web requests">{(r) => {
    const groups = groupRequests(r.requests ?? [], idle);
    if (groups.length === 0) return <p>No web request was found.</p>;
    const busy = groups.filter((g) => !g.idle), normal = groups.filter((g) => g.idle);
    return <>
      <Groups list={busy} caption="requests by route and wait" />
      {normal.length > 0 && <Section title="Idle connections and streams"><Groups list={normal} caption="idle requests" /></Section>}
    </>;
  }}</Show>;
}

function Groups({ list, caption }: { list: RequestGroup[]; caption: string }): JSX.Element | null {
  return list.length === 0 ? null : <Table<RequestGroup> rows={list} caption={caption} text={(g) => `${g.name} ${g.does} ${g.method} ${g.requests.map((x) => `${x.path} ${x.user}`).join(" ")}`} columns={[
    { head: "Requests", cell: (g) => count(g.requests.length), by: (g) => g.requests.length, num: true },
    { head: "Route", cell: (g) => <><b>{g.name}</b>{g.requests.length === 1 ? <OneRequest x={g.requests[0]!} short /> : <Each of={g} />}</>, by: (g) => g.name }, { head: "Does", cell: (g) => <Text s={g.does} />, by: (g) => g.does },
    { head: "Where", cell: (g) => (g.method ? <><Method name={g.method} brief /> <Place file={g.file} line={g.line} /></> : null), by: (g) => g.method },
    { head: "Oldest", cell: (g) => duration(g.age), by: (g) => seconds(g.age) || 0, num: true }]} />;
}

/** The requests of a group, one by one. */
function Each({ of }: { of: RequestGroup }): JSX.Element {
  return <details><summary>{plural(of.requests.length, "request")}</summary>
    {of.requests.slice(0, mostInGroup).map((x) => <OneRequest x={x} />)}
    {of.requests.length > mostInGroup && <div class="dim">and {count(of.requests.length - mostInGroup)} more</div>}</details>;
}

function OneRequest({ x, short = false }: { x: Request; short?: boolean }): JSX.Element {
  return <div class="sentence">{x.path}<span class="dim">{x.query}</span> <Addr a={x.context ?? x.object} /> {short ? null : duration(x.age)} <span class="dim">{x.state}</span>{x.exception ? <> threw <Addr a={x.exception} /></> : null}
    {short ? (x.threads ?? []).map((t) => <> <ThreadLink t={t} /></>) : <Work threads={x.threads} stack={x.stack} />}</div>;
}

/** The thread pool, and pools of connections. */
export function PoolsPage(): JSX.Element {
  const pool = useDoc<Pool>(question("pool"));
  const clients = useDoc<HttpPools>(question("clients"));
  const sql = useDoc<Databases>(question("databases"));
  const hubs = useDoc<SignalR>(question("hubs"));
  const redis = useDoc<Redis>(question("redis"));
  const pools = useDoc<ObjectPools>(question("objectpools"));
  const here = { sql: !!sql?.result?.pools?.length, clients: !!clients?.result?.pools?.length, redis: !!redis?.result?.multiplexers?.length, pools: !!pools?.result?.pools?.length, hubs: !!(hubs?.result && (hubs.result.hubs ?? []).length + (hubs.result.circuits ?? []).length) };
  return <>
    <ThreadPool doc={pool} />
    {here.sql && <Section title="Database connections">
      <Show doc={sql} q={question("databases")} what="reading them">{(d) => <>{(d.pools ?? []).map((p, i) => (
        <article class="card"><h3><TypeName name={p.type} /> <Addr a={p.address} /></h3><p><code>{p.connectionString}</code></p>
          <Facts list={[["open", count(p.open)], ["in use", count(p.busy)], ["free", count(p.idle)], ["max", count(p.max)], ["waiting calls", count(p.waiting)], ["state", p.state]]} />
          {p.blocked && <p class="problem">The last attempt to open a connection failed, and all fail for a while.</p>}
          <Table rows={p.connections ?? []} caption={`connections of pool ${i + 1}`} columns={[{ head: "Connection", cell: (c) => <Addr a={c.address} /> }, { head: "Database", cell: (c) => c.database },
            { head: "Command", cell: (c) => c.command && <><code>{c.command.text}</code> {c.command.running ? <span class="tag">running</span> : null} <Addr a={c.command.address} /></> },
            { head: "Since", cell: (c) => time(c.command?.since) }, { head: "Holder", cell: (c) => <>{c.contextType && <div><TypeName name={c.contextType} /> <Addr a={c.context} /></div>}<Work threads={c.threads} stack={c.stack} /></> }]} />
          {(p.opening ?? []).length > 0 && <Table rows={p.opening ?? []} caption={`calls that wait for a connection of pool ${i + 1}`} columns={[{ head: "Waits for a connection", cell: (o) => <Addr a={o.owner} /> }, { head: "Since", cell: (o) => time(o.since) },
            { head: "Until", cell: (o) => time(o.deadline) }, { head: "Who waits", cell: (o) => <Work threads={o.threads} stack={o.stack} /> }]} />}</article>))}</>}</Show>
    </Section>}
    {here.clients && <Section title="Requests of this process to others">
      <Show doc={clients} q={question("clients")} what="reading them">{(h) => <>
        <Verdicts list={h.verdicts} />
        <Table rows={h.pools ?? []} caption="HTTP connections" columns={[{ head: "Server", cell: (p) => <>{p.host}:{p.port} <Addr a={p.address} /></>, by: (p) => p.host }, { head: "Connections", cell: (p) => count(p.connections), num: true },
          { head: "Running", cell: (p) => <Sent list={p.running} /> }, { head: "Waiting", cell: (p) => <Sent list={p.waiting} /> }]} /></>}</Show>
    </Section>}
    {here.redis && <Section title="Redis">
      <Show doc={redis} q={question("redis")} what="reading them">{(r) => <>
        <Verdicts list={r.verdicts} />
        {(r.multiplexers ?? []).map((m, i) => <Table rows={m.connections ?? []} caption={`connections to Redis of multiplexer ${i + 1}`} columns={[{ head: "Connection", cell: (c) => <>{c.name} <Addr a={c.address} /></>, by: (c) => c.name }, { head: "State", cell: (c) => c.state },
          { head: "To be sent", cell: (c) => <Queue q={c.backlog} /> }, { head: "Unanswered", cell: (c) => <Queue q={c.sent} /> }]} />)}</>}</Show>
    </Section>}
    {here.hubs && <Section title="SignalR">
      <Show doc={hubs} q={question("hubs")} what="reading them">{(d) => <>
        {(d.hubs ?? []).map((h, i) => <article class="card"><h3><TypeName name={h.hub} /> <Addr a={h.address} /></h3>
          <Table rows={h.connections ?? []} caption={`clients of hub ${i + 1}`} columns={[{ head: "Client", cell: (c) => <>{c.id} <Addr a={c.address} /></>, by: (c) => c.id }, { head: "User", cell: (c) => c.user, by: (c) => c.user },
            { head: "Messages that wait", cell: (c) => count(c.waiting), num: true }, { head: "State", cell: (c) => (c.aborted ? "aborted" : "") }]} />
          <Table rows={h.groups ?? []} caption={`groups of hub ${i + 1}`} columns={[{ head: "Group", cell: (g) => g.name, by: (g) => g.name }, { head: "Clients", cell: (g) => count(g.connections), num: true }]} /></article>)}
        {(d.circuits ?? []).length > 0 && <Table rows={d.circuits ?? []} caption="circuits of Blazor" columns={[{ head: "Circuit", cell: (c) => <>{c.id} <Addr a={c.address} /></> }, { head: "Connection", cell: (c) => c.connection },
          { head: "Connected", cell: (c) => (c.connected ? "yes" : "no") }]} />}</>}</Show>
    </Section>}
    {here.pools && <Section title="Object pools">
      <Show doc={pools} q={question("objectpools")} what="reading them">{(d) => (
        <Table rows={d.pools ?? []} caption="object pools" columns={[{ head: "Objects", cell: (p) => <><TypeName name={p.of} /> <Addr a={p.address} /></>, by: (p) => p.of }, { head: "Held by", cell: (p) => p.name, by: (p) => p.name },
          { head: "Kept", cell: (p) => count(p.retained), num: true }, { head: "At most", cell: (p) => count(p.max), num: true }]} />)}</Show>
    </Section>}
    <Others list={[[sql, here.sql, "pools of database connections"], [clients, here.clients, "pools of HTTP connections"], [redis, here.redis, "multiplexers of StackExchange.Redis"], [hubs, here.hubs, "hubs of SignalR"], [pools, here.pools, "pools of Microsoft.Extensions.ObjectPool"]]} />
  </>;
}

function ThreadPool({ doc }: { doc: Doc<Pool> | undefined }): JSX.Element {
  return <Section title="Thread pool">
    <Show doc={doc} q={question("pool")} what="reading the thread pool">{(p) => <>
      <Verdicts list={p.verdicts} />
      <Facts list={[["workers", count(p.workers)], ["busy", count(p.running)], ["target", count(p.goal)], ["blocked", p.blocked ? count(p.blocked) : undefined], ["min", count(p.min)], ["max", count(p.max)], ["queued", count(p.queued)], ["CPU", p.cpu !== undefined ? `${p.cpu}%` : undefined]]} />
      {(p.workerThreads ?? []).length > 0 && <Table rows={p.workerThreads ?? []} caption="workers" columns={[{ head: "Worker", cell: (w) => <ThreadLink t={w.thread} /> }, { head: "Does", cell: (w) => <Text s={w.activity?.text} />, by: (w) => w.activity?.text },
        { head: "Where", cell: (w) => { const f = w.activity?.callerFrame ?? w.activity?.topFrame; return f ? <Method name={f} brief /> : null; } }]} />}
    </>}</Show>
  </Section>;
}
