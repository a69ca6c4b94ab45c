// What is known of the process and its runtime beside objects and threads: documents that are shown as they are.
import type { JSX } from "preact";
import { question, type Name } from "../api";
import type { Json } from "../docs";
import { Addr, Facts, Section, Show, Table, Text } from "../parts";
import { useDoc } from "../state";
import { beginning, count } from "../text";

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

function Fact({ name, title, what }: { name: Name; title: string; what: string }): JSX.Element {
  const doc = useDoc<Fields>(question(name));
  return (
    <Section title={title} id={name}>
      <Show doc={doc} q={question(name)} what={what}>{(d) => <Values of={d} />}</Show>
    </Section>
  );
}

const mostColumns = 10;
/** Longer texts are shown when they are asked for. */
const longest = 200;

interface Fields { [name: string]: Json }
const isFields = (v: Json | undefined): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
const isRows = (v: Json | undefined): v is Fields[] => Array.isArray(v) && v.length > 0 && v.every(isFields);
const isEmpty = (v: Json | undefined): boolean => v === undefined || v === null || v === "" || (Array.isArray(v) && v.length === 0);

/** Numbers that name something. */
const isId = (name: string): boolean => /(^|[a-z])(Id|pid|id|index)$/.test(name);

/** "finalizationPending" in words. */
const words = (name: string): string => name.replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);

const heading = (name: string): string => words(name).replace(/^./, (c) => c.toUpperCase());

/** The values of an object: single ones beside one another, lists as tables below. */
function Values({ of }: { of: Fields }): JSX.Element {
  const all = Object.entries(of).filter(([, v]) => !isEmpty(v));
  const lists = all.filter(([, v]) => isRows(v)), parts = all.filter(([, v]) => isFields(v));
  const empty = Object.entries(of).filter(([, v]) => Array.isArray(v) && v.length === 0).map(([k]) => words(k));
  return <>
    <Facts list={all.filter(([, v]) => !isRows(v) && !isFields(v)).map(([k, v]) => [words(k), <Value of={v} name={k} />])} />
    {parts.map(([k, v]) => <><h3>{heading(k)}</h3>{isFields(v) && <Values of={v} />}</>)}
    {lists.map(([k, v]) => isRows(v) && <Rows name={k} rows={v} />)}
    {empty.length > 0 && <p class="dim">None: {empty.join(", ")}.</p>}
  </>;
}

/** Rows with a column for each value, or one below the other if they have lists or more values than a screen has room for. */
function Rows({ name, rows }: { name: string; rows: Fields[] }): JSX.Element {
  const columns = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  if (columns.length > mostColumns || rows.some((r) => Object.values(r).some(isRows))) return <><h3>{heading(name)} <span class="dim">{count(rows.length)}</span></h3>{rows.map((r) => <article class="card"><Values of={r} /></article>)}</>;
  return <><h3>{heading(name)} <span class="dim">{count(rows.length)}</span></h3>
    <Table rows={rows} caption={words(name)} text={(r) => JSON.stringify(r)} columns={columns.map((c) => ({
      head: heading(c), cell: (r: Fields) => (isEmpty(r[c]) ? null : <Value of={r[c]} name={c} />), num: rows.every((r) => isEmpty(r[c]) || typeof r[c] === "number"),
      by: (r: Fields) => { const v = r[c]; return typeof v === "number" ? v : isEmpty(v) ? "" : JSON.stringify(v); } }))} /></>;
}

/** One value; what has parts is in lines of its own. */
function Value({ of, name = "" }: { of: Json | undefined; name?: string }): JSX.Element {
  if (typeof of === "number") return <>{isId(name) || !Number.isInteger(of) ? of : count(of)}</>;
  if (typeof of === "boolean") return <>{of ? "yes" : "no"}</>;
  if (typeof of === "string" && of.length > longest) return <details><summary class="text">{beginning(of, longest)}</summary><span class="text"><Text s={of} /></span></details>;
  if (typeof of === "string") return /^0x[0-9a-f]{6,}$/.test(of) ? <Addr a={of} /> : <span class="text"><Text s={of} /></span>;
  if (Array.isArray(of)) return <>{of.map((v) => <div><Value of={v} /></div>)}</>;
  if (isFields(of)) return <>{Object.entries(of).filter(([, v]) => !isEmpty(v)).map(([k, v]) => <div><span class="dim">{words(k)}</span> <Value of={v} name={k} /></div>)}</>;
  return <></>;
}
