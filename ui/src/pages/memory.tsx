// What holds memory: owners, suspects, strings, waste, and what grew.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isReport, question, type Question } from "../api";
import { Treemap } from "../canvas";
import { tree, type Node } from "../chart";
import { Flame } from "../flame";
import type { DiffResult as Diff, DominatorsResult as Dominators, Growth, PathGrowth, Json, LeaksResult as Leaks, Suspect, MemoryResult as Memory, MemorySum, RetainedResult as Retained, QueryResult as Rows, DominatorRow as TreeRow, WasteHolder, WasteResult as Waste } from "../docs";
import { Addr, Notes, ObjectName, PathView, RootName, useThreads, Said, Section, Share, Show, Strength, Table, Text, TypeName, Verdicts, Waiting } from "../parts";
import { link, printing, subject, useDoc } from "../state";
import { beginning, bytes, count, generationName, percent, plural, rootName, shortType, type Numbered } from "../text";

const rowName = (r: TreeRow, threads: Map<number | undefined, Numbered>): string => r.object?.type ?? (r.root ? rootName(r.root, threads) : undefined) ?? (r.folded ? `${count(r.count)} × ${r.folded}` : `${plural(r.count ?? 0, "object")} of ${plural(r.types ?? 0, "type")}`);

/** Who owns the heap. */
export function DominatorsPage(): JSX.Element {
  const doc = useDoc<Dominators>(question("dominators"));
  const retained = useDoc<Retained>(question("retained"));
  const threads = useThreads();
  const rows = useMemo(() => largestFirst(doc?.result?.tree ?? []), [doc]);
  const root = useMemo(() => {
    const t = tree(rows, (r) => ({ name: rowName(r, threads), label: shortType(rowName(r, threads)), value: r.retained, group: r.object?.type ?? r.folded ?? r.root ?? "", ...(r.object?.address ? { address: r.object.address } : {}) }), "live memory");
    t.value = Math.max(t.value, doc?.result?.live?.size ?? 0);
    return t;
  }, [rows, threads]);
  return <>
    <Section title="Who owns the heap">
      <p class="dim">What stands below an object could not be reached without it. What retains little is left out or put together by type.</p>
      <Show doc={doc} q={question("dominators")} what="building the graph of objects">{(d) => <>
        <p class="lead"><b data-fact="live">{bytes(d.live?.size)}</b> live in {count(d.live?.objects)} objects.{d.incomplete ? " Not all roots and references can be read." : ""}</p>
        <Flame id="owners" root={root} label="Tree of owners" unit={bytes} />
        {isReport ? <details><summary>The same as a list</summary><Table<TreeRow> rows={rows} caption="tree of owners" most={100} text={(r) => rowName(r, threads)} columns={[
          { head: "Owner", cell: (r) => <span style={{ paddingLeft: `${r.depth}em` }}>{r.object ? <ObjectName o={r.object} /> : <Text s={rowName(r, threads)} />}</span> },
          { head: "Retains", cell: (r) => <Share part={r.retained} of={d.live?.size}>{bytes(r.retained)}</Share>, num: true }, { head: "", cell: (r) => percent(r.share), num: true }]} /></details>
          : <><h3>The tree, to any depth</h3><ul class="owners" data-fact="owners">{branches(rows).map((b) => <BranchView b={b} live={d.live?.size ?? 0} depth={0} />)}</ul></>}
      </>}</Show>
    </Section>
    {!printing.value && <Section title="What the objects of a type retain together">
      <Show doc={retained} q={question("retained")} what="adding up by type" above={doc}>{(d) => (
        <Table rows={(d.rows ?? []).filter((r) => r.count || r.retained)} caption="retained by type" sort={3} text={(r) => r.name} columns={[
          { head: "Type", cell: (r) => <a href={link("heap", r.name ?? "")}><TypeName name={r.name} /></a>, by: (r) => r.name }, { head: "Objects", cell: (r) => count(r.count), by: (r) => r.count, num: true },
          { head: "Own bytes", cell: (r) => bytes(r.size), by: (r) => r.size, num: true },
          { head: "Retained", cell: (r) => <Share part={r.retained} of={d.live?.size}>{bytes(r.retained)}</Share>, by: (r) => r.retained, num: true }]} />)}</Show>
    </Section>}
  </>;
}

/** A row of the tree of owners with the rows below it. */
interface Branch { r: TreeRow; under: Branch[] }

/** The tree of rows in preorder. */
function branches(rows: TreeRow[]): Branch[] {
  const top: Branch[] = [], way: Branch[] = [];
  for (const r of rows) {
    const b = { r, under: [] };
    way.length = Math.min(way.length, r.depth);
    (way[way.length - 1]?.under ?? top).push(b);
    way.push(b);
  }
  return top;
}

/** The rows of the tree with those that lie beside each other by what they retain. What is put together of many types stands last. */
export function largestFirst(rows: TreeRow[]): TreeRow[] {
  const rest = (r: TreeRow): boolean => !r.object && !r.root && !r.folded;
  const flat = (list: Branch[]): TreeRow[] => list.sort((a, b) => Number(rest(a.r)) - Number(rest(b.r)) || b.r.retained - a.r.retained).flatMap((b) => [b.r, ...flat(b.under)]);
  return flat(branches(rows));
}

/** Levels of the tree that are open at first. */
const openAtFirst = 2;

/** What an owner has: the share of live memory that it retains. */
const Retains = ({ r, live }: { r: { retained: number; share?: number }; live: number }): JSX.Element => <span class="own"><Share part={r.retained} of={live}>{bytes(r.retained)}</Share> <span class="dim">{percent(r.share ?? 100 * r.retained / Math.max(1, live))}</span></span>;

const Twist = ({ open, set, of }: { open: boolean; set: (open: boolean) => void; of: string }): JSX.Element => <button type="button" class="twist" aria-expanded={open} aria-label={`what ${of} owns`} onClick={() => set(!open)}>{open ? "▾" : "▸"}</button>;

/** A root, an object, or objects of one type that lie beside each other. */
function BranchView({ b, live, depth }: { b: Branch; live: number; depth: number }): JSX.Element {
  const [open, setOpen] = useState(depth < openAtFirst && !b.r.object);
  const name = rowName(b.r, useThreads());
  if (b.r.object) return <Owner r={b.r} live={live} owns={b.under.length > 0} />;
  return <li>{b.under.length ? <Twist open={open} set={setOpen} of={name} /> : <span class="twist" />}
    <Retains r={b.r} live={live} /> <span class="name">{b.r.folded ? <>{count(b.r.count)} × <a href={link("heap", b.r.folded)}><TypeName name={b.r.folded} /></a></> : <Text s={name} />}</span>
    {open && <ul>{b.under.map((x) => <BranchView b={x} live={live} depth={depth + 1} />)}</ul>}</li>;
}

/** How many objects a step of the tree has, and from how many of one type on they are put together. */
const step = 50, alike = 3;

/** What an object owns at first hand, so many at a time; objects of one type are put together. */
function Children({ of, from, live }: { of: string; from: number; live: number }): JSX.Element {
  const q: Question = { words: ["dominators", "-children", "-from", String(from), "-top", String(step), of], count: step, graph: true };
  const doc = useDoc<Dominators>(q);
  const [more, setMore] = useState(false);
  const d = doc?.result;
  const by = new Map<string, TreeRow[]>();
  for (const r of d?.children ?? []) by.set(r.object?.type ?? "", [...(by.get(r.object?.type ?? "") ?? []), r]);
  return <>
    {!doc && <li><Waiting what="looking for what it owns" q={q} /></li>}
    {doc?.error && <li><Notes doc={doc} /></li>}
    {[...by].map(([type, rows]) => (type && rows.length >= alike ? <Alike type={type} rows={rows} live={live} /> : rows.map((r) => <Owner r={r} live={live} />)))}
    {d?.more ? more ? <Children of={of} from={from + step} live={live} /> : <li><button type="button" class="more" onClick={() => setMore(true)}>{count(Math.min(step, d.more))} more of {count(d.more)}</button></li> : null}
  </>;
}

/** Objects of one type that one object owns. */
function Alike({ type, rows, live }: { type: string; rows: TreeRow[]; live: number }): JSX.Element {
  const [open, setOpen] = useState(false);
  return <li data-alike={rows.length}><Twist open={open} set={setOpen} of={`${rows.length} ${type}`} /><Retains r={{ retained: rows.reduce((sum, r) => sum + r.retained, 0) }} live={live} /> <span class="name">{count(rows.length)} × <a href={link("heap", type)}><TypeName name={type} /></a></span>
    {open && <ul>{rows.map((r) => <Owner r={r} live={live} />)}</ul>}</li>;
}

/** An object; what it owns is shown when it is asked for. */
function Owner({ r, live, owns = !!r.owns }: { r: TreeRow; live: number; owns?: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  return <li data-owner={r.object?.address}>{owns ? <Twist open={open} set={setOpen} of={r.object?.type ?? "it"} /> : <span class="twist" />}
    <Retains r={r} live={live} /> <span class="name"><ObjectName o={r.object} />{r.owns ? <span class="dim"> owns {count(r.owns)}</span> : null}</span>
    {open && r.object?.address && <ul><Children of={r.object.address} from={0} live={live} /></ul>}</li>;
}

/** What the memory of the process is for. */
export function MemoryPage(): JSX.Element {
  const doc = useDoc<Memory>(question("memory"));
  const root = useMemo(() => {
    const all: Node = { name: "memory of the process", value: 0, children: [] };
    for (const k of doc?.result?.kinds ?? []) {
      // A stack may have megabytes, and use kilobytes: its area is what it uses, where that is known.
      const group = (k.kind ?? "?").replace(/[ ,].*/, ""), size = k.inUse ?? k.size - (k.noAccess ?? 0);
      const g: Node = all.children?.find((c) => c.name === group) ?? { name: group, value: 0, children: [], group };
      if (g.value === 0 && !all.children?.includes(g)) all.children?.push(g);
      if (size > 0) g.children?.push({ name: kindName(k), label: k.detail || (k.kind ?? "?").slice(group.length).replace(/^[ ,]+/, "") || group, value: size, group, note: `${plural(k.ranges, "range")}, ${bytes(k.size)} mapped${k.inUse !== undefined ? `, ${bytes(k.inUse)} in use` : ""}${k.known ? `, known by ${k.known}` : ""}` });
      g.value += size;
      all.value += size;
    }
    // A group that is one kind of the same name is drawn once.
    for (const g of all.children ?? []) if (g.children?.length === 1 && g.children[0]!.name === g.name) Object.assign(g, g.children[0], { children: [] });
    return all;
  }, [doc]);
  return (
    <Section title="What memory is for">
      <Show doc={doc} q={question("memory")} what="adding up mappings">{(m) => <>
        <p class="lead"><b data-fact="mapped">{bytes(m.mappings?.size)}</b> in {plural(m.mappings?.ranges ?? 0, "range")}, {bytes(m.mappings?.noAccess ?? 0)} of it without access; the dump holds {bytes(m.mappings?.stored)}.{m.complete === false ? " The dump does not list all mappings: the process may have more." : ""}</p>
        <p class="dim">Areas are what is in use; where that is not known, what is mapped and can be accessed.</p>
        <Treemap id="memory" root={root} label="Memory in use by kind, or mapped where its use is not known" unit={bytes} />
        <Table rows={m.kinds ?? []} caption="kinds of memory" sort={3} text={kindName} columns={[
          { head: "Kind", cell: kindName, by: kindName }, { head: "Ranges", cell: (k) => count(k.ranges), by: (k) => k.ranges, num: true },
          { head: "Mapped", cell: (k) => <Share part={k.size} of={m.mappings?.size}>{bytes(k.size)}</Share>, by: (k) => k.size, num: true },
          { head: "In use", cell: (k) => k.inUse === undefined ? <span class="dim">not known</span> : <Share part={k.inUse} of={m.mappings?.size}>{bytes(k.inUse)}</Share>, by: (k) => k.inUse ?? k.size - (k.noAccess ?? 0), num: true },
          { head: "No access", cell: (k) => bytes(k.noAccess), by: (k) => k.noAccess, num: true }, { head: "In the dump", cell: (k) => bytes(k.stored), by: (k) => k.stored, num: true },
          { head: "Free", cell: (k) => bytes(k.free), by: (k) => k.free, num: true },
          { head: "Known by", cell: (k) => k.known, by: (k) => k.known }]} />
      </>}</Show>
    </Section>
  );
}

const kindName = (k: MemorySum): string => (k.kind ?? "?") + (k.detail ? `: ${k.detail}` : "");

/** What a suspect is, what it retains, and who holds it. */
export function SuspectSentence({ s }: { s: Suspect }): JSX.Element {
  const o = s.owner ?? s.point;
  return <>
    {s.verdict && <span class={`tag ${s.verdict}`}>{s.verdict}</span>} <b>{bytes(s.retained)}</b>{s.share !== undefined ? <> ({percent(s.share)} of live memory)</> : null}: <span class={`clause ${s.strength ?? ""}`}><Said s={s} short /></span>{o?.address && <> <Addr a={o.address} /></>}{s.strength && <> <Strength of={s.strength} /></>}{s.kept?.text ? <>; <Said s={s.kept} short /></> : s.path?.root && <>; held by <RootName r={s.path.root} /></>}{!o && s.holders?.length ? <>; referred to by {s.holders.slice(0, 3).map((h, i) => <>{i > 0 && ", "}{h.object ? <ObjectName o={h.object} /> : <Text s={h.root} />} ({percent(h.share)})</>)}</> : null}
  </>;
}

/** How much of what a suspect retains is of types that are not listed. */
function Others({ of }: { of: Suspect }): JSX.Element | null {
  const rest = of.retained - (of.types ?? []).reduce((sum, t) => sum + t.size, 0);
  return rest > 0 ? <p class="dim small">and {bytes(rest)} of other types</p> : null;
}

/** Holders on paper. */
const mostOnPaper = 3;

/** Largest holders. */
export function SuspectsPage(): JSX.Element {
  const doc = useDoc<Leaks>(question("leaks"));
  return (
    <Section title="Largest holders">
      <Show doc={doc} q={question("leaks")} what="searching for the largest holders">{(l) => <>
        <Verdicts list={l.verdicts} />
        {(l.suspects ?? []).slice(0, printing.value ? mostOnPaper : undefined).map((s, i) => (
          <article class="card" data-fact="suspect"><h3><SuspectSentence s={s} /></h3>{s.remedy && <p><Said s={s.remedy} begins />.</p>}
            {[s.turnover, s.chain].map((x) => x?.text ? <p><Said s={x} /></p> : null)}
            {s.path && <><h4>{s.kept?.text ? "One of the ways" : "Held by"}</h4><PathView path={s.path} /></>}
            {(s.holders ?? []).length > 0 && <><h4>Referred to by</h4><ul>{(s.holders ?? []).map((h) => <li>{h.object ? <ObjectName o={h.object} /> : <Text s={h.root} />} <span class="dim">{percent(h.share)} of them</span></li>)}</ul></>}
            {(s.types ?? []).length > 0 && <><h4>It retains</h4><Table rows={s.types ?? []} caption={`types that holder ${i + 1} retains`} columns={[{ head: "Type", cell: (t) => <TypeName name={t.type} /> }, { head: "Objects", cell: (t) => count(t.count), num: true },
              { head: "Bytes", cell: (t) => <Share part={t.size} of={s.retained}>{bytes(t.size)}</Share>, num: true }]} /><Others of={s} /></>}
            {(s.targets ?? []).length > 0 && <><h4>They call, or are</h4><ul>{(s.targets ?? []).slice(0, 10).map((t) => <li>{count(t.count)} × <TypeName name={t.type} /></li>)}</ul></>}
          </article>))}
        {l.finalizers && (l.finalizers.ready ?? 0) > 0 && <p><b>{plural(l.finalizers.ready ?? 0, "object")}</b> wait for their finalizer: {(l.finalizers.readyTypes ?? []).slice(0, 5).map((t) => <span>{count(t.count)} × <TypeName name={t.type} /> </span>)}</p>}
      </>}</Show>
    </Section>
  );
}

const str = (v: Json | undefined): string => (typeof v === "string" ? v : "");
const num = (v: Json | undefined): number | undefined => (typeof v === "number" ? v : undefined);

/** Characters of a text in a table. */
const longestText = (): number => (printing.value ? 60 : 120);

/** Strings: those that are there more than once, and the longest. */
export function StringsPage(): JSX.Element {
  const waste = useDoc<Waste>(question("waste"));
  const doc = useDoc<Rows>(question("strings"));
  return <>
    <Section title="Repeated texts">
      <Show doc={waste} q={question("waste")} what="comparing strings">{(w) => {
        const k = (w.kinds ?? []).find((x) => x.kind === "strings");
        return k ? <>
          <p class="lead">{count(k.all)} strings take {bytes(k.allSize)}; <b>{bytes(k.wasted)}</b> of them repeat another one's text.</p>
          <HeldBy list={k.holders} of={k.wasted} what="holders of repeated texts" />
          <Table rows={k.strings ?? []} caption="repeated strings" sort={2} text={(s) => s.text} columns={[
            { head: "Text", cell: (s) => <q>{beginning(s.text ?? "", longestText())}</q>, by: (s) => s.text }, { head: "Strings", cell: (s) => count(s.count), by: (s) => s.count, num: true },
            { head: "Wasted", cell: (s) => <Share part={s.wasted} of={k.wasted}>{bytes(s.wasted)}</Share>, by: (s) => s.wasted, num: true },
            { head: "Held by", cell: (s) => s.holders?.[0]?.holder && <TypeName name={s.holders[0].holder} /> }, { head: "First", cell: (s) => <Addr a={s.address} /> }]} />
        </> : <p>No text was found more than once.</p>;
      }}</Show>
    </Section>
    {!printing.value && <Section title="The largest strings">
      <Show doc={doc} q={question("strings")} what="reading strings" above={waste}>{(r) => (
        <Table rows={r.rows ?? []} caption="largest strings" text={(x) => str(x["text"])} sort={1} columns={[
          { head: "Text", cell: (x) => typeof x["text"] === "string" ? <q>{beginning(x["text"], longestText())}</q> : <span class="dim">its text is not in the dump</span> }, { head: "Bytes", cell: (x) => bytes(num(x["size"])), by: (x) => num(x["size"]), num: true },
          { head: "Characters", cell: (x) => count(num(x["length"])), by: (x) => num(x["length"]), num: true }, { head: "String", cell: (x) => <Addr a={str(x["address"])} /> }]} />)}</Show>
    </Section>}
  </>;
}

/** Who holds what is wasted, the most first. */
function HeldBy({ list, of, what }: { list: WasteHolder[] | null | undefined; of: number | undefined; what: string }): JSX.Element | null {
  const threads = useThreads();
  return list?.length ? <Table<WasteHolder> rows={list} caption={what} most={10} columns={[
    { head: "Held by", cut: true, cell: (h) => (!h.holder ? "unknown" : h.holder.startsWith("thread ") ? rootName(h.holder, threads) : <TypeName name={h.holder} cut />), by: (h) => h.holder }, { head: "Wasted", cell: (h) => <Share part={h.wasted} of={of}>{bytes(h.wasted)}</Share>, by: (h) => h.wasted, num: true },
    { head: "References", cell: (h) => count(h.references), by: (h) => h.references, num: true }]} /> : null;
}

const wasteKinds: Record<string, string> = {
  strings: "Duplicate strings", sparse: "Arrays of mostly null references", zeros: "Arrays of zeros", constant: "Arrays of one repeated value", tails: "Arrays with trailing zeros",
  "empty-arrays": "Duplicate empty arrays", "empty-collections": "Empty collections", underfilled: "Oversized collections", boxes: "Duplicate boxed values", "zero-objects": "Objects with all fields null or zero",
};

/** Memory that holds nothing, or what is there already. */
export function WastePage(): JSX.Element {
  const doc = useDoc<Waste>(question("waste"));
  return (
    <Section title="Waste">
      <Show doc={doc} q={question("waste")} what="searching for waste">{(w) => <>
        <p class="lead"><b data-fact="wasted">{bytes(w.wasted)}</b>, {percent(w.share)} of all objects, are empty, unused or repeated.</p>
        {(w.kinds ?? []).filter((k) => k.objects).map((k) => (
          <details class="card" open={(k.share ?? 0) > 5 && !printing.value}><summary><b>{wasteKinds[k.kind] ?? k.kind}</b>: {bytes(k.wasted)} in {plural(k.objects ?? 0, "object")}</summary>
            <HeldBy list={k.holders} of={k.wasted} what={`holders of ${k.kind}`} />
            {(k.types ?? []).length > 0 && <Table rows={k.types ?? []} caption={k.kind} columns={[
              { head: "Type", cell: (t) => <TypeName name={t.type} />, by: (t) => t.type }, { head: "Objects", cell: (t) => count(t.objects), by: (t) => t.objects, num: true },
              { head: "Wasted", cell: (t) => <Share part={t.wasted} of={k.wasted}>{bytes(t.wasted)}</Share>, by: (t) => t.wasted, num: true },
              { head: "Filled", cell: (t) => (t.capacity ? `${count(t.elements)} of ${count(t.capacity)}` : ""), num: true }, { head: "Example", cell: (t) => <Addr a={t.example} /> }]} />}
            {(k.strings ?? []).slice(0, 5).map((s) => <p><q>{beginning(s.text ?? "", 100)}</q> {plural(s.count ?? 0, "time")}, {bytes(s.wasted)}</p>)}
          </details>))}
        {(w.kinds ?? []).some((k) => !k.objects) && <p class="dim">None were found: {(w.kinds ?? []).filter((k) => !k.objects).map((k) => (wasteKinds[k.kind] ?? k.kind).toLowerCase()).join(", ")}.</p>}
        {(w.free ?? []).length > 0 && <><h3>Free blocks between objects</h3><Table rows={w.free ?? []} caption="free blocks" columns={[
          { head: "Generation", cell: (f) => generationName(f.generation) }, { head: "Objects", cell: (f) => bytes(f.objects), num: true }, { head: "Free", cell: (f) => bytes(f.free), num: true },
          { head: "Blocks", cell: (f) => count(f.blocks), num: true }, { head: "Largest", cell: (f) => bytes(f.largest), num: true }]} /></>}
      </>}</Show>
    </Section>
  );
}

const change = (n: number): string => (n > 0 ? "+" : "") + bytes(n);

/** What grew from this dump to others. */
export function DiffPage(): JSX.Element {
  const others = subject.value.others ?? [];
  const q: Question | undefined = others.length ? { words: ["diff", "-paths", ...others], count: 500, graph: true } : undefined;
  const doc = useDoc<Diff>(q);
  if (!subject.value.file) return <Waiting what="asking for the dumps" />;
  if (!q) return <Section title="Comparison"><p>Name later dumps of the same program to compare with: <code>sosgo web {subject.value.file} -with LATER.dmp</code></p></Section>;
  return (
    <Section title="What grew">
      <Show doc={doc} q={q} what="comparing heaps">{(d) => {
        const grown = (list: Growth[], caption: string): JSX.Element => (
          <Table<Growth> rows={list} caption={caption} text={(g) => g.name} columns={[
            { head: "Name", cell: (g) => <><TypeName name={g.name} />{g.growing ? <span class="tag suspect">growing</span> : null}</>, by: (g) => g.name },
            { head: "Objects", cell: (g) => (g.counts ?? []).map((n) => count(n)).join(" → "), num: true }, { head: "Bytes", cell: (g) => (g.sizes ?? []).map((n) => bytes(n)).join(" → "), num: true },
            { head: "Change", cell: (g) => change(g.sizeChange), by: (g) => g.sizeChange, num: true }]} />);
        return <>
          <ul>{(d.dumps ?? []).map((x) => <li><code>{x.file}</code>: {bytes(x.size)} in {count(x.objects)} objects, {bytes(x.committed)} committed{x.unread ? `; ${x.unread} places can't be read` : ""}</li>)}</ul>
          <p class="lead">The objects changed by <b>{change(d.objects?.sizeChange ?? 0)}</b>.</p>
          {(d.suspects ?? []).map((s) => <p class="card"><b>{change(s.sizeChange)}</b> ({percent(s.share)} of the growth) held by {(s.path ?? []).join(" → ")}</p>)}
          <h3>Types</h3>{grown(d.types ?? [], "types that changed")}
          {(d.paths ?? []).length > 0 && <><h3>Holders of the growth</h3><GrowthPaths list={d.paths ?? []} /></>}
        </>;
      }}</Show>
    </Section>
  );
}

/** The ways from roots to what grew: drawn as far as they grew, and listed. */
function GrowthPaths({ list }: { list: PathGrowth[] }): JSX.Element {
  const root = useMemo(() => tree(list.filter((g) => g.sizeChange > 0), (g) => ({ name: g.name, label: shortType(g.name), value: g.sizeChange, note: `${(g.counts ?? []).map((n) => count(n)).join(" → ")} objects` }), "growth"), [list]);
  return <>
    <Flame id="growth" root={root} label="Growth by the ways from roots" unit={change} />
    <Table<PathGrowth> rows={list} caption="paths" most={100} text={(g) => g.name} columns={[
      { head: "Path", cell: (g) => <span style={{ paddingLeft: `${g.depth}em` }}><TypeName name={g.name} />{g.growing ? <span class="tag suspect">growing</span> : null}</span> },
      { head: "Objects", cell: (g) => (g.counts ?? []).map((n) => count(n)).join(" → "), num: true }, { head: "Bytes", cell: (g) => (g.sizes ?? []).map((n) => bytes(n)).join(" → "), num: true },
      { head: "Change", cell: (g) => change(g.sizeChange), num: true }]} />
  </>;
}
