import type { JSX } from "preact";
import { isReport, question, type Doc } from "../api";
import type { CrashinfoResult as Crash, DoctorResult as Doctor, DumpheapResult as Heap, Finding, RequestsResult as Requests, TriageAbsent, TriageResult as Triage, WaitsResult as Waits } from "../docs";
import { areaOf, concerned, deeds, groupRequests, oldest, parted, stateOf, type Area, type Concerned, type State } from "../findings";
import { Addr, Breakable, Command, isCut, Link, Method, Notes, osThread, Place, Said, Strength, Text, ThreadLink, total, Verdicts, Waiting } from "../parts";
import { link, useDoc } from "../state";
import { atLeast, bytes, count, duration, linked, plural, runtimeVersion, shortType, time } from "../text";

/** What is wrong, whom it concerns, and where to go on: the answer to the question that people come with. */
export function Overview(): JSX.Element {
  // What is wrong without the objects of the heap, which take long; a report has the whole answer at once.
  const quick = useDoc<Triage>(isReport ? undefined : question("quick"));
  const types = useDoc<Heap>(quick || isReport ? question("types") : undefined);
  const whole = useDoc<Triage>(types ? question("triage") : undefined);
  // A whole answer that failed or was stopped takes nothing from the one without the heap.
  const doc = whole?.result ? whole : quick ?? whole;
  const t = doc?.result;
  const findings = t?.findings ?? [];
  return <>
    <section id="wrong" aria-label="What is wrong">
      {!doc && <Waiting what="looking for what is wrong" q={question("quick")} />}
      {doc && !t && <Notes doc={doc} cuts={false} />}
      {t && (findings[0] ? <Headline f={findings[0]} /> : <p class="headline">Nothing wrong was found{t.unknown?.length ? " in what could be looked at" : ""}{whole?.result ? "" : " without the heap"}.</p>)}
      {t && whole && !whole.result && <Notes doc={whole} cuts={false} />}
      {quick && !whole && <Waiting what="looking at the heap" q={question("triage")} />}
    </section>
    <Tiles t={t} types={types} whole={whole} />
    {findings.length > 1 && <section aria-label="Other findings"><h2>{plural(findings.length - 1, "other finding")}</h2>
      <ul class="lines">{findings.slice(1).map((f) => <li><Line f={f} /></li>)}</ul></section>}
    {t && <Rest quiet={t.quiet ?? []} unknown={t.unknown ?? []} />}
  </>;
}

/** The first finding: the requests that suffer, its sentence, whom it concerns, since when and where, and three deeds. */
function Headline({ f }: { f: Finding }): JSX.Element {
  const others = (f.clauses ?? []).filter((c) => c.text !== f.text && !c.text.endsWith(`: ${f.text}`) && !f.text.startsWith(c.text));
  const { wrong, strength, served } = parted(f);
  return <>
    {served ? <p class="victims"><a href={link("requests")}>{count(served.waiting)} of {plural(served.of, "request")} that the process serves</a> {served.waiting === 1 ? "waits" : "wait"} because of this{served.age ? `, the oldest for ${duration(served.age)}` : ""}: {served.routes} <Strength of={f.strength} /></p>
      : <Victims f={f} />}
    <p class={`headline ${f.severity}`}><span class={`tag ${f.severity}`}>{f.kind}</span> <span class={`clause ${strength}`}><Said s={wrong} short begins /></span> <Strength of={strength} /></p>
    {others.length > 0 && <p class="clauses">{others.slice(0, 2).map((c) => <span><span class={`clause ${c.strength}`}><Said s={c} short begins /></span> <Strength of={c.strength} /> </span>)}</p>}
    <Whom f={f} />
    <p class="deeds">{deeds(f).map((d) => <a href={d.href}>{d.text}</a>)}</p>
    <Evidence f={f} />
  </>;
}

/** The web requests that wait, before a finding of waits whose sentence names none of them: those that it concerns, or, where it concerns nobody by name, all. */
function Victims({ f }: { f: Finding }): JSX.Element | null {
  const waits = useDoc<Waits>(question("waits"))?.result, doc = useDoc<Requests>(question("requests")), requests = doc?.result?.requests ?? [];
  if (areaOf(f.kind) !== "hang" || !waits) return null;
  const list = concerned(f, waits.operations ?? [], waits.threads ?? [], requests), mine = list.filter((c) => c.request);
  const groups = groupRequests(requests, waits.idle ?? []).filter((g) => g.waits);
  const left = new Map<string, number>(), waiting = list.length === 0 ? groups.flatMap((g) => g.requests) : [];
  for (const c of mine) left.set(c.request!, (left.get(c.request!) ?? 0) + c.count);
  for (const g of list.length === 0 ? [] : groups) {
    const n = left.get(g.name) ?? 0;
    waiting.push(...g.requests.slice(0, n));
    left.set(g.name, Math.max(0, n - g.requests.length));
  }
  const since = oldest(waiting);
  return waiting.length === 0 ? null : <p class="victims"><a href={link("requests")}>{atLeast(waiting.length, isCut(doc, "requests"))} of {plural(total(doc, "requests", requests), "web request")}</a> {waiting.length === 1 ? "waits" : "wait"}{mine.length > 0 ? " because of this" : ""}{since ? `, the oldest came ${duration(since)} before the dump` : ""} <Strength of={mine.length > 0 ? f.strength : "recorded"} /></p>;
}

/** How many of those whom a finding concerns are listed. */
const mostWhom = 4;

/** Whom the finding concerns, and since when; of a crash, the line of the method that its sentence names, if a file of symbols has it. */
function Whom({ f }: { f: Finding }): JSX.Element | null {
  const waitsDoc = useDoc<Waits>(question("waits")), waits = waitsDoc?.result;
  const requestsDoc = useDoc<Requests>(question("requests")), requests = requestsDoc?.result?.requests ?? [];
  const crash = useDoc<Crash>(question("crash"))?.result;
  if (f.kind === "crash") {
    const method = f.args?.find((a) => a.type === "method")?.value;
    const at = (crash?.exceptions ?? []).flatMap((e) => e.frames ?? []).find((x) => x.file && x.function === method);
    return at ? <dl class="facts whom"><div><dt>Where</dt><dd><Method name={at.function} brief /> <Place file={at.file} line={at.line} /></dd></div></dl> : null;
  }
  if (areaOf(f.kind) !== "hang") return null;
  let list: Concerned[] = concerned(f, waits?.operations ?? [], waits?.threads ?? [], requests);
  const mine = list.length > 0;
  // A finding that names nobody, as a starved pool, has all requests that wait behind it. Which of them are idle, the waits say.
  if (!mine && waits) list = groupRequests(requests, waits.idle ?? []).filter((g) => g.waits).map((g) => ({ count: g.requests.length, request: g.name, method: g.method, file: g.file, line: g.line, object: g.requests[0]?.context }));
  if (list.length === 0) return null;
  return <dl class="facts whom"><div><dt>{mine ? "Who waits" : "Web requests that wait"}</dt><dd>{list.slice(0, mostWhom).map((c) => <div>{c.count > 1 ? `${count(c.count)} × ` : ""}{c.request ? <b>{c.request} </b> : null}{c.thread ? <ThreadLink t={c.thread} /> : null}{c.method ? <>{c.request || c.thread ? " in " : ""}<Link page="object" arg={c.object}><Method name={c.method} brief /></Link></> : null} <Place file={c.file} line={c.line} /></div>)}
    {list.length > mostWhom && <div><a href={link(mine ? "waits" : "requests")}>and {atLeast(list.slice(mostWhom).reduce((n, c) => n + c.count, 0), isCut(waitsDoc, "operations", "threads") || isCut(requestsDoc, "requests"))} more</a></div>}</dd></div></dl>;
}

/** What a finding rests on, and the commands that show more. */
function Evidence({ f }: { f: Finding }): JSX.Element {
  return <details class="evidence"><summary>Evidence and commands</summary>
    <p><Said s={f} /> {f.osThreadId !== undefined && !linked(f).some((p) => p.thread) && <Link page="threads" arg={osThread(f.osThreadId)}>thread {osThread(f.osThreadId)}</Link>}
      {f.object !== undefined && !linked(f).some((p) => p.address === f.object) && <> <Addr a={f.object} /></>}</p>
    {f.clauses?.length ? <Verdicts list={f.clauses} /> : null}
    {f.next?.length ? <p class="next">{f.next.map((c) => <><Command line={c} />{" "}</>)}</p> : null}</details>;
}

/** A finding on one line, and all of it when it is opened. */
function Line({ f }: { f: Finding }): JSX.Element {
  return <details><summary><span class={`tag ${f.severity}`}>{f.kind}</span> <Said s={f} short plain begins /> <Strength of={f.strength} /></summary>
    <p class="deeds">{deeds(f).map((d) => <a href={d.href}>{d.text}</a>)}</p><Evidence f={f} /></details>;
}

/** What was looked at, and what could not be: each reason once, with all that it hides. */
function Rest({ quiet, unknown }: { quiet: string[]; unknown: TriageAbsent[] }): JSX.Element {
  const reasons = [...new Set(unknown.map((u) => u.reason))];
  return <section aria-label="What was looked at" class="rest">
    {unknown.length > 0 && <details><summary>Not all could be read: {unknown.map((u) => u.subject + (u.partly ? "" : " (not at all)")).join(", ")}</summary>
      <ul>{reasons.map((r) => <li>{unknown.filter((u) => u.reason === r).map((u) => u.subject + (u.partly ? " in part" : "")).join(", ")}: <Text s={r} /></li>)}</ul>
      {[...new Set(unknown.map((u) => u.settles))].map((s) => s && <p><Text s={s} /></p>)}</details>}
    {quiet.length > 0 && <p class="dim small">Checked, nothing wrong: {quiet.join(", ")}.</p>}
  </section>;
}

const states: Record<State, string> = { bad: "", notable: "", nothing: "nothing found", "in part": "nothing found, checked in part", "not readable": "not readable" };

/** A figure of a document: a sign while it is not there, and where it can't be known. */
const figure = <T,>(doc: Doc<T> | undefined, of: (result: T) => string): string => (!doc ? "…" : doc.result === undefined ? "–" : of(doc.result));

/** What a figure counts, or that it is not known. */
const label = <T,>(doc: Doc<T> | undefined, of: (result: T) => string): string => (!doc ? "" : doc.result === undefined ? "not known" : of(doc.result));

/** The four parts of the page, each with its state, one figure and the way to it. */
function Tiles({ t, types, whole }: { t: Triage | undefined; types: Doc<Heap> | undefined; whole: Doc<Triage> | undefined }): JSX.Element {
  const crash = useDoc<Crash>(question("crash"));
  const waits = useDoc<Waits>(question("waits"));
  const requests = useDoc<Requests>(question("requests"));
  const doctor = useDoc<Doctor>(question("doctor"));
  const freeOf = (h: Heap): { count: number; size: number } => h.statistics?.find((s) => s.type === "Free") ?? { count: 0, size: 0 };
  const all = total(requests, "requests", requests?.result?.requests);
  // Which requests are idle, the waits say.
  const stuck = figure(waits, (w) => atLeast(groupRequests(requests?.result?.requests ?? [], w.idle ?? []).filter((g) => g.waits).reduce((n, g) => n + g.requests.length, 0), isCut(requests, "requests")));
  const lacking = (d: Doctor): string[] => (d.parts ?? []).filter((p) => p.state !== "whole").map((p) => p.name);
  const system = (d: Doctor): string => {
    const runtime = d.runtimes?.find((r) => r.chosen) ?? d.runtimes?.[0];
    return [d.format, runtime && runtimeVersion(runtime.kind, runtime.version ?? ""), [d.distribution ?? d.os, d.arch].filter(Boolean).join(" "), d.taken && `taken ${time(d.taken)}`].filter(Boolean).join(", ");
  };
  const area = (a: Area): { state: State; says: string } => {
    if (!t) return { state: "nothing", says: "…" };
    const state = stateOf(a, t.findings ?? [], t.unknown ?? []);
    const worst = (t.findings ?? []).find((f) => areaOf(f.kind) === a);
    return { state, says: worst ? worst.kind : a === "memory" && !whole?.result ? (whole ? "not known" : "…") : states[state] };
  };
  const parts = doctor?.result && lacking(doctor.result);
  return <ul class="tiles">
    <Tile title="Crash" page="crash" {...area("crash")} figure={figure(crash, (c) => (c.exceptions?.[0]?.type ? shortType(c.exceptions[0].type) : c.code ?? "none"))} label={label(crash, (c) => (c.exceptions?.length || c.code ? c.threadName ?? "" : "recorded"))} />
    {all > 0 ? <Tile title="Hang" page="requests" {...area("hang")} figure={`${stuck} of ${count(all)}`} label="web requests wait" />
      : <Tile title="Hang" page="waits" {...area("hang")} figure={figure(waits, (w) => atLeast(total(waits, "threads", w.threads) + (w.operations ?? []).reduce((n, o) => n + o.count, 0), isCut(waits, "operations")))} label={label(waits, (w) => (total(waits, "threads", w.threads) + (w.operations ?? []).reduce((n, o) => n + o.count, 0) === 1 ? "wait of a thread or of async code" : "waits of threads and async code"))} />}
    <Tile title="Memory" page="heap" {...area("memory")} figure={figure(types, (h) => bytes((h.size ?? 0) - freeOf(h).size))} label={label(types, (h) => `in ${plural((h.count ?? 0) - freeOf(h).count, "object")}${freeOf(h).size ? `, ${bytes(freeOf(h).size)} free between them` : ""}`)} />
    <Tile title="Dump" page="doctor" state={parts?.length ? "in part" : "nothing"} says={!parts ? "…" : parts.length ? `${parts.join(", ")} in part` : "whole"} figure={figure(doctor, (d) => bytes(d.size))} label={label(doctor, system)} />
  </ul>;
}

function Tile({ title, page, state, says, figure, label }: { title: string; page: string; state: State; says: string; figure: string; label: string }): JSX.Element {
  return <li><a class={`tile ${state.replace(" ", "-")}`} href={link(page)} data-tile={page}><span class="name">{title}</span><span class="state">{says}</span><b><Breakable s={figure} /></b><span class="label">{label}</span></a></li>;
}
