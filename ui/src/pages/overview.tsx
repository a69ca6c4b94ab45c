import type { JSX } from "preact";
import { question } from "../api";
import type { CrashinfoResult as Crash, DoctorResult as Doctor, DumpheapResult as Heap, LeaksResult as Leaks, ThreadpoolResult as Pool, RequestsResult as Requests, Suspect, SqlpoolsResult as Databases, TriageResult as Triage, Verdict, WaitsResult as Waits } from "../docs";
import { Addr, Command, Facts, Link, Method, Notes, ObjectName, osThread, Place, RootName, Said, Section, Show, Text, ThreadLink, total, TypeName, Verdicts, Waiting } from "../parts";
import { link, useDoc } from "../state";
import { bytes, count, linked, percent, plural, time } from "../text";

/** What is wrong, what killed the process, what fills it, who waits for whom: the answers to the questions that people come with. */
export function Overview(): JSX.Element {
  return <><Head /><Wrong /><Killed /><Fills /><WaitsFor /></>;
}

/** The findings of triage, the most severe first. It needs all that the sections below ask for, and asks last. */
function Wrong(): JSX.Element {
  const types = useDoc<Heap>(question("types"));
  const leaks = useDoc<Leaks>(types ? question("leaks") : undefined);
  const doc = useDoc<Triage>(leaks ? question("triage") : undefined);
  const t = doc?.result;
  return (
    <Section title="What is wrong" id="wrong">
      {!doc && <Waiting what="looking for what is wrong" q={question("triage")} />}
      {doc && !t && <Notes doc={doc} cuts={false} />}
      {t && <>
        {t.findings?.length ? <ol class="verdicts">{t.findings.map((f) => (
          <li><span class={`tag ${f.severity}`}>{f.kind}</span> <Said s={f} /> <span class={`tag ${f.strength}`}>{f.strength}</span>
            {f.osThreadId !== undefined && !linked(f).some((p) => p.thread) && <> <Link page="threads" arg={osThread(f.osThreadId)}>thread {osThread(f.osThreadId)}</Link></>}
            {f.object !== undefined && !linked(f).some((p) => p.address === f.object) && <> <Addr a={f.object} /></>}
            {f.clauses?.length ? <details><summary>evidence</summary><Verdicts list={f.clauses} /></details> : null}
            {f.next?.length ? <p class="next">Next: {f.next.map((c) => <><Command line={c} />{" "}</>)}</p> : null}</li>
        ))}</ol> : <p>Nothing wrong was found{t.unknown?.length ? " in what could be looked at" : ""}.</p>}
        {t.quiet?.length ? <p class="dim">Nothing found: {t.quiet.join(", ")}.</p> : null}
        {t.unknown?.length ? <details class="note"><summary>{plural(t.unknown.length, "subject")} could not be looked at, or not whole</summary>
          <ul>{t.unknown.map((u) => <li>{u.partly ? "Partly read" : "Not looked at"}: {u.subject}: <Text s={u.reason} /></li>)}</ul></details> : null}
      </>}
    </Section>
  );
}

function Head(): JSX.Element {
  const doc = useDoc<Doctor>(question("doctor"));
  return (
    <Show doc={doc} q={question("doctor")} what="reading the dump">{(d) => {
      const r = d.runtimes?.find((x) => x.chosen) ?? d.runtimes?.[0];
      const lacking = (d.parts ?? []).filter((p) => p.state !== "whole");
      return <>
        <Facts list={[["process", d.command ? <Text s={d.command} /> : undefined], ["runtime", r ? `${r.kind ?? ""} ${r.version ?? ""}` : undefined],
          ["system", [d.distribution ?? d.os, d.arch].filter(Boolean).join(", ")], ["taken", time(d.taken)], ["threads", d.threads !== undefined ? <a href={link("threads")}>{count(d.threads)}</a> : undefined],
          ["dump", `${d.format ?? ""} ${bytes(d.size)}`]]} />
        {lacking.length > 0 && <p class="note">The dump does not have all of the process: {lacking.map((p) => `${p.name} ${p.state}`).join(", ")}. <a href={link("doctor")}>What is missing</a></p>}
      </>;
    }}</Show>
  );
}

function Killed(): JSX.Element {
  const doc = useDoc<Crash>(question("crash"));
  const c = doc?.result;
  return (
    <Section title={c && !c.code && !c.likely && c.osThreadId === undefined ? "Did it crash?" : "What killed it"} id="killed">
      <Show doc={doc} q={question("crash")} what="looking for a crash">{(c) => <>
        {c.cause && <p class="lead"><Said s={c.cause} /></p>}
        <Verdicts list={(c.verdicts ?? []).filter((v) => v.text !== c.likely && (!v.kind || v.kind === "crash"))} />
        {c.osThreadId !== undefined && <p>It died on <ThreadLink t={c.thread ?? { osId: c.osThreadId, ...(c.threadName ? { name: c.threadName } : {}) }} />{c.code ? `, of ${c.code}` : ""}.</p>}
        {c.touched && <p>Touched was <Addr a={c.touched.address} /> {c.touched.access ? `(${c.touched.access})` : ""}: <Text s={c.touched.what} /></p>}
        {(c.exceptions ?? []).map((e) => (
          <div class="card"><p><Link page="object" arg={e.address}>{e.type ? <TypeName name={e.type} /> : "An exception whose type can’t be read"}</Link>{e.message ? <>: <q>{e.message}</q></> : e.message === null ? <span class="dim"> (its message can’t be read)</span> : null}</p>
            <ol class="frames">{(e.frames ?? []).slice(0, 8).map((f) => <li>{f.function ? <Method name={f.function} /> : <span class="dim">a method whose name can’t be read, at <Addr a={f.ip} /></span>} <Place file={f.file} line={f.line} /></li>)}</ol></div>
        ))}
      </>}</Show>
    </Section>
  );
}

function Fills(): JSX.Element {
  const types = useDoc<Heap>(question("types"));
  const leaks = useDoc<Leaks>(types ? question("leaks") : undefined);
  return (
    <Section title="What fills it" id="fills">
      <Show doc={types} q={question("types")} what="counting objects" cuts={false}>{(h) => {
        const top = [...(h.statistics ?? [])].sort((a, b) => b.size - a.size).filter((t) => t.type !== "Free").slice(0, 5);
        return <>
          <p class="lead">{count(h.count)} objects on the heap take <b>{bytes(h.size)}</b>.</p>
          <ul class="bars">{top.map((t) => <li><span class="share"><span class="bar" style={{ width: `${(100 * t.size) / Math.max(1, h.size ?? 1)}%` }} />
            <a href={link("heap", t.type ?? "")}><TypeName name={t.type} /></a></span> <span>{bytes(t.size)} in {plural(t.count, "object")}</span></li>)}</ul>
          <p><a href={link("heap")}>All types</a></p>
        </>;
      }}</Show>
      {types && (leaks ? <><SuspectSentences doc={leaks.result} />{leaks.error && types.error && leaks.error.text.includes(types.error.text) ? null : <Notes doc={leaks} cuts={false} />}</> : <Waiting what="looking for what holds it" q={question("leaks")} />)}
    </Section>
  );
}

function SuspectSentences({ doc }: { doc: Leaks | undefined }): JSX.Element | null {
  const list = doc?.suspects ?? [];
  if (!doc) return null;
  return <>
    <Verdicts list={doc.verdicts} />
    {list.length > 0 && <ul class="verdicts">{list.slice(0, 4).map((s) => <li><SuspectSentence s={s} /> <a href={link("suspects")}>more</a></li>)}</ul>}
  </>;
}

/** What a suspect is, what it retains, and who holds it. */
export function SuspectSentence({ s }: { s: Suspect }): JSX.Element {
  const o = s.owner ?? s.point;
  return <>
    <Said s={s} /> <Addr a={o?.address} />
    : <b>{bytes(s.retained)}</b>{s.share !== undefined ? <>, {percent(s.share)} of live memory</> : null}
    {s.path?.root && <>; held by <RootName r={s.path.root} /></>}
    {!o && s.holders?.length ? <>; referred to by {s.holders.slice(0, 3).map((h, i) => <>{i > 0 && ", "}{h.object ? <ObjectName o={h.object} /> : <Text s={h.root} />} ({percent(h.share)})</>)}</> : null}
    . {s.verdict && <span class={`tag ${s.verdict}`}>{s.verdict}</span>} {s.strength && <span class="tag">{s.strength}</span>}
  </>;
}

/** Verdicts that are not among the findings; of the others, how many they are. */
function OtherVerdicts({ list, than }: { list: Verdict[]; than: string[] }): JSX.Element {
  const others = list.filter((v) => !than.some((t) => v.text === t || v.text.endsWith(`: ${t}`)));
  const above = list.length - others.length;
  return <>{others.length > 0 && <Verdicts list={others} />}{above > 0 && <p>{plural(above, others.length ? "more" : "verdict", others.length ? "more" : undefined)} above, under “What is wrong”.</p>}</>;
}

function WaitsFor(): JSX.Element {
  // Who comes with a full heap wants to see what fills it: it is counted first.
  const types = useDoc<Heap>(question("types"));
  const waits = useDoc<Waits>(types ? question("waits") : undefined);
  const pool = useDoc<Pool>(waits ? question("pool") : undefined);
  const requests = useDoc<Requests>(waits ? question("requests") : undefined);
  const sql = useDoc<Databases>(waits ? question("databases") : undefined);
  // The findings above have most of it.
  const leaks = useDoc<Leaks>(types ? question("leaks") : undefined);
  const findings = useDoc<Triage>(leaks ? question("triage") : undefined)?.result?.findings ?? [];
  const starved = (sql?.result?.pools ?? []).filter((p) => (p.waiting ?? 0) > 0);
  return (
    <Section title="Who waits for whom" id="waiting">
      <Show doc={waits} q={question("waits")} what="reading what threads wait for" above={types}>{(w, d) => (w.verdicts ?? []).length > 0 ? <OtherVerdicts list={w.verdicts ?? []} than={findings.map((f) => f.text)} />
        : <p>{total(d, "threads", w.threads) > 0 ? `${plural(total(d, "threads", w.threads), "thread")} wait${total(d, "threads", w.threads) === 1 ? "s" : ""} (no deadlock or chain of waits found).` : "No thread found waiting for a lock, a task or another thread."}</p>}</Show>
      <p><a href={link("locks")}>Locks</a> · <a href={link("async")}>async code</a> · <a href={link("threads")}>threads</a></p>
      {waits && (!pool || !requests || !sql) && <Waiting what="reading the thread pool, requests and connections" />}
      {pool?.result?.verdicts?.length ? <><h3>Thread pool</h3><Verdicts list={pool.result.verdicts} /></> : null}
      {requests?.result?.requests?.length ? <p><a href={link("requests")}>{plural(total(requests, "requests", requests.result.requests), "web request")}</a> {total(requests, "requests", requests.result.requests) === 1 ? "is" : "are"} at work.</p> : null}
      {starved.map((p) => <p><a href={link("requests")}><b>{count(p.waiting)} calls wait for a database connection</b></a>: {count(p.busy)} of {count(p.max)} are in use (<TypeName name={p.type} />).</p>)}
    </Section>
  );
}
