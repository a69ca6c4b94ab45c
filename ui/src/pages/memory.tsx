// What holds memory: owners, suspects, strings, waste, and what grew.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { question, type Question } from "../api";
import { tree } from "../chart";
import { Flame } from "../flame";
import type { DiffResult as Diff, DominatorsResult as Dominators, Growth, PathGrowth, Json, LeaksResult as Leaks, RetainedResult as Retained, QueryResult as Rows, DominatorRow as TreeRow, WasteResult as Waste } from "../docs";
import { Addr, ObjectName, PathView, Section, Share, Show, Table, Text, TypeName, Waiting } from "../parts";
import { subject, useDoc } from "../state";
import { bytes, count, percent, plural, shortType } from "../text";
import { SuspectSentence } from "./overview";

const rowName = (r: TreeRow): string => r.object?.type ?? r.root ?? (r.folded ? `${count(r.count)} × ${r.folded}` : `${plural(r.count ?? 0, "object")} of ${plural(r.types ?? 0, "type")}`);

/** Who owns the heap. */
export function DominatorsPage(): JSX.Element {
  const doc = useDoc<Dominators>(question("dominators"));
  const retained = useDoc<Retained>(question("retained"));
  const root = useMemo(() => {
    const t = tree(doc?.result?.tree ?? [], (r) => ({ name: rowName(r), label: shortType(rowName(r)), value: r.retained, group: r.object?.type ?? r.folded ?? r.root ?? "", ...(r.object?.address ? { address: r.object.address } : {}) }), "live memory");
    t.value = Math.max(t.value, doc?.result?.live?.size ?? 0);
    return t;
  }, [doc]);
  return <>
    <Section title="Who owns the heap">
      <p class="dim">What stands below an object could not be reached without it. What retains little is left out or put together by type.</p>
      <Show doc={doc} what="building the graph of objects">{(d) => <>
        <p class="lead"><b data-fact="live">{bytes(d.live?.size)}</b> live in {count(d.live?.objects)} objects.{d.incomplete ? " Not all roots and references can be read." : ""}</p>
        <Flame id="owners" root={root} label="Tree of owners" unit={bytes} />
        <details><summary>The same as a list</summary><Table<TreeRow> rows={d.tree ?? []} caption="tree of owners" most={100} text={rowName} columns={[
          { head: "Owner", cell: (r) => <span style={{ paddingLeft: `${r.depth}em` }}>{r.object ? <ObjectName o={r.object} /> : <Text s={rowName(r)} />}</span> },
          { head: "Retains", cell: (r) => <Share part={r.retained} of={d.live?.size}>{bytes(r.retained)}</Share>, num: true }, { head: "", cell: (r) => percent(r.share), num: true }]} /></details>
      </>}</Show>
    </Section>
    <Section title="What the objects of a type retain together">
      <Show doc={retained} what="adding up by type">{(d) => (
        <Table rows={d.rows ?? []} caption="retained by type" sort={3} text={(r) => r.name} columns={[
          { head: "Type", cell: (r) => <TypeName name={r.name} />, by: (r) => r.name }, { head: "Objects", cell: (r) => count(r.count), by: (r) => r.count, num: true },
          { head: "Own bytes", cell: (r) => bytes(r.size), by: (r) => r.size, num: true },
          { head: "Retained", cell: (r) => <Share part={r.retained} of={d.live?.size}>{bytes(r.retained)}</Share>, by: (r) => r.retained, num: true }]} />)}</Show>
    </Section>
  </>;
}

/** Largest holders. */
export function SuspectsPage(): JSX.Element {
  const doc = useDoc<Leaks>(question("leaks"));
  return (
    <Section title="Largest holders">
      <p class="dim">A large holder is no proof of a leak: compare with an earlier dump.</p>
      <Show doc={doc} what="searching for the largest holders">{(l) => <>
        {l.small && <p class="note">Only {bytes(l.live?.size)} live: so little explains no process that uses much memory.</p>}
        {(l.suspects ?? []).length === 0 && <p>Nothing was found that retains a large part of the heap{l.incomplete ? "; not all roots and references can be read" : ""}.</p>}
        {(l.suspects ?? []).map((s) => (
          <article class="card" data-fact="suspect"><h3><SuspectSentence s={s} /></h3>
            {s.path && <><h4>Held by</h4><PathView path={s.path} /></>}
            {(s.holders ?? []).length > 0 && <><h4>Referred to by</h4><ul>{(s.holders ?? []).map((h) => <li>{h.object ? <ObjectName o={h.object} /> : <Text s={h.root} />} <span class="dim">{percent(h.share)} of them</span></li>)}</ul></>}
            {(s.types ?? []).length > 0 && <><h4>It retains</h4><Table rows={s.types ?? []} caption="retained types" columns={[{ head: "Type", cell: (t) => <TypeName name={t.type} /> }, { head: "Objects", cell: (t) => count(t.count), num: true },
              { head: "Bytes", cell: (t) => <Share part={t.size} of={s.retained}>{bytes(t.size)}</Share>, num: true }]} /></>}
            {(s.targets ?? []).length > 0 && <><h4>They call, or are</h4><ul>{(s.targets ?? []).slice(0, 10).map((t) => <li>{count(t.count)} × <TypeName name={t.type} /></li>)}</ul></>}
          </article>))}
        {l.finalizers && (l.finalizers.ready ?? 0) > 0 && <p><b>{plural(l.finalizers.ready ?? 0, "object")}</b> wait for their finalizer: {(l.finalizers.readyTypes ?? []).slice(0, 5).map((t) => <span>{count(t.count)} × <TypeName name={t.type} /> </span>)}</p>}
      </>}</Show>
    </Section>
  );
}

const str = (v: Json | undefined): string => (typeof v === "string" ? v : "");
const num = (v: Json | undefined): number | undefined => (typeof v === "number" ? v : undefined);

/** Strings: those that are there more than once, and the longest. */
export function StringsPage(): JSX.Element {
  const waste = useDoc<Waste>(question("waste"));
  const doc = useDoc<Rows>(question("strings"));
  return <>
    <Section title="The same text again">
      <Show doc={waste} what="comparing strings">{(w) => {
        const k = (w.kinds ?? []).find((x) => x.kind === "strings");
        return k ? <>
          <p class="lead">{count(k.all)} strings take {bytes(k.allSize)}; <b>{bytes(k.wasted)}</b> of them repeat another one's text.</p>
          <Table rows={k.strings ?? []} caption="repeated strings" sort={2} text={(s) => s.text} columns={[
            { head: "Text", cell: (s) => <q>{(s.text ?? "").slice(0, 200)}</q>, by: (s) => s.text }, { head: "Strings", cell: (s) => count(s.count), by: (s) => s.count, num: true },
            { head: "Wasted", cell: (s) => <Share part={s.wasted} of={k.wasted}>{bytes(s.wasted)}</Share>, by: (s) => s.wasted, num: true },
            { head: "Held by", cell: (s) => <Text s={s.holders?.[0]?.holder} /> }, { head: "First", cell: (s) => <Addr a={s.address} /> }]} />
        </> : <p>No text was found more than once.</p>;
      }}</Show>
    </Section>
    <Section title="The largest strings">
      <Show doc={doc} what="reading strings">{(r) => (
        <Table rows={r.rows ?? []} caption="largest strings" text={(x) => str(x["text"])} sort={1} columns={[
          { head: "Text", cell: (x) => <q>{str(x["text"]).slice(0, 200)}</q> }, { head: "Bytes", cell: (x) => bytes(num(x["size"])), by: (x) => num(x["size"]), num: true },
          { head: "Characters", cell: (x) => count(num(x["length"])), by: (x) => num(x["length"]), num: true }, { head: "String", cell: (x) => <Addr a={str(x["address"])} /> }]} />)}</Show>
    </Section>
  </>;
}

const wasteKinds: Record<string, string> = {
  strings: "Duplicate strings", sparse: "Arrays of mostly null references", zeros: "Arrays of zeros", constant: "Arrays of one repeated value", tails: "Arrays with trailing zeros",
  "empty-arrays": "Duplicate empty arrays", "empty-collections": "Empty collections", underfilled: "Oversized collections", boxes: "Duplicate boxed values", "zero-objects": "Objects with all fields null or zero",
};

/** Memory that holds nothing, or the same again. */
export function WastePage(): JSX.Element {
  const doc = useDoc<Waste>(question("waste"));
  return (
    <Section title="Memory that holds nothing, or the same again">
      <Show doc={doc} what="searching for waste">{(w) => <>
        <p class="lead"><b data-fact="wasted">{bytes(w.wasted)}</b>, {percent(w.share)} of all objects, hold nothing or the same again.</p>
        {(w.kinds ?? []).map((k) => (
          <details class="card" open={(k.share ?? 0) > 5}><summary><b>{wasteKinds[k.kind] ?? k.kind}</b>: {bytes(k.wasted)} in {plural(k.objects ?? 0, "object")}</summary>
            {(k.types ?? []).length > 0 && <Table rows={k.types ?? []} caption={k.kind} columns={[
              { head: "Type", cell: (t) => <TypeName name={t.type} />, by: (t) => t.type }, { head: "Objects", cell: (t) => count(t.objects), by: (t) => t.objects, num: true },
              { head: "Wasted", cell: (t) => <Share part={t.wasted} of={k.wasted}>{bytes(t.wasted)}</Share>, by: (t) => t.wasted, num: true },
              { head: "Filled", cell: (t) => (t.capacity ? `${count(t.elements)} of ${count(t.capacity)}` : ""), num: true }, { head: "Example", cell: (t) => <Addr a={t.example} /> }]} />}
            {(k.strings ?? []).slice(0, 5).map((s) => <p><q>{(s.text ?? "").slice(0, 100)}</q> {plural(s.count ?? 0, "time")}, {bytes(s.wasted)}</p>)}
            {(k.holders ?? []).length > 0 && <><h4>Held by</h4><ul>{(k.holders ?? []).slice(0, 10).map((h) => <li><Text s={h.holder} /> <span class="dim">{bytes(h.wasted)}</span></li>)}</ul></>}
          </details>))}
        {(w.free ?? []).length > 0 && <><h3>Free blocks between objects</h3><Table rows={w.free ?? []} caption="free blocks" columns={[
          { head: "Generation", cell: (f) => f.generation }, { head: "Objects", cell: (f) => bytes(f.objects), num: true }, { head: "Free", cell: (f) => bytes(f.free), num: true },
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
      <Show doc={doc} what="comparing heaps">{(d) => {
        const grown = (list: (Growth | PathGrowth)[], caption: string): JSX.Element => (
          <Table<Growth | PathGrowth> rows={list} caption={caption} text={(g) => g.name} columns={[
            { head: "Name", cell: (g) => <span style={{ paddingLeft: `${"depth" in g ? g.depth : 0}em` }}><TypeName name={g.name} />{g.growing ? <span class="tag suspect">growing</span> : null}</span>, by: g0 },
            { head: "Objects", cell: (g) => (g.counts ?? []).map((n) => count(n)).join(" → "), num: true }, { head: "Bytes", cell: (g) => (g.sizes ?? []).map((n) => bytes(n)).join(" → "), num: true },
            { head: "Change", cell: (g) => change(g.sizeChange), by: (g) => g.sizeChange, num: true }]} />);
        return <>
          <ul>{(d.dumps ?? []).map((x) => <li><code>{x.file}</code>: {bytes(x.size)} in {count(x.objects)} objects, {bytes(x.committed)} committed{x.unread ? `; ${x.unread} places can't be read` : ""}</li>)}</ul>
          <p class="lead">The objects changed by <b>{change(d.objects?.sizeChange ?? 0)}</b>.</p>
          {(d.suspects ?? []).map((s) => <p class="card"><b>{change(s.sizeChange)}</b> ({percent(s.share)} of the growth) held by {(s.path ?? []).join(" → ")}</p>)}
          <h3>Types</h3>{grown(d.types ?? [], "types that changed")}
          {(d.paths ?? []).length > 0 && <><h3>Holders of the growth</h3>{grown(d.paths ?? [], "paths")}</>}
        </>;
      }}</Show>
    </Section>
  );
}

const g0 = (g: Growth | PathGrowth): string | null => g.name;
