// One type: who holds its objects, the objects, and what their fields contain.
import type { JSX } from "preact";
import { isReport, question, type Question } from "../api";
import type { DumpobjResult as Obj, Json, LeaksResult as Leaks, QueryResult as Rows, RetainedResult as Retained, TypeCount } from "../docs";
import { Addr, Facts, NeedsServer, Section, Share, Show, Table, Text, TypeName } from "../parts";
import { link, useDoc, useParam } from "../state";
import { bytes, count, csharp, generationName, percent, plural, shortType } from "../text";
import { SuspectSentence } from "./memory";

/** Objects that paths are looked for of, and those that are listed. */
const sample = 300, listed = 50;

const rows = (text: string, most: number, graph = false): Question => ({ words: ["query", "-rows", String(most), text], count: most, list: "rows", graph });
const str = (v: Json | undefined): string => (typeof v === "string" ? v : v === undefined || v === null ? "" : String(v));
const num = (v: Json | undefined): number => (typeof v === "number" ? v : 0);

/** A type with its objects; t is its row among the types. */
export function OneType({ t }: { t: TypeCount }): JSX.Element {
  const name = t.type ?? "";
  const retained = useDoc<Retained>(question("retained"))?.result?.rows?.find((r) => r.methodTable === t.methodTable)?.retained;
  return <>
    <h2 class="object"><TypeName name={name} /></h2>
    <Facts list={[["objects", <b data-fact="objects">{count(t.count)}</b>], ["own size", bytes(t.size)], ["retained together", retained !== undefined ? bytes(retained) : undefined], ["MethodTable", <Addr a={t.methodTable} />]]} />
    <Known name={name} />
    {isReport ? <NeedsServer what="What holds these objects" /> : <><Holders name={name} all={t.count} /><Instances name={name} /><Histogram name={name} all={t.count} /></>}
    <p><a href={link("heap")}>All types</a></p>
  </>;
}

/** What the search for large holders says of objects of the type. */
function Known({ name }: { name: string }): JSX.Element | null {
  const mine = (useDoc<Leaks>(question("leaks"))?.result?.suspects ?? []).filter((s) => (s.members?.type ?? s.point?.type) === name);
  return mine.length === 0 ? null : <ul class="verdicts">{mine.map((s) => <li><SuspectSentence s={s} /> <a href={link("suspects")}>all holders</a></li>)}</ul>;
}

interface Way { name: string; n: number; address: string; under: Map<string, Way> }

/** The steps of a path as they are alike for many objects: without addresses and numbers of elements. */
export function steps(path: string): { name: string; address: string }[] {
  return path.split(" -> ").map((s) => {
    const address = / ([0-9a-f]{8,16})$/.exec(s)?.[1] ?? "";
    return { name: s.replace(/ [0-9a-f]{8,16}$/, "").replace(/\[\d+\]/g, "[…]"), address: address && "0x" + address.replace(/^0+/, "") };
  });
}

/** The shortest ways from roots to some of the objects, merged. */
function Holders({ name, all }: { name: string; all: number }): JSX.Element {
  const q = rows(`from objects of exactly "${name}" | select address, path(this) | top ${sample}`, sample, true);
  const doc = useDoc<Rows>(q, true);
  return <Section title="Who holds them" id="holders">
    <Show doc={doc} q={q} what="looking for the ways from roots" cuts={false}>{(r) => {
      const list = r.rows ?? [], column = r.columns?.[1]?.name ?? "";
      const top: Way = { name: "", n: 0, address: "", under: new Map() };
      let none = 0;
      for (const x of list) {
        const path = str(x[column]);
        if (!path.includes(" -> ")) { none++; continue; }
        top.n++;
        let at = top;
        for (const s of steps(path)) {
          const w = at.under.get(s.name) ?? { name: s.name, n: 0, address: s.address, under: new Map() };
          at.under.set(s.name, w);
          w.n++;
          at = w;
        }
      }
      return <>
        <p class="dim">{list.length < all ? `Of ${count(list.length)} of the ${count(all)} objects` : `Of ${plural(list.length, "object")}`}: a shortest way to each, equal ones together. There may be other ways.</p>
        <ul class="ways">{ordered(top).map((w) => <WayView w={w} all={list.length} />)}</ul>
        {none > 0 && <p class="dim">To {count(none)} no way was found.</p>}
      </>;
    }}</Show>
  </Section>;
}

const ordered = (w: Way): Way[] => [...w.under.values()].sort((a, b) => b.n - a.n);

/** How many ways fork at most where they are all shown. */
const fewForks = 8;

function WayView({ w, all }: { w: Way; all: number }): JSX.Element {
  // A way that does not fork is one line after another.
  const line: Way[] = [w];
  for (let at = w; at.under.size === 1; line.push(at)) at = ordered(at)[0]!;
  const last = line[line.length - 1]!, forks = ordered(last);
  return <li><span class="own"><Share part={w.n} of={all}>{count(w.n)}</Share> <span class="dim">{percent(100 * w.n / Math.max(1, all))}</span></span>
    <div class="line">{line.map((x, i) => <div style={{ paddingLeft: `${Math.min(i, 12)}em` }}>{i > 0 && "↳ "}<Step name={x.name} />{x.n === 1 || i < line.length - 1 && x.address ? <> <Addr a={x.address} /></> : null}</div>)}
      {forks.length > 0 && <ul class="ways">{forks.slice(0, fewForks).map((f) => <WayView w={f} all={all} />)}</ul>}
      {forks.length > fewForks && <p class="dim">and {count(forks.length - fewForks)} more</p>}</div></li>;
}

/** The field and the type of a step: between them is the first space that stands in no list of type arguments. */
export function stepParts(name: string): [field: string, type: string] {
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    if (name[i] === "<") depth++;
    else if (name[i] === ">") depth--;
    else if (name[i] === " " && depth === 0) return [name.slice(0, i), name.slice(i + 1)];
  }
  return ["", name];
}

/** A step of a way: a field, and the type that it leads to. */
const Step = ({ name }: { name: string }): JSX.Element => {
  const [field, type] = stepParts(name);
  return field && field !== "static" ? <><code class="edge">{csharp(field)}</code> <TypeName name={type} /></> : <>{name.startsWith("static ") ? <>static <TypeName name={name.slice(7)} /></> : <TypeName name={name} />}</>;
};

function Instances({ name }: { name: string }): JSX.Element {
  const q = rows(`from objects of exactly "${name}" | select address, size, gen, retained | order by 4 desc | top ${listed}`, listed, true);
  const doc = useDoc<Rows>(q, true);
  return <Section title="Objects, those that retain most first" id="instances">
    <Show doc={doc} q={q} what="reading objects" cuts={false}>{(r) => <Table rows={r.rows ?? []} caption="objects" columns={[
      { head: "Object", cell: (x) => <Addr a={str(x["address"])} /> }, { head: "Size", cell: (x) => bytes(num(x["size"])), by: (x) => num(x["size"]), num: true },
      { head: "Retained", cell: (x) => bytes(num(x["retained"])), by: (x) => num(x["retained"]), num: true }, { head: "Generation", cell: (x) => generationName(str(x["gen"])), by: (x) => str(x["gen"]) }]} />}</Show>
    <p><a href={link("console", `from objects of exactly "${name}" | select address, size, gen, retained`)}>All of them, as a query</a></p>
  </Section>;
}

/** A field as people know it: the compiler's field of a property has the property's name. */
export const fieldName = (name: string): string => /^<(.+)>k__BackingField$/.exec(name)?.[1] ?? name;

/** How often a field has which value. all counts the objects of the type. */
function Histogram({ name, all }: { name: string; all: number }): JSX.Element | null {
  const [field, choose] = useParam("field");
  const one = useDoc<Rows>(rows(`from objects of exactly "${name}" | select address | top 1`, 1), true)?.result?.rows?.[0];
  const fields = (useDoc<Obj>(one ? question("object", str(one["address"])) : undefined, true)?.result?.fields ?? []).filter((f) => f.kind === "instance" && f.name && !f.name.includes("`"))
    // A field that hides one of a base type comes behind it: the name means the last.
    .filter((f, i, fs) => !fs.slice(i + 1).some((other) => other.name === f.name));
  const q = field ? rows(`from objects of exactly "${name}" | group by this.\`${field}\` | select count() | order by 1 desc | top ${listed}`, listed) : undefined;
  const doc = useDoc<Rows>(q, true);
  if (fields.length === 0) return null;
  return <Section title="Values of a field" id="values">
    <p><label>Field <select value={field} onChange={(e) => choose(e.currentTarget.value)}><option value="">…</option>{fields.map((f) => <option value={f.name ?? ""}>{fieldName(f.name ?? "")} ({shortType(f.type ?? "?")})</option>)}</select></label></p>
    {q && <Show doc={doc} q={q} what="counting values" cuts={false}>{(r) => {
      // The columns have the names of the query's expressions: they are read by position.
      const cell = (x: Record<string, Json>, i: number): Json | undefined => x[r.columns?.[i]?.name ?? ""];
      const text = (v: Json | undefined): string => (v === null ? "null" : typeof v === "object" ? JSON.stringify(v) : str(v));
      return <><Table rows={r.rows ?? []} caption="values" most={20} columns={[{ head: fieldName(field), cell: (x) => <Text s={text(cell(x, 1))} /> },
        { head: "Objects", cell: (x) => <Share part={num(cell(x, 0))} of={all}>{count(num(cell(x, 0)))}</Share>, by: (x) => num(cell(x, 0)), num: true }]} />
        {r.more && <p class="dim">Less frequent values are not listed.</p>}</>;
    }}</Show>}
  </Section>;
}
