import type { JSX } from "preact";
import { isReport, question, type Question } from "../api";
import type { Field, GcrootResult as GCRoot, GcwhereResult as Where, CollectionItem as Item, Json, Member, Link as Neighbour, ReferrersResult as Neighbours, DumpobjResult as Obj, RetainedResult as Retained, RootPath, QueryResult as Rows, WaitsResult as Waits } from "../docs";
import { Addr, Copy, Facts, Method, NeedsServer, Notes, PathView, Place, RootName, Said, Section, Share, Show, Table, Text, ThreadLink, TypeName, Verdicts } from "../parts";
import { link, route, useDoc } from "../state";
import { bytes, count, percent, plural } from "../text";

/** What is at an address: an object with what it refers to, what refers to it, what holds it and what it holds. */
export function ObjectPage(): JSX.Element {
  const a = route.value.arg;
  return <One key={a} a={a} />;
}

function One({ a }: { a: string }): JSX.Element {
  const doc = useDoc<Obj>(question("object", a), true);
  const where = useDoc<Where>(doc?.result ? question("where", a) : undefined, true)?.result;
  const other = doc?.error && isOf(doc.error.text);
  if (other && !isReport) return <Other a={a} text={doc?.error?.text ?? ""} />;
  return <>
    <Show doc={doc} q={question("object", a)} what="reading the object">{(o) => <>
      <h2 class="object">{o.type ? <TypeName name={o.type} /> : "An object whose type has no name here"}</h2><p class="dim">{o.address && <>Copy <Copy what="the address" text={o.address} /> address{o.type ? <> <Copy what="the type" text={o.type} /> type</> : null}{o.string !== undefined ? <> <Copy what="the text" text={o.string} /> text</> : null}</>}</p>
      <Facts list={[["address", o.address && <code>{o.address}</code>], ["size", o.size !== undefined ? `${count(o.size)} bytes` : undefined], ["length", o.length !== undefined ? count(o.length) : undefined],
        ["MethodTable", <Addr a={o.methodTable} />], ["module", o.file], ["value", o.boxed], ["generation", where?.found ? where.generation : undefined], ["segment", where?.segment]]} />
      {o.string !== undefined && <pre class="string">{o.string}</pre>}
      <WaitsOn a={a} />
      {o.collection && <Collection o={o} />}
      {(o.fields ?? []).length > 0 && <Section title="Fields"><FieldTable list={o.fields ?? []} /></Section>}
    </>}</Show>
    {doc?.error && doc.error.kind !== "page" && <Other a={a} text={doc.error.text} />}
    {doc?.result && <><Keeps a={a} /><Path a={a} /><Referrers a={a} /></>}
    {!isReport && doc?.result && <p class="dim">More in the <a href={link("terminal", `referents ${a}`)}>terminal</a>: referents, dominators, items, gcwhere, listnearobj.</p>}
  </>;
}

/** Who waits for the object, if anybody does, and who holds it. */
function WaitsOn({ a }: { a: string }): JSX.Element | null {
  const w = useDoc<Waits>(question("waits"))?.result;
  const operations = (w?.operations ?? []).filter((o) => o.object === a), threads = (w?.threads ?? []).filter((t) => t.object === a);
  if (operations.length + threads.length === 0) return null;
  const owner = threads.find((t) => t.owner)?.owner;
  return <Section title="Who waits for it" id="waiters">
    {operations[0]?.state && <p class="lead">{operations[0].state}{owner ? <>, held by <ThreadLink t={owner} /></> : null}</p>}
    {!operations[0]?.state && owner && <p class="lead">Held by <ThreadLink t={owner} /></p>}
    <ul class="found">{operations.map((o) => <li><b>{count(o.count)} ×</b> {o.request ? <b>{o.request} </b> : null}<Method name={o.method} brief /> <Place file={o.file} line={o.line} /> <Addr a={o.first?.[0]} /></li>)}
      {threads.map((t) => <li><ThreadLink t={t.thread} /> in <Method name={t.method} brief /> <Place file={t.file} line={t.line} /></li>)}</ul>
  </Section>;
}

/** Roots that are certain come before words on a stack that may be none. */
const certain = (p: RootPath): number => Number(/unverified/.test(p.root?.kind ?? ""));

function Collection({ o }: { o: Obj }): JSX.Element {
  const c = o.collection;
  const all = useDoc<{ items?: Item[] }>(isReport || !o.address || (c?.count ?? 0) <= (c?.first ?? []).length ? undefined : { words: ["items", o.address], count: 200 }, true);
  const items = all?.result?.items ?? c?.first ?? [];
  return (
    <Section title={`Elements${c?.count !== undefined ? `: ${count(c.count)}` : ""}`}>
      {c?.text !== undefined && <pre class="string">{c.text}</pre>}
      {items.length > 0 && <Table rows={items} caption="elements" columns={[
        { head: "#", cell: (i) => i.index, by: (i) => i.index, num: true },
        ...(items.some((i) => i.key) ? [{ head: "Key", cell: (i: Item) => i.key && <Value value={i.key.value} text={i.key.text} missing={i.key.missing} /> }] : []),
        { head: "Value", cell: (i) => i.value && <Value value={i.value.value} text={i.value.text} missing={i.value.missing} /> },
      ]} />}
      {all && <Notes doc={all} />}
    </Section>
  );
}

function Value({ value, text, missing }: { value: Json | undefined; text: Json | undefined; missing: string | undefined }): JSX.Element {
  if (missing) return <span class="dim">&lt;{missing}&gt;</span>;
  if (value === null) return <span class="dim">null</span>;
  const isAddress = typeof value === "string" && /^0x[0-9a-f]+$/.test(value);
  return <>{isAddress && value !== "0x0" ? <Addr a={value} /> : value !== undefined ? <code>{typeof value === "object" ? JSON.stringify(value) : String(value)}</code> : null}{text !== undefined ? <> <Text s={String(text)} /></> : null}</>;
}

function FieldTable({ list }: { list: Field[] }): JSX.Element {
  return (
    <Table<Field> rows={list} caption="fields" most={100} text={(f) => `${f.name} ${f.type} ${f.text}`} columns={[
      { head: "Field", cell: (f) => <>{f.kind !== "instance" && <span class="tag">{f.kind}</span>} {f.name ? <code>{f.name}</code> : <span class="dim">(no name)</span>}</>, by: (f) => f.name },
      { head: "Value", cell: (f) => f.struct !== undefined && f.value === undefined ? <>{f.text !== undefined && <Text s={String(f.text)} />}<StructValue s={f.struct} /></> : <Value value={f.value} text={f.text} missing={f.missing} /> },
      { head: "Type", cell: (f) => <TypeName name={f.type} />, by: (f) => f.type },
    ]} />
  );
}

function StructValue({ s }: { s: Member[] }): JSX.Element {
  return <details><summary>{plural(s.length, "field")}</summary><Facts list={s.map((m) => [m.name ?? "(no name)",
    m.struct !== undefined && m.value === undefined ? <>{m.text !== undefined && <Text s={String(m.text)} />}<StructValue s={m.struct ?? []} /></> : <Value value={m.value} text={m.text} missing={m.missing} />])} /></details>;
}

function Keeps({ a }: { a: string }): JSX.Element {
  const doc = useDoc<Retained>(question("keeps", a), true);
  return (
    <Section title="Retained: freed with it">
      <Show doc={doc} q={question("keeps", a)} what="building the graph of objects">{(r) => <>{(r.objects ?? []).map((o) => <>
        <p class="lead">{o.live ? <><b data-fact="retained">{bytes(o.retained)}</b> in {count(o.count)} objects, {percent(o.share)} of live memory.</> : <>{o.dead && <Said s={o.dead} />}; {bytes(o.retained)} retained.</>}</p>
        {(o.types ?? []).length > 0 && <Table rows={o.types ?? []} caption="retained types" columns={[{ head: "Type", cell: (t) => <TypeName name={t.type} /> }, { head: "Objects", cell: (t) => count(t.count), num: true, by: (t) => t.count },
          { head: "Bytes", cell: (t) => <Share part={t.size} of={o.retained}>{bytes(t.size)}</Share>, num: true, by: (t) => t.size }]} />}
      </>)}</>}</Show>
    </Section>
  );
}

function Path({ a }: { a: string }): JSX.Element {
  const keeps = useDoc<Retained>(question("keeps", a), true);
  const doc = useDoc<GCRoot>(question("path", a), true);
  return (
    <Section title="What holds it">
      <Show doc={doc} q={question("path", a)} what="looking for paths from roots" above={keeps}>{(g) => <>
        {g.conclusion && <Verdicts list={[g.conclusion]} />}
        {(g.paths ?? []).toSorted((x, y) => certain(x) - certain(y)).map((p) => <PathView path={p} />)}
      </>}</Show>
    </Section>
  );
}

function Referrers({ a }: { a: string }): JSX.Element {
  const keeps = useDoc<Retained>(question("keeps", a), true);
  const doc = useDoc<Neighbours>(question("referrers", a), true);
  return (
    <Section title="What refers to it">
      <Show doc={doc} q={question("referrers", a)} what="looking for what refers to it" above={keeps}>{(n) => <>
        <Table<Neighbour> rows={n.list ?? []} caption="referrers" columns={[
          { head: "Referrer", cell: (r) => r.object ? <><TypeName name={r.object.type} /> <Addr a={r.object.address} /></> : <RootName r={r.root} /> },
          { head: "By", cell: (r) => r.edge?.name && <code>{r.edge.name}</code> }, { head: "Times", cell: (r) => count(r.count), num: true, by: (r) => r.count },
          { head: "", cell: (r) => (r.strength && r.strength !== "strong") || r.live === false ? <>{r.strength && r.strength !== "strong" ? <span class="tag">{r.strength}</span> : null}{r.live === false ? <span class="tag">dead</span> : null}</> : null },
        ]} />
        {n.more ? <p class="dim">{count(n.more)} more.</p> : null}
      </>}</Show>
    </Section>
  );
}

/** The command that shows what is at an address, where that is known and is no object. */
const isOf = (text: string): string | undefined => /use (dumpmt|dumpmd|dumpclass|dumpmodule|dumpassembly|dumpdomain|ip2md)\b/.exec(text)?.[1];

/** What is at an address where no object is: a type, a method, memory. */
function Other({ a, text }: { a: string; text: string }): JSX.Element {
  const command = isOf(text);
  if (isReport) return <NeedsServer what="What else is at this address" />;
  return <>{command ? <Lines words={[command, a]} title={command} /> : <Lines words={["ip2md", a]} title="ip2md" />}<Lines words={["dq", a]} title="Memory" /></>;
}

function Lines({ words, title }: { words: string[]; title: string }): JSX.Element {
  const q: Question = { words, count: 100 };
  const doc = useDoc<Json>(q, true);
  return <Section title={title}><Show doc={doc} q={q} what={title}>{(v) => <Tree v={v} />}</Show></Section>;
}

/** Fields whose numbers look like addresses. */
const noAddress = /token|attributes|flags|offset|rva|hash|size|version/i;

/** Any value of a document as nested names and values, with links. */
export function Tree({ v }: { v: Json | Rows }): JSX.Element {
  if (v === null || typeof v !== "object") return typeof v === "string" ? <Text s={v} /> : <code>{String(v)}</code>;
  if (Array.isArray(v)) return <ol class="tree">{v.slice(0, 200).map((x) => <li><Tree v={x} /></li>)}</ol>;
  return <dl class="tree">{Object.entries(v).map(([k, x]) => <div><dt>{k}</dt><dd>{typeof x === "string" && noAddress.test(k) ? <code>{x}</code> : <Tree v={x as Json} />}</dd></div>)}</dl>;
}
