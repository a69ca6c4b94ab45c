// The parts that pages are made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { hasObject, hasThread, isReport, progress, question } from "./api";
import type { Doc, Progress, Question } from "./api";
import type { Address, PathObject as ObjectRef, GCRoot as Root, RootPath, ClrthreadsResult as Threads, Verdict } from "./docs";
import { link, printing, retry, stop, useDoc, useParam } from "./state";
import { bytes, capital, count, csharp, linked, percent, rootName, shortMethod, typeParts, withoutModule } from "./text";
import type { Numbered, Said as Sentence } from "./text";

/** An address, which leads to the page of what is there. */
export function Addr({ a }: { a: Address | null | undefined }): JSX.Element | null {
  if (!a || a === "0x0") return null;
  return <Link page="object" arg={a} class="addr">{a}</Link>;
}

/** A link to an object or a thread, where there is such a page. */
export function Link({ page, arg, class: c, children }: { page: "object" | "threads"; arg: string | undefined; class?: string; children: ComponentChildren }): JSX.Element {
  return arg && (page === "object" ? hasObject : hasThread)(arg) ? <a class={c} href={link(page, arg)}>{children}</a> : <span class={c}>{children}</span>;
}

/** A text of a document: an address is a link. */
export function Text({ s }: { s: string | null | undefined }): JSX.Element | null {
  if (!s) return null;
  return /^0x[0-9a-f]{5,16}$/.test(s) ? <Addr a={s} /> : <Breakable s={s} />;
}

/** A sentence of an answer: the objects and threads among its arguments are links. With short, names stand without their namespaces; with plain, there are no links; with begins, the first letter is a capital. */
export const Said = ({ s, short = false, plain = false, begins = false }: { s: Sentence; short?: boolean; plain?: boolean; begins?: boolean }): JSX.Element => <>{(begins ? capital(s, linked(s, short)) : linked(s, short)).map((p) => {
  const words = short ? p.text : <Breakable s={p.text} />;
  const text = p.title ? <span title={p.title}>{words}{p.address && short ? <span class="hidden">{p.title}</span> : null}</span> : words;
  return plain ? text : p.address ? <Link page="object" arg={p.address} class="addr">{text}</Link> : p.thread ? <Link page="threads" arg={p.thread}>{text}</Link> : text;
})}</>;

const strengths: Record<string, string> = { recorded: "the dump says it", proved: "it follows from what the dump says", likely: "it follows from names, or from what is usual", possible: "nothing contradicts it", unknown: "the dump does not record it" };

/** How sure a sentence is: a word, and a line whose form says the same. */
export const Strength = ({ of }: { of: string | undefined }): JSX.Element | null => (of ? <span class={`strength ${of}`} title={strengths[of] ?? ""}>{of}</span> : null);

/** The id that the system gives a thread. */
export const osThread = (id: number): string => "0x" + id.toString(16);

/** A thread, by the number that all commands name it by. */
export function ThreadLink({ t }: { t: { index?: number; osId?: number; managedId?: number; name?: string } | undefined }): JSX.Element | null {
  if (!t) return null;
  const words = t.index ?? (t.osId ? osThread(t.osId) : t.managedId !== undefined ? `managed ${t.managedId}` : "?");
  const text = <><span class="id">thread {words}</span>{t.name ? ` "${t.name}"` : ""}</>;
  return t.index === undefined && !t.osId ? text : <Link page="threads" arg={String(t.index ?? osThread(t.osId ?? 0))}>{text}</Link>;
}

/** A button that copies a text. */
export function Copy({ text, what }: { text: string | (() => string); what: string }): JSX.Element {
  const [done, set] = useState(false);
  const copy = async (): Promise<void> => {
    const s = typeof text === "string" ? text : text();
    try { await navigator.clipboard.writeText(s); } catch {
      // A page from a file, or of another machine, has no clipboard of its own.
      const t = document.createElement("textarea");
      t.value = s;
      document.body.append(t);
      t.select();
      document.execCommand("copy");
      t.remove();
    }
    set(true);
    setTimeout(() => set(false), 1500);
  };
  return <button type="button" class="copy" title={`Copy ${what}`} aria-label={`Copy ${what}`} onClick={() => void copy()}>{done ? "✓" : <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true"><path d="M5 5V2h9v9h-3M2 5h9v9H2z" fill="none" stroke="currentColor" stroke-width="1.5" /></svg>}</button>;
}

/** A command that shows more: on the page it runs in the terminal. */
export function Command({ line }: { line: string }): JSX.Element {
  return <span class="command">{isReport ? <code>{line}</code> : <a href={link("terminal", line)}><code>{line}</code></a>}<Copy text={line} what={line} /></span>;
}

/** Longer words in names may be broken before their capitals. */
const longWord = 18, word = /\S+/g, inWord = /(?<=[a-z])(?=[A-Z])/;

/** The parts of a text between which a line may end. */
export const breaks = (s: string): string[] => s.split(/(?<=[\w>\]][.,+<(])(?=\S)/).flatMap((part) => {
  const out = [""];
  let end = 0;
  for (const m of part.matchAll(word)) {
    if (m[0].length <= longWord) continue;
    const [first = "", ...rest] = m[0].split(inWord);
    out[out.length - 1] += part.slice(end, m.index) + first;
    out.push(...rest);
    end = m.index + m[0].length;
  }
  out[out.length - 1] += part.slice(end);
  return out;
});

/** A name that may be broken behind its dots and commas, and a text whose names may. */
export function Breakable({ s }: { s: string }): JSX.Element {
  return <>{breaks(s).map((part, i) => (i ? <><wbr />{part}</> : part))}</>;
}

/** Characters that stay at the end of a name that is cut. */
const lastOfCut = 20;

/** The name of a type: its namespace stands back. With cut it stands on one line, and what does not fit is left out of its middle. */
export function TypeName({ name: full, cut = false }: { name: string | null | undefined; cut?: boolean }): JSX.Element {
  if (!full) return <span class="dim">(no name)</span>;
  const [space, name] = typeParts(full);
  const at = name.length > lastOfCut + 4 ? name.length - lastOfCut : 0;
  const title = space + name === full ? undefined : full;
  if (cut) return <span class="type" title={title}>{space && <span class="dim space"><Breakable s={space} /></span>}{at > 0 && <span class="begin"><Breakable s={name.slice(0, at)} /></span>}<span><Breakable s={name.slice(at)} /></span></span>;
  return <span class="type" title={title}><span class="dim"><Breakable s={space} /></span><Breakable s={name} /></span>;
}

/** A method: namespace and parameters stand back; with brief they are left out. */
export function Method({ name, brief = false }: { name: string | null | undefined; brief?: boolean }): JSX.Element {
  if (brief) return <span class="type" title={name ?? undefined}><Breakable s={shortMethod(name ?? "")} /></span>;
  const s = csharp(withoutModule(name ?? ""));
  const open = s.indexOf("(") < 0 ? s.length : s.indexOf("(");
  const head = s.slice(0, open);
  const n = head.slice(0, head.search(/[<[]/) < 0 ? undefined : head.search(/[<[]/)).lastIndexOf(".", head.lastIndexOf(".") - 1) + 1;
  return <span class="type" title={s === name ? undefined : name ?? undefined}><span class="dim"><Breakable s={head.slice(0, n)} /></span><Breakable s={head.slice(n)} /><span class="dim"><Breakable s={s.slice(open)} /></span></span>;
}

export function Place({ file, line }: { file: string | null | undefined; line: number | undefined }): JSX.Element | null {
  return file ? <span class="place">{file.replace(/^.*[\\/]/, "")}{line ? ":" + line : ""}</span> : null;
}

export function ObjectName({ o }: { o: ObjectRef | undefined }): JSX.Element | null {
  return o ? <><TypeName name={o.type} /> <Addr a={o.address} /></> : null;
}

/** The shown part of a whole as a bar behind a number. */
export function Share({ part, of, children }: { part: number | null | undefined; of: number | null | undefined; children: ComponentChildren }): JSX.Element {
  const p = part != null && of ? Math.max(0, Math.min(100, (100 * part) / of)) : 0;
  return <span class="share"><span class="bar" style={{ width: `${p}%` }} />{children}</span>;
}

/** How many items a list has, also where only a part of them is here. */
export const total = (doc: Doc<unknown> | undefined, list: string, here: unknown[] | null | undefined): number => doc?.lists?.[list]?.of ?? (here ?? []).length;

/** One of the lists of a document is here only in part. */
export const isCut = (doc: Doc<unknown> | undefined, ...lists: string[]): boolean => doc?.shortened === true
  || Object.entries(doc?.lists ?? {}).some(([name, l]) => l.listed < l.of && (lists.length === 0 || lists.includes(name)));

/** Lists of documents that people call otherwise. */
const listNames: Record<string, string> = { statistics: "types", operations: "suspended methods" };

/** What a document lacks, and why it may be no answer. What the document above lacks, too, is said there. */
export function Notes({ doc, cuts = true, above }: { doc: Doc<unknown>; cuts?: boolean; above?: Doc<unknown> | undefined }): JSX.Element | null {
  const said = new Set((above?.warnings ?? []).map((p) => p.text));
  const w = (doc.warnings ?? []).filter((p) => !said.has(p.text));
  const cut = cuts ? Object.entries(doc.lists ?? {}).filter(([, l]) => l.listed < l.of) : [];
  const n = w.reduce((sum, p) => sum + Math.max(1, p.count ?? 1), 0);
  if (!doc.error && !w.length && !cut.length && !(cuts && doc.shortened)) return null;
  return (
    <div class="notes">
      {doc.error && <p class={doc.error.kind === "page" ? "note" : "problem"} role="note"><b>{doc.command}: </b><Text s={doc.error.text} />
        {doc.error.advice && <small><Text s={doc.error.advice} /></small>}{doc.asked && !isReport && <> <button type="button" onClick={() => retry(doc.asked!)}>Ask again</button></>}</p>}
      {w.length > 0 && (
        <details class="note"><summary>{n === 1 ? "1 part" : `${count(n)} parts`} of the answer of {doc.command} {n === 1 ? "is" : "are"} missing</summary>
          <ul>{w.slice(0, 100).map((p) => <li><Text s={p.text} />{p.count ? ` (${p.count} times)` : ""}</li>)}</ul></details>
      )}
      {cuts && doc.shortened && <p class="note">Long lists and texts are cut in this report.</p>}
      {cut.map(([name, l]) => <p class="note small">{count(l.listed)} of {count(l.of)} {listNames[name] ?? (name || "rows")} are listed.</p>)}
    </div>
  );
}

/** Shows a document when it is there; until then what is asked, and for how long. A reason that stands above, of the document above, is not repeated. */
export function Show<T>({ doc, q, what, cuts, above, children }: { doc: Doc<T> | undefined; q?: Question | undefined; what: string; cuts?: boolean; above?: Doc<unknown> | undefined; children: (result: T, doc: Doc<T>) => ComponentChildren }): JSX.Element {
  if (!doc) return <Waiting what={what} q={q} />;
  if (doc.error && above?.error && !above.result && doc.error.text.includes(above.error.text)) return <p class="dim"><b>{doc.command}</b>: not known for the reason above.</p>;
  return <>{doc.result !== undefined && children(doc.result, doc)}<Notes doc={doc} cuts={cuts ?? true} above={above} /></>;
}

export function Waiting({ what, q }: { what: string; q?: Question | undefined }): JSX.Element {
  const [seconds, set] = useState(0);
  const [at, setAt] = useState<Progress>();
  useEffect(() => {
    const t = setInterval(() => {
      set((s) => s + 1);
      if (q) progress(q).then(setAt, () => undefined);
    }, 1000);
    return () => clearInterval(t);
  }, []);
  return <p class="waiting" role="status"><span class="spin" aria-hidden="true" /> {what}{seconds > 1 ? ` … ${seconds} s` : " …"}
    {at && at.total > 0 ? <> <progress value={at.done} max={at.total} aria-label={at.work} /> {at.work}, {Math.floor((100 * at.done) / at.total)} %</> : null}
    {q && seconds > 1 ? <> <button type="button" onClick={() => stop(q)}>Stop</button></> : null}</p>;
}

export function Verdicts({ list }: { list: Verdict[] | null | undefined }): JSX.Element {
  return (
    <ul class="verdicts">
      {(list ?? []).map((v) => (
        <li data-text={v.text}>
          <Said s={v} begins /> <Strength of={v.strength} />
          {v.facts && v.facts.length > 0 && <details><summary>evidence</summary><ul>{v.facts.map((e) => <li><Said s={e} /></li>)}</ul></details>}
        </li>
      ))}
    </ul>
  );
}

/** The threads by their ids of the system, which names of roots have. */
export function useThreads(): Map<number | undefined, Numbered> {
  const doc = useDoc<Threads>(question("threads"));
  return useMemo(() => new Map((doc?.result?.threads ?? []).map((t) => [t.osId, t])), [doc]);
}

export function RootName({ r }: { r: Root | undefined }): JSX.Element | null {
  const threads = useThreads();
  // A static says in its own name that it is one.
  return r ? <>{r.name?.startsWith("static ") ? null : <><span class="tag">{r.kind}</span>{" "}</>}<Text s={rootName(r.name, threads)} /></> : null;
}

/** A path from a root to an object, one step a line. */
export function PathView({ path }: { path: RootPath | undefined }): JSX.Element | null {
  if (!path) return null;
  return (
    <ol class="path">
      <li><RootName r={path.root} /></li>
      {(path.objects ?? []).map((o) => <li>{o.edge?.name && <code class="edge">{csharp(o.edge.name)}</code>} <ObjectName o={o} /> <span class="dim">{bytes(o.size)}</span></li>)}
    </ol>
  );
}

export interface Column<R> {
  head: string;
  cell: (row: R) => ComponentChildren;
  /** What rows are sorted by; a column without it can't be sorted. */
  by?: (row: R) => number | string | null | undefined;
  num?: boolean;
  /** A name that stands on one line. All of it is its title. */
  cut?: boolean;
}

interface TableProps<R> {
  rows: R[]; columns: Column<R>[]; caption: string;
  /** The text that the filter looks in; without it there is no filter. */
  text?: (row: R) => string | null;
  /** Index of the column that sorts at first, the largest first. */
  sort?: number;
  most?: number;
}

/** Rows of a table on paper. */
export const mostPrinted = 8;

/** A table that is sorted by its heads and filtered, and shows so many rows until more are wanted. */
export function Table<R>({ rows, columns, caption, text, sort, most = 50 }: TableProps<R>): JSX.Element {
  const name = caption.replaceAll(" ", "-");
  const [orderText, setOrder] = useParam(`sort.${name}`, sort === undefined ? "" : `${sort}-`);
  const order = orderText ? { column: parseInt(orderText), down: orderText.endsWith("-") } : undefined;
  const [filter, setFilter] = useParam(`filter.${name}`);
  const [shown, setShown] = useState(most);
  const wanted = filter.toLowerCase();
  const has = (s: string): boolean => s.toLowerCase().includes(wanted);
  let list = text && wanted ? rows.filter((r) => has(text(r) ?? "") || has(csharp(text(r) ?? ""))) : rows;
  const by = order && columns[order.column]?.by;
  if (by) {
    const sign = order.down ? -1 : 1;
    list = [...list].sort((x, y) => {
      const a = by(x) ?? "", b = by(y) ?? "";
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
    });
  }
  const cells = list.slice(0, printing.value ? Math.min(mostPrinted, shown) : shown).map((r) => columns.map((c) => c.cell(r)));
  // A column that has nothing in any row is left out.
  const seen = columns.map((_, i) => !cells.length || cells.some((row) => !isNothing(row[i])));
  return (
    <div class="tablebox">
      {text && rows.length > 8 && (
        <label class="filter"><span class="hidden">Filter {caption}</span>
          <input type="search" placeholder={`Filter ${count(rows.length)} rows`} value={filter} onInput={(e) => setFilter(e.currentTarget.value)} /></label>
      )}
      {rows.length > 0 && <div class="scroll" tabIndex={0} role="group" aria-label={caption}>
        <table role="table">
          <caption class="hidden">{caption}</caption>
          <thead role="rowgroup"><tr role="row">{columns.map((c, i) => seen[i] && (
            <th scope="col" role="columnheader" class={c.num ? "num" : ""} aria-sort={order?.column === i ? (order.down ? "descending" : "ascending") : undefined}>
              {c.by ? <button type="button" onClick={() => setOrder(`${i}${(order?.column === i ? !order.down : c.num) ? "-" : "+"}`)}>{c.head}<span aria-hidden="true">{order?.column === i ? (order.down ? " ▾" : " ▴") : ""}</span></button> : c.head}
            </th>))}</tr></thead>
          <tbody role="rowgroup">{cells.map((row) => <tr role="row">{columns.map((c, i) => seen[i] && <td role="cell" class={c.num ? "num" : c.cut ? "cut" : ""} data-head={c.head} onMouseEnter={c.cut ? (e) => { e.currentTarget.title = e.currentTarget.textContent ?? ""; } : undefined}>{row[i]}</td>)}</tr>)}</tbody>
        </table>
      </div>}
      {list.length === 0 && <p class="dim">{wanted ? "No row has this text." : "None."}</p>}
      {printing.value && list.length > mostPrinted && <p class="dim small">{count(Math.min(mostPrinted, shown))} of {count(list.length)}.</p>}
      {list.length > shown && <button type="button" class="more" onClick={() => setShown(shown * 4)}>Show more of {count(list.length)}</button>}
    </div>
  );
}

const isNothing = (cell: ComponentChildren): boolean => cell === undefined || cell === null || cell === "" || cell === false || (Array.isArray(cell) && cell.length === 0);

export function Section({ title, children, id }: { title: string; children: ComponentChildren; id?: string }): JSX.Element {
  return <section id={id}><h2>{title}</h2>{children}</section>;
}

/** Named values beside one another. */
export function Facts({ list }: { list: [string, ComponentChildren][] }): JSX.Element {
  return <dl class="facts">{list.filter(([, v]) => v !== undefined && v !== "" && v !== null).map(([k, v]) => <div><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

/** Says how to see more than the report has. */
export function NeedsServer({ what }: { what: string }): JSX.Element {
  return <p class="note">{what} needs a dump that can be asked: open it with <code>sosgo web</code>.</p>;
}

export const sharePart = (n: number | null | undefined): string => (n == null ? "" : percent(n));
export { isReport };
