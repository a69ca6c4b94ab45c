// The application: pages, and what is around them.
import { render, type ComponentType, type JSX } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { isAlone, isReport, objects, subject as load } from "./api";
import { ConsolePage, TerminalPage } from "./pages/ask";
import { FactsPage } from "./pages/facts";
import { HeapPage } from "./pages/heap";
import { DiffPage, DominatorsPage, MemoryPage, StringsPage, SuspectsPage, WastePage } from "./pages/memory";
import { ObjectPage } from "./pages/object";
import { Overview } from "./pages/overview";
import { DoctorPage, ModulesPage } from "./pages/process";
import { ThreadsPage } from "./pages/threads";
import { AsyncPage, LocksPage, RequestsPage } from "./pages/work";
import { Link, Section, TypeName } from "./parts";
import { chooseTheme, go, link, printing, route, startTheme, subject, theme, type Theme } from "./state";
import { plural } from "./text";

interface Page { id: string; title: string; key: string; show: ComponentType; served?: boolean; files?: boolean }

const pages: Page[] = [
  { id: "overview", title: "Overview", key: "o", show: Overview }, { id: "threads", title: "Threads & stacks", key: "t", show: ThreadsPage },
  { id: "heap", title: "Heap", key: "h", show: HeapPage }, { id: "dominators", title: "Dominators", key: "d", show: DominatorsPage },
  { id: "memory", title: "Memory", key: "e", show: MemoryPage },
  { id: "suspects", title: "Suspects", key: "s", show: SuspectsPage }, { id: "object", title: "Object", key: "b", show: ObjectPage },
  { id: "strings", title: "Strings", key: "g", show: StringsPage }, { id: "waste", title: "Collections & waste", key: "w", show: WastePage },
  { id: "async", title: "Async", key: "a", show: AsyncPage }, { id: "locks", title: "Locks", key: "l", show: LocksPage },
  { id: "requests", title: "Requests & pools", key: "r", show: RequestsPage }, { id: "modules", title: "Modules", key: "m", show: ModulesPage },
  { id: "facts", title: "Process & runtime", key: "p", show: FactsPage },
  { id: "doctor", title: "Doctor", key: "c", show: DoctorPage }, { id: "diff", title: "Diff", key: "f", show: DiffPage, served: true, files: true },
  { id: "console", title: "Query", key: "q", show: ConsolePage, served: true }, { id: "terminal", title: "Terminal", key: "x", show: TerminalPage, served: true },
];
/** A report has no server that could be asked more, and a page alone opens one dump. */
let shown = pages.filter((p) => !isReport || !p.served);
/** Pages that show more when something is chosen on another page. */
const onRequest = ["object", "console", "terminal"];

/** A page that fails says so: the others still work. */
function Guarded({ show: Show }: { show: ComponentType }): JSX.Element {
  const [error] = useErrorBoundary();
  if (error) return <p class="problem">This page can't be shown: {String(error)}. That is a bug of sosgo; the terminal has the commands.</p>;
  return <Show />;
}

/** Says that no page has this name. */
function Unknown(): JSX.Element {
  return <p class="problem" role="alert">There is no page “{route.value.page}”. The pages are listed beside this text; <a href={link("overview")}>Overview</a> is the first.</p>;
}

/** All pages, one below the other. */
function Everything(): JSX.Element {
  return <>{shown.filter((p) => !onRequest.includes(p.id)).map((p) => <div class="whole" data-whole={p.id}><h1>{p.title}</h1><Guarded show={p.show} /></div>)}</>;
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

const themes: Theme[] = ["auto", "light", "dark"];

function App(): JSX.Element {
  const page = printing.value ? everything : [...shown, everything].find((p) => p.id === route.value.page) ?? unknown;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${page.title} · ${subject.value.file} · sosgo`;
    if (first.current) first.current = false;
    else if (!main.current?.contains(document.activeElement)) { main.current?.focus(); scrollTo(0, 0); }
  }, [page.id, route.value.arg, subject.value.file]);
  useEffect(() => { document.querySelector("nav.pages [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); }, [page.id]);
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "auto";
  return <>
    <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>To the page</a>
    <header><a class="home" href={link("overview")}>sosgo</a><span class="file" title={subject.value.file}>{subject.value.file}</span>
      <button type="button" class="theme" onClick={() => chooseTheme(next)} title={`Colours: ${theme.value}; next: ${next}`}>{theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}<span class="hidden"> colours: {theme.value}</span></button></header>
    <nav class="pages" aria-label="Pages"><ul>{shown.map((p) => <li><a href={link(p.id)} aria-current={p === page ? "page" : undefined} title={`Alt+${p.key}, or g then ${p.key}`}>{p.title}</a></li>)}</ul></nav>
    <main id="main" ref={main} tabIndex={-1} data-page={page.id}>{page === everything ? null : <h1 class={page.id === "overview" ? "hidden" : ""}>{page.title}</h1>}{isReport && page.id === "overview" && <Contents />}<Guarded show={page.show} key={page.id + "/" + (page.id === "threads" || page.id === "heap" ? route.value.arg : "")} /></main>
    <footer>{isReport ? "A report of sosgo: the top of each list. sosgo web shows all of it." : "Nothing is changed, and nothing leaves this machine."} Keys: g and a letter go to a page. <a href={link("all")}>All pages on one</a>, for printing.</footer>
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
  listen();
  load().then((s) => { subject.value = s; }, () => { subject.value = { file: "?" }; });
  const at = document.getElementById("app");
  if (!at) return;
  render(<App />, at);
  if (isReport) printAll(at);
}
