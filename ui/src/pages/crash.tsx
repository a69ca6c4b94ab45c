// Why the process died, and other exceptions in it.
import type { JSX } from "preact";
import { question } from "../api";
import type { CrashFrame, CrashinfoResult as Crash, Exception, Json, QueryResult as Rows } from "../docs";
import { Addr, Link, Method, Place, Said, Section, Show, Table, Text, ThreadLink, TypeName, Verdicts } from "../parts";
import { link, useDoc } from "../state";
import { count } from "../text";

export function CrashPage(): JSX.Element {
  const doc = useDoc<Crash>(question("crash"));
  return <Show doc={doc} q={question("crash")} what="looking for a crash">{(c) => <>
    <section id="killed">
      {c.cause && <p class="lead" data-text={c.cause.text}><Said s={c.cause} /></p>}
      <Verdicts list={(c.verdicts ?? []).filter((v) => v.text !== c.likely && (!v.kind || v.kind === "crash"))} />
      {c.osThreadId !== undefined && <p>On <ThreadLink t={c.thread ?? { osId: c.osThreadId, ...(c.threadName ? { name: c.threadName } : {}) }} />{c.code ? ` (${c.code})` : ""}.</p>}
      {c.touched && <p>Faulting address <Addr a={c.touched.address} /> {c.touched.access ? `(${c.touched.access})` : ""}: <Text s={c.touched.what} /></p>}
    </section>
    {(c.exceptions ?? []).length > 0 && <Section title={c.exceptions!.length > 1 ? `Chain of ${c.exceptions!.length} exceptions` : "The exception"}>{c.exceptions!.map((e) => <Thrown e={e} />)}</Section>}
    {(c.stack ?? []).length > 0 && <Section title="Stack of the thread"><ol class="frames">{folded(c.stack ?? []).map(({ f, times }) => <li><Method name={f.method} /> <Place file={f.file} line={f.line} /> {times > 1 ? <span class="tag">{count(times)} times</span> : null} <Addr a={f.ip} /></li>)}</ol>
      {c.thread?.index !== undefined && <p><a href={link("threads", String(c.thread.index))}>With locals and native frames</a></p>}</Section>}
  </>}</Show>;
}

/** An exception with its message and the frames that it came through. */
function Thrown({ e }: { e: Exception }): JSX.Element {
  return <div class="card"><p><Link page="object" arg={e.address}>{e.type ? <TypeName name={e.type} /> : "An exception whose type can’t be read"}</Link>{e.message ? <>: <q>{e.message}</q></> : e.message === null ? <span class="dim"> (its message can’t be read)</span> : null}</p>
    <ol class="frames">{(e.frames ?? []).slice(0, 50).map((f) => <li>{f.function ? <Method name={f.function} /> : <span class="dim">a method whose name can’t be read, at <Addr a={f.ip} /></span>} <Place file={f.file} line={f.line} /></li>)}</ol></div>;
}

/** Frames of one method that follow each other, once. */
export function folded(frames: CrashFrame[]): { f: CrashFrame; times: number }[] {
  const out: { f: CrashFrame; times: number }[] = [];
  for (const f of frames) {
    const last = out[out.length - 1];
    if (last && f.method && last.f.method === f.method) last.times += f.repeat ?? 1;
    else out.push({ f, times: f.repeat ?? 1 });
  }
  return out;
}

const text = (v: Json | undefined): string => (typeof v === "string" ? v : "");

/** All exceptions on the heap, equal ones together. */
export function ExceptionsPage(): JSX.Element {
  const doc = useDoc<Rows>(question("exceptions"));
  const crash = useDoc<Crash>(question("crash"));
  const chain = (crash?.result?.exceptions ?? []).map((e) => e.address);
  return <Show doc={doc} q={question("exceptions")} what="looking for exceptions">{(r) => {
    const by = new Map<string, { type: string; message: string; first: string; n: number }>();
    for (const x of r.rows ?? []) {
      const type = text(x["type"]), message = text(x["_message"]);
      const g = by.get(type + "\n" + message) ?? { type, message, first: text(x["address"]), n: 0 };
      g.n++;
      by.set(type + "\n" + message, g);
    }
    // Those of the crash are above. The runtime makes some in advance, which have no message: they are below.
    const rank = (g: { first: string; message: string }): number => { const at = chain.indexOf(g.first); return at >= 0 ? at : chain.length + Number(!g.message); };
    const groups = [...by.values()].sort((a, b) => rank(a) - rank(b) || b.n - a.n);
    return <Table rows={groups} caption="exceptions on the heap" text={(g) => `${g.type} ${g.message}`} columns={[
      { head: "Type", cell: (g) => <TypeName name={g.type} />, by: (g) => g.type }, { head: "Exceptions", cell: (g) => count(g.n), by: (g) => g.n, num: true },
      { head: "Message", cell: (g) => (g.message ? <q>{g.message}</q> : null), by: (g) => g.message }, { head: "First", cell: (g) => <Addr a={g.first} /> }]} />;
  }}</Show>;
}
