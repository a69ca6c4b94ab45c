// What is known of the process and its runtime beside objects and threads: documents that are shown as they are.
import type { JSX } from "preact";
import { question, type Name } from "../api";
import type { Json } from "../docs";
import { Addr, Facts, Show, Table, Text } from "../parts";
import { printing, useDoc } from "../state";
import { beginning, bytes, count } from "../text";

const sections: [name: Name, title: string, what: string][] = [
  ["process", "Process and configuration", "reading the process"], ["collector", "Garbage collector", "reading the collector"],
  ["hosts", "Hosts and hosted services", "looking for hosts"], ["scopes", "Scopes of dependency injection", "looking for scopes"],
  ["contexts", "Load contexts", "reading load contexts"], ["initializers", "Static constructors that failed", "looking for static constructors that failed"],
  ["timers", "Timers", "reading timers"], ["queues", "Queues of logs and messages", "looking for queues"], ["sessions", "Sessions by user", "looking for sessions"], ["listeners", "Event sources and who listens", "looking for event sources"],
  ["tiers", "Compiled code by tier", "counting compiled code"], ["interop", "Wrappers of COM objects", "looking for wrappers"],
];

export function FactsPage(): JSX.Element {
  return <>{sections.map(([name, title, what]) => <Fact name={name} title={title} what={what} />)}</>;
}

/** A document, folded: its head says how much it has. */
function Fact({ name, title, what }: { name: Name; title: string; what: string }): JSX.Element {
  const doc = useDoc<Fields>(question(name));
  const lists = Object.entries(doc?.result ?? {}).filter(([k, v]) => isRows(v) && k !== "absent");
  return <details class="card fact" id={name} open={name === "process" && !printing.value}>
    <summary><h2>{title}</h2> <span class="dim">{!doc ? "…" : doc.error ? "not known" : lists.map(([k, v]) => `${words(k)} ${count(doc.lists?.[k]?.of ?? (v as Fields[]).length)}`).join(", ") || (Object.values(doc.result ?? {}).every(isEmpty) ? "nothing found" : "")}</span></summary>
    <Show doc={doc} q={question(name)} what={what}>{(d) => <Values of={d} />}</Show>
  </details>;
}

const mostColumns = 10;
/** Longer texts are shown when they are asked for. */
const longest = 200;

interface Fields { [name: string]: Json }
const isFields = (v: Json | undefined): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
const isRows = (v: Json | undefined): v is Fields[] => Array.isArray(v) && v.length > 0 && v.every(isFields);
const isEmpty = (v: Json | undefined): boolean => v === undefined || v === null || v === "" || v === 0 || (Array.isArray(v) && v.length === 0);

/** Numbers that are bytes. */
const isBytes = (name: string): boolean => /size|bytes|committed|allocated|^live$|^free$|fragment|promoted|^before$|^after$|memory(Load)?$|^left$|budget/i.test(name);

/** Numbers that name something. */
const isId = (name: string): boolean => /(^|[a-z])(Id|pid|id|index)$/.test(name);

/** "finalizationPending" in words. */
const words = (name: string): string => name.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);

const heading = (name: string): string => words(name).replace(/^./, (c) => c.toUpperCase());

/** The values of an object: single ones beside one another, lists as tables below. */
function Values({ of }: { of: Fields }): JSX.Element {
  const all = Object.entries(of).filter(([, v]) => !isEmpty(v));
  const lists = all.filter(([, v]) => isRows(v)), parts = all.filter(([, v]) => isFields(v));
  return <>
    <Facts list={all.filter(([, v]) => !isRows(v) && !isFields(v)).map(([k, v]) => [words(k), <Value of={v} name={k} />])} />
    {parts.map(([k, v]) => <><h3>{heading(k)}</h3>{isFields(v) && <Values of={v} />}</>)}
    {lists.map(([k, v]) => isRows(v) && <Rows name={k} rows={v} />)}
  </>;
}

/** A text that is no address and no number says what a row is; what differs in others is alike. */
const kindOf = (r: Fields): string => JSON.stringify(Object.entries(r).filter(([, v]) => typeof v === "string" && !/^0x|^[\d.:,TZ-]+$/.test(v)));

/** Rows that say the same but for addresses and numbers, together: the larger groups first. */
function alike(rows: Fields[]): Fields[][] {
  const by = new Map<string, Fields[]>();
  for (const r of rows) by.set(kindOf(r), [...(by.get(kindOf(r)) ?? []), r]);
  return [...by.values()].sort((a, b) => b.length - a.length);
}

/** How many of equal cards are drawn. */
const mostCards = 20;

function Cards({ rows }: { rows: Fields[] }): JSX.Element {
  const first = rows[0]!;
  if (rows.length === 1) return <article class="card"><Values of={first} /></article>;
  const name = Object.values(first).find((v): v is string => typeof v === "string" && v !== "" && !v.startsWith("0x")) ?? "";
  return <details class="card"><summary><b>{count(rows.length)}</b> × <Text s={beginning(name, longest)} /></summary>{rows.slice(0, mostCards).map((r) => <article class="card"><Values of={r} /></article>)}
    {rows.length > mostCards && <p class="dim">and {count(rows.length - mostCards)} more</p>}</details>;
}

/** Rows with a column for each value, or one below the other if they have lists or more values than a screen has room for. */
function Rows({ name, rows }: { name: string; rows: Fields[] }): JSX.Element {
  const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  if (columns.length > mostColumns || rows.some((r) => Object.values(r).some(isRows))) return <><h3>{heading(name)} <span class="dim">{count(rows.length)}</span></h3>{alike(rows).map((g) => <Cards rows={g} />)}</>;
  return <><h3>{heading(name)} <span class="dim">{count(rows.length)}</span></h3>
    <Table rows={rows} caption={words(name)} text={(r) => JSON.stringify(r)} columns={columns.map((c) => ({
      head: heading(c), cell: (r: Fields) => (isEmpty(r[c]) ? null : <Value of={r[c]} name={c} />), num: rows.every((r) => isEmpty(r[c]) || typeof r[c] === "number"),
      by: (r: Fields) => { const v = r[c]; return typeof v === "number" ? v : isEmpty(v) ? "" : JSON.stringify(v); } }))} /></>;
}

/** One value; what has parts is in lines of its own. */
function Value({ of, name = "" }: { of: Json | undefined; name?: string }): JSX.Element {
  if (typeof of === "number") return <>{isBytes(name) ? bytes(of) : isId(name) || !Number.isInteger(of) ? of : count(of)}</>;
  if (typeof of === "boolean") return <>{of ? "yes" : "no"}</>;
  if (typeof of === "string" && of.length > longest) return <details><summary class="text">{beginning(of, longest)}</summary><span class="text"><Text s={of} /></span></details>;
  if (typeof of === "string") return name !== "value" && /^0x[0-9a-f]{6,}$/.test(of) ? <Addr a={of} /> : <span class="text"><Text s={of} /></span>;
  if (Array.isArray(of)) return <>{of.map((v) => <div><Value of={v} /></div>)}</>;
  if (isFields(of)) return <>{Object.entries(of).filter(([, v]) => !isEmpty(v)).map(([k, v]) => <div><span class="dim">{words(k)}</span> <Value of={v} name={k} /></div>)}</>;
  return <></>;
}
