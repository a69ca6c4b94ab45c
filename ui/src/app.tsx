// The application: pages, and what is around them.
import { render, type ComponentType, type JSX } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { isAlone, isReport, objects, question, subject as load, type Doc, type Name } from "./api";
import type { AsyncstacksResult as Async, DoctorResult as Doctor, DumpheapResult as Heap, LocksResult as Locks, ModulesResult as Modules, QueryResult as Rows, RequestsResult as Requests, ClrthreadsResult as Threads, WaitsResult as Waits } from "./docs";
import { ConsolePage, TerminalPage } from "./pages/ask";
import { CrashPage, ExceptionsPage } from "./pages/crash";
import { FactsPage } from "./pages/facts";
import { GenerationsPage, HeapPage } from "./pages/heap";
import { DiffPage, DominatorsPage, MemoryPage, StringsPage, SuspectsPage, WastePage } from "./pages/memory";
import { ObjectPage } from "./pages/object";
import { Overview } from "./pages/overview";
import { DoctorPage, ModulesPage } from "./pages/process";
import { Search, SearchPage } from "./pages/search";
import { ThreadsPage } from "./pages/threads";
import { AsyncPage, LocksPage, PoolsPage, RequestsPage, WaitsPage } from "./pages/work";
import { isCut, Link, mostPrinted, Section, total, TypeName } from "./parts";
import { chooseNames, chooseTheme, go, lastScroll, link, printing, route, startNames, startTheme, subject, theme, useDoc, type Theme } from "./state";
import { atLeast, csharp, plural, shortType } from "./text";

interface Page {
  id: string; title: string; key: string; show: ComponentType; served?: boolean; files?: boolean;
  /** Nobody reads it on paper. */
  unprinted?: boolean;
  /** What is counted beside the title, and why there may be nothing. What is a sum over a list is a least number where the list is cut. */
  counted?: { by: Name; of: (result: never, doc: Doc<unknown>) => number; none: string; list?: string };
}
/** A part of the page: its pages are tabs. */
interface Space { id: string; title: string; pages: Page[] }

const counted = <T,>(by: Name, of: (result: T, doc: Doc<unknown>) => number, none: string, list?: string): NonNullable<Page["counted"]> => ({ by, of, none, ...(list && { list }) });

const spaces: Space[] = [
  { id: "summary", title: "Summary", pages: [{ id: "overview", title: "Summary", key: "o", show: Overview }] },
  { id: "crash", title: "Crash", pages: [
    { id: "crash", title: "Crash", key: "k", show: CrashPage },
    { id: "exceptions", title: "Exceptions", key: "y", show: ExceptionsPage, counted: counted<Rows>("exceptions", (r, d) => total(d, "rows", r.rows), "no exception was found on the heap") }] },
  { id: "hang", title: "Hang", pages: [
    { id: "waits", title: "Waits", key: "i", show: WaitsPage, counted: counted<Waits>("waits", (w, d) => total(d, "threads", w.threads) + (w.operations ?? []).reduce((n, o) => n + o.count, 0), "no thread and no async method was found waiting", "operations") },
    { id: "requests", title: "Requests", key: "r", show: RequestsPage, counted: counted<Requests>("requests", (r, d) => total(d, "requests", r.requests), "no web request was found") },
    { id: "threads", title: "Threads", key: "t", show: ThreadsPage, counted: counted<Threads>("threads", (t, d) => total(d, "threads", t.threads), "no thread was found") },
    { id: "async", title: "Async", key: "a", show: AsyncPage, counted: counted<Async>("async", (a) => a.stacks ?? 0, "no suspended async method was found") },
    { id: "locks", title: "Locks", key: "l", show: LocksPage, counted: counted<Locks>("locks", (l, d) => total(d, "locks", l.locks), "no lock was found") },
    { id: "pools", title: "Pools", key: "u", show: PoolsPage }] },
  { id: "memory", title: "Memory", pages: [
    { id: "heap", title: "Types", key: "h", show: HeapPage, counted: counted<Heap>("types", (h, d) => total(d, "statistics", h.statistics) - (h.statistics?.some((s) => s.type === "Free") ? 1 : 0), "no object was found") },
    { id: "suspects", title: "Holders", key: "s", show: SuspectsPage }, { id: "dominators", title: "Dominators", key: "d", show: DominatorsPage },
    { id: "memory", title: "Process", key: "e", show: MemoryPage }, { id: "generations", title: "Generations", key: "v", show: GenerationsPage },
    { id: "strings", title: "Strings", key: "g", show: StringsPage }, { id: "waste", title: "Waste", key: "w", show: WastePage },
    { id: "object", title: "Object", key: "b", show: ObjectPage }] },
  { id: "dump", title: "Dump", pages: [
    { id: "doctor", title: "Contents", key: "c", show: DoctorPage },
    { id: "modules", title: "Modules", key: "m", show: ModulesPage, unprinted: true, counted: counted<Modules>("modules", (m, d) => total(d, "modules", m.modules), "no module was found") },
    { id: "facts", title: "Process & runtime", key: "p", show: FactsPage, unprinted: true },
    { id: "diff", title: "Diff", key: "f", show: DiffPage, served: true, files: true }] },
  { id: "explore", title: "Explore", pages: [
    { id: "console", title: "Query", key: "q", show: ConsolePage, served: true }, { id: "terminal", title: "Terminal", key: "x", show: TerminalPage, served: true },
    { id: "search", title: "Search", key: "", show: SearchPage }] },
];
const pages = spaces.flatMap((s) => s.pages);
/** A report has no server that could be asked more, and a page alone opens one dump. */
let shown = pages.filter((p) => !isReport || !p.served);
/** Pages that show more when something is chosen on another page. */
const onRequest = ["object", "console", "terminal", "search"];
/** Tabs that are there only while their page is shown. */
const passing = ["object", "search"];

/** A page that fails says so: the others still work. */
function Guarded({ show: Show }: { show: ComponentType }): JSX.Element {
  const [error] = useErrorBoundary();
  if (error) return <p class="problem">This page can't be shown: {String(error)}. That is a bug of sosgo; the terminal has the commands.</p>;
  return <Show />;
}

/** Says that no page has this name. */
function Unknown(): JSX.Element {
  return <p class="problem" role="alert">There is no page “{route.value.page}”. The pages are listed above; <a href={link("overview")}>Summary</a> is the first.</p>;
}

/** All pages, one below the other. */
function Everything(): JSX.Element {
  const all = shown.filter((p) => !onRequest.includes(p.id)), left = printing.value ? all.filter((p) => p.unprinted) : [];
  return <>{all.filter((p) => !left.includes(p)).map((p) => <div class="whole" data-whole={p.id}><h1>{p.title}</h1><Guarded show={p.show} /></div>)}
    {left.length > 0 && <p class="dim small whole">Not on paper, but in the report: {left.map((p) => p.title).join(", ")}; the largest strings, what objects of a type retain, the map of the heap, who holds what is wasted, files that would help, and all but the first {mostPrinted} rows of a table.</p>}</>;
}

const unknown: Page = { id: "404", title: "No such page", key: "", show: Unknown };
const everything: Page = { id: "all", title: "All pages", key: "", show: Everything };

/** What a report has: its pages, and the objects that links lead to. */
function Contents(): JSX.Element {
  return (
    <Section title="Contents" id="contents">
      <p>{shown.filter((p) => p.id !== "overview").map((p, i) => <>{i > 0 && " · "}<a href={link(p.id)}>{p.title}</a></>)} · <a href={link("all")}>all on one page</a></p>
      <details><summary>{plural(objects.size, "object")} with their fields; other addresses are no links</summary>
        <ul class="contents">{[...objects].slice(0, 2000).map(([a, type]) => <li><Link page="object" arg={a} class="addr">{a}</Link> <TypeName name={type} /></li>)}</ul></details>
    </Section>
  );
}

let runtimeNames = false;
const themes: Theme[] = ["auto", "light", "dark"];

/** The program that runs in the process: its assembly, or the name of its file. */
export function processName(command: string | undefined): string {
  const words = (command ?? "").split(" ");
  return (words.find((w) => /\.(dll|exe)$/i.test(w)) ?? words[0] ?? "").replace(/^.*[\\/]/, "").replace(/\.(dll|exe)$/i, "");
}

/** An answer lacks something: that it is empty does not mean that there is nothing. */
const isPartial = (doc: Doc<unknown> | undefined): boolean => doc?.error !== undefined || (doc?.warnings?.length ?? 0) > 0;

/** How long tabs wait with their counts: the page's own answers come first. */
const tabsWait = 400;

function Tab({ p, here }: { p: Page; here: boolean }): JSX.Element {
  const [late, set] = useState(isReport);
  useEffect(() => { const t = setTimeout(() => set(true), tabsWait); return () => clearTimeout(t); }, []);
  const doc = useDoc<unknown>(p.counted && late ? question(p.counted.by) : undefined);
  const n = doc?.result !== undefined ? p.counted!.of(doc.result as never, doc) : undefined;
  const why = p.id === "diff" && !isReport && subject.value.file && !subject.value.others?.length ? "no other dump was named: sosgo web -with" : n === 0 && !isPartial(doc) ? p.counted!.none : undefined;
  const title = <>{p.title}{n !== undefined ? <span class="count">{n ? atLeast(n, p.counted?.list !== undefined && isCut(doc, p.counted.list)) : "–"}</span> : null}</>;
  return <li>{why && !here ? <span class="none" title={why}>{title}<span class="hidden"> ({why})</span></span>
    : <a href={link(p.id)} aria-current={here ? "page" : undefined} title={p.key ? `Alt+${p.key}, or g then ${p.key}` : undefined}>{title}</a>}</li>;
}

/** Where the page stands, when it is below a tab. */
function Crumbs({ space, page }: { space: Space; page: Page }): JSX.Element | null {
  const arg = route.value.arg;
  const object = useDoc<{ type?: string }>(page.id === "object" && arg ? question("object", arg) : undefined)?.result?.type;
  if (!arg || page.id === "search" || page.id === "console" || page.id === "terminal") return null;
  return <nav class="crumbs" aria-label="Where this is">{space.title} › {page.id === "object" ? <><a href={link("heap")}>Types</a>{object && <> › <a href={link("heap", object)}>{shortType(object)}</a></>}</> : <a href={link(page.id)}>{page.title}</a>} › <b>{page.id === "heap" ? csharp(arg) : page.id === "threads" ? `thread ${arg}` : arg}</b></nav>;
}

function App(): JSX.Element {
  const asked = route.value.page === "object" && !route.value.arg ? "heap" : route.value.page;
  const page = printing.value ? everything : [...shown, everything].find((p) => p.id === asked) ?? unknown;
  const space = spaces.find((s) => s.pages.includes(page));
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const doctor = useDoc<Doctor>(subject.value.file ? question("doctor") : undefined);
  const name = processName(doctor?.result?.command);
  useEffect(() => {
    document.title = `${page.title} · ${name || subject.value.file} · sosgo`;
    if (first.current) { first.current = false; return; }
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    // What stands there may come later than the page: it goes down as far as it can until it is there.
    const goal = lastScroll();
    let tries = 0;
    const down = (): void => { scrollTo(0, goal); if (goal > 0 && Math.abs(scrollY - goal) > 1 && tries++ < 60) setTimeout(down, 30); };
    down();
  }, [page.id, route.value.arg, subject.value.file]);
  useEffect(() => { document.querySelectorAll<HTMLElement>("nav [aria-current]").forEach((e) => { const nav = e.closest("nav"); if (nav) nav.scrollLeft = e.offsetLeft - nav.clientWidth / 2; }); }, [page.id]);
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "auto";
  const tabs = (space?.pages ?? []).filter((p) => shown.includes(p) && (!passing.includes(p.id) || p === page));
  return <>
    <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>To the page</a>
    <header><a class="home" href={link("overview")}>sosgo</a>{name && <b class="process">{name}</b>}<span class="file" title={subject.value.file}>{subject.value.file}</span>
      <Search />
      <button type="button" class="theme" onClick={() => chooseTheme(next)} title={`Colours: ${theme.value}; next: ${next}`}>{theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}<span class="hidden"> colours: {theme.value}</span></button></header>
    <nav class="pages" aria-label="Parts of the page"><ul>{spaces.filter((s) => s.pages.some((p) => shown.includes(p) && !passing.includes(p.id))).map((s) => <li><a href={link(s.pages[0]!.id)} aria-current={s === space ? "page" : undefined}>{s.title}</a></li>)}</ul></nav>
    {tabs.length > 1 && <nav class="tabs" aria-label={`Pages of ${space?.title}`}><ul>{tabs.map((p) => <Tab key={p.id} p={p} here={p === page} />)}</ul></nav>}
    <main id="main" ref={main} tabIndex={-1} data-page={page.id}>{space && <Crumbs space={space} page={page} />}{page === everything ? null : <h1 class="hidden">{page.title}</h1>}<Guarded show={page.show} key={page.id + "/" + (page.id === "threads" || page.id === "heap" ? route.value.arg : "")} />{isReport && page.id === "overview" && <Contents />}</main>
    <footer>{isReport ? "A report of sosgo: the top of each list. sosgo web shows all of it." : "Nothing is changed, and nothing leaves this machine."} Keys: g and a letter go to a page, Ctrl-K to the search. <a href={link("all")}>All pages on one</a>, for printing. {!isAlone() && <button type="button" class="plain" onClick={() => chooseNames(!runtimeNames)}>{runtimeNames ? "Names as in C#" : "Names as in the runtime"}</button>}</footer>
  </>;
}

/** g and a letter go to a page, / to the filter. */
let listening = false;
function listen(): void {
  if (listening) return;
  listening = true;
  let pending = false;
  addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLTextAreaElement;
    if (typing || e.ctrlKey || e.metaKey) return;
    const page = shown.find((p) => p.key === e.key);
    if (page && (pending || e.altKey)) { e.preventDefault(); go(page.id); pending = false; return; }
    pending = e.key === "g";
    if (e.key === "/") {
      const f = document.querySelector<HTMLInputElement>(".filter input") ?? document.querySelector<HTMLInputElement>("input[type=search]");
      if (f) { e.preventDefault(); f.focus(); }
    }
  });
}

/** Has a report print all that it has. The documents are there, so that the pages are complete at once. */
function printAll(at: Element): void {
  const show = (all: boolean): void => {
    printing.value = all;
    render(<App key={String(all)} />, at);
  };
  addEventListener("beforeprint", () => show(true));
  addEventListener("afterprint", () => show(false));
}

/** Shows the pages. */
export function start(): void {
  if (isReport) shown = pages.filter((p) => !p.served || p.files && subject.value.others?.length);
  if (isAlone()) shown = shown.filter((p) => !p.files);
  startTheme();
  runtimeNames = startNames();
  listen();
  load().then((s) => { subject.value = s; }, () => { subject.value = { file: "?" }; });
  const at = document.getElementById("app");
  if (!at) return;
  render(<App />, at);
  if (isReport) printAll(at);
}
