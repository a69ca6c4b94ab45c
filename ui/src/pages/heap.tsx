import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isReport, question, type Question } from "../api";
import { Treemap } from "../canvas";
import { byNamespace } from "../chart";
import type { MapCell as Cell, GcheapstatResult as Generations, DumpheapResult as Heap, HeapmapResult as HeapMap, Json, QueryResult as Rows, RetainedResult as Retained, EeheapResult as Segments, TypeCount } from "../docs";
import { Addr, Facts, Notes, Section, Share, Show, Table, TypeName } from "../parts";
import { colour, link, printing, route, shade, theme, useDoc, useParam } from "../state";
import { bytes, count, generationName, generationNames, percent } from "../text";
import { OneType } from "./type";

/** Types, and what they fill. */
export function HeapPage(): JSX.Element {
  return <><Types />{route.value.arg ? null : <Space />}</>;
}

/** Generations, and a map of the heap. */
export function GenerationsPage(): JSX.Element {
  return <><GenerationTable />{printing.value ? null : <MapOfHeap />}</>;
}

function Types(): JSX.Element {
  const wanted = route.value.arg;
  const [most, setMost] = useState(question("types").count);
  const [gen, setGen] = useParam("gen");
  const words = ["dumpheap", "-stat", ...(wanted && !isReport ? ["-type", wanted] : []), ...(gen && !isReport ? ["-gen", gen] : [])];
  const q: Question = { words, count: most, last: true };
  const doc = useDoc<Heap>(q);
  // What builds a graph or counts again is asked for when the types are there.
  const ready = doc !== undefined;
  const retained = useDoc<Retained>(ready ? question("retained") : undefined);
  const parts = useDoc<Rows>(ready ? question("byGeneration") : undefined);
  const retains = useMemo(() => new Map((retained?.result?.rows ?? []).map((r) => [r.methodTable, r.retained])), [retained]);
  const generations = useMemo(() => {
    const by = new Map<string, [string, number][]>();
    for (const r of parts?.result?.rows ?? []) by.set(text(r["mt"]), [...(by.get(text(r["mt"])) ?? []), [text(r["gen"]), num(r["sum(size)"])]]);
    return by;
  }, [parts]);
  const share = (list: [string, number][]): JSX.Element => {
    const all = list.reduce((sum, [, n]) => sum + n, 0);
    const words = list.map(([g, n]) => (n === all ? generationName(g) : `${generationName(g)} ${percent((100 * n) / all)}`));
    return <span class="generations" title={words.join(", ")}>{words.map((w, i) => <>{i > 0 && " "}<span class="id">{w}{i < words.length - 1 && ","}</span></>)}</span>;
  };
  const exact = wanted ? doc?.result?.statistics?.find((t) => t.type === wanted) : undefined;
  if (exact) return <OneType key={wanted} t={exact} />;
  return (
    <section>
      {wanted && <p>Types with <code>{wanted}</code> in their names · <a href={link("heap")}>all types</a></p>}
      <Show doc={doc} q={q} what="counting objects">{(h, d) => {
        // Free blocks are counted by the collector, and are no objects.
        const free = h.statistics?.find((t) => t.type === "Free");
        const rows = (h.statistics ?? []).filter((t) => t !== free && (!isReport || !wanted || t.type?.includes(wanted)));
        const part = d.lists?.["statistics"];
        return <>
          <p class="lead"><b data-fact="count">{count((h.count ?? 0) - (free?.count ?? 0))}</b> objects, <b data-fact="size">{bytes((h.size ?? 0) - (free?.size ?? 0))}</b>{free ? <span class="dim">; {bytes(free.size)} free between them ({percent(100 * free.size / Math.max(1, h.size ?? 0))})</span> : null}{!isReport && <label class="beside">Generation <select value={gen} onChange={(e) => setGen(e.currentTarget.value)}><option value="">all</option>{Object.entries(generationNames).map(([g, name]) => <option value={g}>{name}</option>)}</select></label>}</p>
          <Table<TypeCount> rows={rows} caption="types" sort={2} text={(t) => t.type} columns={[
            { head: "Type", cut: true, cell: (t) => t.type ? <a href={link("heap", t.type)}><TypeName name={t.type} cut /></a> : <TypeName name={t.type} />, by: (t) => t.type },
            { head: "Objects", cell: (t) => count(t.count), by: (t) => t.count, num: true },
            { head: "Bytes", cell: (t) => <Share part={t.size} of={h.size}>{bytes(t.size)}</Share>, by: (t) => t.size, num: true },
            { head: "Retained", cell: (t) => (retains.has(t.methodTable) ? <Share part={retains.get(t.methodTable)} of={h.size}>{bytes(retains.get(t.methodTable))}</Share> : retained ? "" : "…"), by: (t) => retains.get(t.methodTable), num: true },
            { head: "Generations", cell: (t) => (generations.has(t.methodTable) ? share(generations.get(t.methodTable)!) : parts ? "" : "…") },
            ...(printing.value ? [] : [{ head: "MethodTable", cell: (t: TypeCount) => <Addr a={t.methodTable} /> }]),
          ]} />
          <p class="dim small">Retained: what the objects of a type retain together; empty where the type is not among the {count(question("retained").count)} that retain most.{retained?.result?.incomplete ? " Not all roots and references can be read." : ""}</p>
          {retained && <Notes doc={retained} cuts={false} />}
          {part && part.listed < part.of && !isReport && <button type="button" class="more" onClick={() => setMost(most * 10)}>Load more types</button>}
        </>;
      }}</Show>
    </section>
  );
}

const text = (v: Json | undefined): string => (typeof v === "string" ? v : "");
const num = (v: Json | undefined): number => (typeof v === "number" ? v : Number(v ?? 0) || 0);

function Space(): JSX.Element {
  const types = useDoc<Heap>(question("types"));
  const doc = useDoc<Rows>(question("assemblies"));
  const root = useMemo(() => doc?.result && byNamespace((doc.result.rows ?? []).map((r) => ({ name: text(r["name"]), assembly: text(r["assembly"]), size: num(r["size"]), count: num(r["count"]),
    ...(typeof r["mt"] === "string" ? { address: r["mt"] } : {}) })), "heap"), [doc]);
  return (
    <Section title="By assembly, namespace and type">
      <Show doc={doc} q={question("assemblies")} what="counting by assembly" above={types}>{() => (root?.children?.length ? <Treemap id="space" root={root} label="Treemap of the heap by assembly, namespace and type" unit={bytes} /> : null)}</Show>
    </Section>
  );
}

function GenerationTable(): JSX.Element {
  const types = useDoc<Heap>(question("types"));
  const doc = useDoc<Generations>(question("generations"));
  const segments = useDoc<Segments>(question("segments"));
  const gc = segments?.result?.gc;
  return (
    <Section title="Generations">
      {gc && <Facts list={[["collector", gc.server ? "server" : "workstation"], ["heaps", count(gc.heaps)], ["made of", gc.regions ? "regions" : "segments"],
        ["allocated", bytes(gc.allocated)], ["committed", bytes(gc.committed)], ["state", gc.inCollection ? "in a collection" : undefined]]} />}
      {segments && <Show doc={segments} what="reading segments" above={types}>{() => null}</Show>}
      <Show doc={doc} q={question("generations")} what="adding up generations" above={types}>{(g) => (
        <Table rows={(g.heaps ?? []).flatMap((h) => (h.generations ?? []).map((x) => ({ heap: h.heap, ...x })))} caption="generations" columns={[
          { head: "Heap", cell: (r) => r.heap, by: (r) => r.heap, num: true }, { head: "Generation", cell: (r) => generationName(r.generation), by: (r) => r.generation },
          { head: "Objects' bytes", cell: (r) => bytes(r.live), by: (r) => r.live, num: true }, { head: "Free", cell: (r) => bytes(r.free), by: (r) => r.free, num: true },
          { head: "Allocated", cell: (r) => bytes(r.allocated), by: (r) => r.allocated, num: true },
          { head: "Committed", cell: (r) => <>{bytes(r.committed)}{r.incomplete ? " (a segment can't be read)" : ""}</>, by: (r) => r.committed, num: true },
        ]} />)}</Show>
    </Section>
  );
}

function MapOfHeap(): JSX.Element {
  const types = useDoc<Heap>(question("types"));
  const doc = useDoc<HeapMap>(question("map"));
  return (
    <Section title="Map of the heap">
      <Show doc={doc} q={question("map")} what="drawing the heap" above={types}>{(m) => <>
        <p class="dim">A cell is {bytes(m.cellSize)}. <span class="swatch used" /> objects <span class="swatch free" /> free <span class="swatch unread" /> not readable <span class="swatch empty" /> not used yet</p>
        <div class="map">{(m.parts ?? []).filter((p) => p.used).map((p) => (
          <div class="part"><span>{generationName(p.generation)} <Addr a={p.segment} /></span><Cells cells={p.cells ?? []} /><span class="dim">{bytes(p.used)} used, {p.free !== undefined ? `${bytes(p.free)} free, ` : ""}of {bytes(p.committed)}{p.pinned ? `, ${p.pinned} pinned` : ""}</span></div>
        ))}</div>
      </>}</Show>
    </Section>
  );
}

const side = 7;

function Cells({ cells }: { cells: Cell[] }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const mode = theme.value + shade.value;
  // Drawn before the page is shown, so that it is on paper, too.
  useLayoutEffect(() => {
    const c = canvas.current;
    const g = c?.getContext("2d");
    if (!c || !g) return;
    const across = Math.max(8, Math.min(128, Math.floor((c.parentElement?.clientWidth ?? 300) / side) - 2));
    const lines = Math.min(64, Math.ceil(cells.length / across));
    c.width = across * side;
    c.height = Math.max(1, lines) * side;
    const used = colour("--accent"), free = colour("--free"), unread = colour("--bad"), empty = colour("--raised");
    cells.slice(0, across * lines).forEach((cell, i) => {
      const x = (i % across) * side, y = Math.floor(i / across) * side;
      const whole = Math.max(1, cell.size);
      g.fillStyle = empty;
      g.fillRect(x, y, side - 1, side - 1);
      let at = 0;
      for (const [n, fill] of [[cell.used ?? 0, used], [cell.free ?? 0, free], [cell.unread ?? 0, unread]] as const) {
        const h = ((side - 1) * Math.min(n, whole)) / whole;
        g.fillStyle = fill;
        if (n > 0) g.fillRect(x, y + (side - 1) - at - h, side - 1, h);
        at += h;
      }
    });
  }, [cells, mode]);
  return <canvas ref={canvas} role="img" aria-label={`${cells.length} cells`} />;
}
