// One search for everything: addresses, types, methods, threads, requests, texts and commands.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { complete, isReport, objects, question, type Doc } from "../api";
import type { DumpheapResult as Heap, Json, QueryResult as Rows, RequestsResult as Requests, StacksResult as Stacks, ClrthreadsResult as Threads } from "../docs";
import { requestName } from "../findings";
import { Addr, isCut, Link, Method, Notes, Section, Show, ThreadLink, TypeName, Waiting } from "../parts";
import { go, link, route, useDoc } from "../state";
import { beginning, bytes, count, csharp, plural } from "../text";

/** An address as people and tools write it: with or without 0x, with ` or _ within. */
function addressIn(text: string): string | undefined {
  const m = /^(0x)?([0-9a-f`_]{5,18})$/i.exec(text);
  const digits = m?.[2]?.replace(/[`_]/g, "").replace(/^0+/, "").toLowerCase() ?? "";
  return m && (m[1] || /[0-9]/.test(digits) && digits.length > 6) && digits.length > 0 && digits.length <= 16 ? "0x" + digits : undefined;
}

/** Goes to what a text names at once: an address; else to what is found. */
export function find(text: string): void {
  const address = addressIn(text);
  if (address) go("object", address);
  else if (text) go("search", text);
}

/** The search in the head. Ctrl-K leads to it. */
export function Search(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const key = (e: KeyboardEvent): void => { if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") { e.preventDefault(); input.current?.select(); input.current?.focus(); } };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const r = route.value;
  return <form class="find" role="search" onSubmit={(e) => { e.preventDefault(); find(input.current?.value.trim() ?? ""); }}>
    <label><span class="hidden">Search for an address, a type, a method, a thread, a request, a text or a command</span>
      <input ref={input} name="find" type="search" autocomplete="off" spellcheck={false} placeholder="Type, method, thread, address … Ctrl-K" key={r.page === "search" ? r.arg : ""} defaultValue={r.page === "search" ? r.arg : ""} /></label></form>;
}

/** How many results of a kind are listed. */
const most = 12;

const str = (v: Json | undefined): string => (typeof v === "string" ? v : "");

export function SearchPage(): JSX.Element {
  const wanted = route.value.arg, low = wanted.toLowerCase();
  const has = (s: string | null | undefined): boolean => !!s && (s.toLowerCase().includes(low) || csharp(s).toLowerCase().includes(low));
  const types = useDoc<Heap>(question("types")), threads = useDoc<Threads>(question("threads"));
  const stacks = useDoc<Stacks>(question("stacks")), requests = useDoc<Requests>(question("requests"));
  if (!wanted) return <p>The search is in the head of the page: Ctrl-K leads to it.</p>;
  const foundTypes = (types?.result?.statistics ?? []).filter((t) => has(t.type)).toReversed();
  const number = /^(?:thread )?#?(\d+)$/.exec(low)?.[1];
  const foundThreads = (threads?.result?.threads ?? []).filter((t) => String(t.index) === number || String(t.osId) === number || has(t.name));
  const methods = new Map<string, number>();
  for (const s of stacks?.result?.stacks ?? []) for (const name of new Set((s.frames ?? []).map((f) => f.name ?? ""))) if (has(name)) methods.set(name, (methods.get(name) ?? 0) + 1);
  const foundMethods = [...methods].sort((a, b) => b[1] - a[1]);
  const foundRequests = (requests?.result?.requests ?? []).filter((r) => has(requestName(r)) || has(r.path) || has(r.id));
  const foundObjects = isReport ? [...objects].filter(([a, type]) => a.includes(low) || has(type)) : [];
  const list = <T,>(title: string, all: T[], row: (x: T) => JSX.Element): JSX.Element | null => (all.length === 0 ? null
    : <Section title={`${title} ${count(all.length)}`}><ul class="found">{all.slice(0, most).map((x) => <li>{row(x)}</li>)}</ul>{all.length > most && <p class="dim">and {count(all.length - most)} more</p>}</Section>);
  const docs = [types, threads, stacks, requests];
  const waiting = docs.some((d) => !d), failed = docs.some((d) => d?.error);
  const nothing = !waiting && !failed && foundTypes.length + foundThreads.length + foundMethods.length + foundRequests.length + foundObjects.length === 0;
  return <>
    {list("Threads", foundThreads, (t) => <ThreadLink t={t} />)}
    {list("Requests", foundRequests, (r) => <><a href={link("requests")}>{requestName(r)}</a> <Addr a={r.context ?? r.object} /></>)}
    {list("Methods on stacks", foundMethods, ([m, n]) => <><a href={link("threads", "", { view: "sandwich", method: csharp(m) })}><Method name={m} /></a> <span class="dim">{plural(n, "thread")}</span></>)}
    {list("Types", foundTypes, (t) => <><a href={link("heap", t.type ?? "")}><TypeName name={t.type} /></a> <span class="dim">{plural(t.count, "object")}, {bytes(t.size)}</span></>)}
    {list("Objects", foundObjects, ([a, type]) => <><TypeName name={type} /> <Link page="object" arg={a} class="addr">{a}</Link></>)}
    {waiting && <Waiting what="searching threads, methods, types and requests" />}
    {nothing && <p>No thread, method, type or request {nothingIn(docs)}has “{wanted}” in its name.</p>}
    {docs.map((d) => d && <Notes doc={d} />)}
    {!isReport && <><Texts wanted={wanted} /><Commands wanted={wanted} /></>}
  </>;
}

/** Among what there is nothing: where lists are cut, or data is missing, there may be more. */
export function nothingIn(docs: (Doc<unknown> | undefined)[]): string {
  return docs.some((d) => isCut(d)) ? "among those listed " : docs.some((d) => d?.warnings?.length) ? "that could be read " : "";
}

/** A pattern that matches a text as it stands. */
const pattern = (text: string): string => text.replace(/[^\p{L}\p{N} ]/gu, (c) => `\\x{${c.codePointAt(0)!.toString(16)}}`);

/** Strings of the heap with a text in them. They are read when they are asked for. */
function Texts({ wanted }: { wanted: string }): JSX.Element {
  const [asked, ask] = useState("");
  const q = asked === wanted ? { words: ["query", "-rows", String(most * 4), `from strings | where text matches /(?i)${pattern(wanted)}/ | select address, length, text`], count: most * 4, list: "rows" } : undefined;
  const doc = useDoc<Rows>(q, true);
  return <Section title="Texts">
    {!q && <p><button type="button" onClick={() => ask(wanted)}>Search all strings of the heap for “{wanted}”</button></p>}
    {q && <Show doc={doc} q={q} what="reading strings" cuts={false}>{(r) => (r.rows ?? []).length === 0 ? <p>No string has this text.</p>
      : <ul class="found">{(r.rows ?? []).map((x) => <li><Addr a={str(x["address"])} /> <q>{beginning(str(x["text"]), 200)}</q></li>)}</ul>}</Show>}
  </Section>;
}

function Commands({ wanted }: { wanted: string }): JSX.Element | null {
  const [found, set] = useState<string[]>([]);
  useEffect(() => {
    let here = true;
    complete(wanted).then((c) => { if (here) set((c.found as string[] | null) ?? []); }, () => undefined);
    return () => { here = false; };
  }, [wanted]);
  return found.length === 0 ? null : <Section title="Commands"><ul class="found">{found.slice(0, most).map((f) => <li><a href={link("terminal", f.trim())}><code>{f.trim()}</code></a></li>)}</ul></Section>;
}
