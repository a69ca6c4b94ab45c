// Questions of one's own: queries, and the prompt's commands.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { complete, isReport, runLine, type Question } from "../api";
import type { Json, QueryResult as Rows } from "../docs";
import { Copy, NeedsServer, Section, Show, Table, Text } from "../parts";
import { go, link, route, useDoc, useParam } from "../state";
import { count } from "../text";

const examples: [what: string, query: string][] = [
  ["Types by the bytes of their objects", "from objects | group by type | select count(), sum(size) | order by 2 desc | top 20"],
  ["Exceptions with their messages", "from exceptions | select address, type, _message"],
  ["Methods that threads wait in", "from frames | where method matches /Wait/ | group by method | select count() | order by 1 desc"],
  ["Tasks by state and by what they await", "from tasks | group by status, method, awaits | select count() | order by 1 desc"],
  ["The longest texts", "from strings | where length > 1000 | select address, length, text | order by length desc | top 20"],
];

export function ConsolePage(): JSX.Element {
  const asked = route.value.arg;
  const [fromText, setFrom] = useParam("from", "0");
  const from = Math.max(0, parseInt(fromText) || 0);
  // One row more than is shown says whether there are more.
  const q: Question | undefined = asked && !isReport ? { words: ["query", "-rows", String(from + page + 1), asked], from, count: page, list: "rows" } : undefined;
  const doc = useDoc<Rows>(q, true);
  if (isReport) return <Section title="Query"><NeedsServer what="A query" /></Section>;
  return (
    <Section title="Ask objects, threads, frames, tasks">
      <form class="query" onSubmit={(e) => { e.preventDefault(); const v = new FormData(e.currentTarget).get("q"); if (typeof v === "string") go("console", v.trim()); }}>
        <label for="q">A question, in steps or in SQL</label>
        <textarea id="q" name="q" rows={3} spellcheck={false} key={asked} defaultValue={asked}
          onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); e.currentTarget.form?.requestSubmit(); } }} />
        <p><button type="submit">Ask</button> <span class="dim">or Ctrl+Enter. <a href={link("terminal", "help query")}>How questions are asked</a></span></p>
      </form>
      {!asked && <ul class="examples">{examples.map(([what, x]) => <li>{what}: <a href={link("console", x)}><code>{x}</code></a></li>)}</ul>}
      {q && <Show doc={doc} q={q} what="asking" cuts={false}>{(r) => <>
        <p>{from === 0 && (r.count ?? 0) <= page ? <><b data-fact="rows">{count(r.count ?? (r.rows ?? []).length)}</b> rows</> : <>Rows <b data-fact="rows">{count(from + 1)} to {count(from + (r.rows ?? []).length)}</b></>}
          {(r.count ?? 0) > from + page ? ", and there are more" : ""}. {from > 0 && <button type="button" onClick={() => setFrom(String(Math.max(0, from - page)))}>Previous rows</button>} {(r.count ?? 0) > from + page && <button type="button" onClick={() => setFrom(String(from + page))}>Next rows</button>}</p>
        <Table rows={r.rows ?? []} caption="rows" text={(row) => Object.values(row).join(" ")} columns={(r.columns ?? []).map((c) => ({
          head: c.name, cell: (row: { [column: string]: Json }) => <Text s={plain(row[c.name])} />, by: (row: { [column: string]: Json }) => { const v = row[c.name]; return typeof v === "number" ? v : plain(v); },
          num: (r.rows ?? []).some((row) => typeof row[c.name] === "number") }))} />
      </>}</Show>}
    </Section>
  );
}

/** Rows of one page of an answer. */
const page = 500;

const plain = (v: Json | undefined): string => (v === null ? "null" : v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));

const history = signal<{ line: string; text: string }[]>([]);
/** Longer outputs are drawn as far as they are seen, in a window of their own. */
const mostDrawn = 400, lineHeight = 19, windowHeight = 30 * lineHeight;

/** The output of a command. Of a long one the lines in view are drawn, its end first: the largest are last in SOS's tables. */
function Output({ text }: { text: string }): JSX.Element {
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => { if (box.current) box.current.scrollTop = box.current.scrollHeight; }, [text]);
  if (lines.length <= mostDrawn) return <pre><Text s={text} /></pre>;
  const from = Math.max(0, Math.floor(top / lineHeight) - 10), to = Math.min(lines.length, from + windowHeight / lineHeight + 20);
  return <><p class="dim">{count(lines.length)} lines <Copy what="the output" text={text} /></p>
    <div class="window" ref={box} tabIndex={0} role="region" aria-label="output" style={{ height: `${windowHeight}px` }} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div style={{ height: `${lines.length * lineHeight}px` }}><pre style={{ transform: `translateY(${from * lineHeight}px)`, lineHeight: `${lineHeight}px` }}>{lines.slice(from, to).join("\n")}</pre></div></div></>;
}

export function TerminalPage(): JSX.Element {
  const [busy, setBusy] = useState<AbortController>();
  const [back, setBack] = useState(0);
  const [offers, setOffers] = useState<string[]>([]);
  const tab = async (i: HTMLInputElement): Promise<void> => {
    const at = i.selectionStart ?? i.value.length, before = i.value.slice(0, at), after = i.value.slice(at);
    const { found, length } = await complete(before).catch(() => ({ found: [], length: 0 }));
    let common = found[0] ?? "";
    for (const f of found) while (!f.toLowerCase().startsWith(common.toLowerCase())) common = common.slice(0, -1);
    if (i.value !== before + after) return; // typed on meanwhile
    if (common.length >= length && found.length > 0) {
      const kept = [...before].slice(0, [...before].length - length).join("") + common;
      i.value = kept + after;
      i.setSelectionRange(kept.length, kept.length);
    }
    setOffers(found.length > 1 ? found.map((f) => f.trim()) : []);
  };
  const input = useRef<HTMLInputElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const run = async (line: string): Promise<void> => {
    const stop = new AbortController();
    setBusy(stop);
    setBack(0);
    let text = "";
    try { text = await runLine(line, stop.signal); } catch { text = stop.signal.aborted ? "stopped\n" : "the server does not answer\n"; }
    history.value = [...history.value, { line, text }];
    setBusy(undefined);
  };
  useEffect(() => { if (!isReport && route.value.arg && history.value[history.value.length - 1]?.line !== route.value.arg) void run(route.value.arg); }, [route.value.arg]);
  useEffect(() => { end.current?.scrollIntoView({ block: "end" }); input.current?.focus({ preventScroll: true }); }, [history.value.length, busy]);
  if (isReport) return <Section title="Terminal"><NeedsServer what="A command" /></Section>;
  return (
    <Section title="Commands of the prompt">
      <p class="dim">The commands of the prompt, without those that write files. <code>help</code> lists them; <code>| grep</code>, <code>| head</code>, <code>$_</code> work, Tab completes, the arrow keys bring lines back, Escape stops a command.</p>
      <div class="terminal">
        {history.value.map((h) => <><div class="line"><span aria-hidden="true">&gt; </span>{h.line}</div><Output text={h.text} /></>)}
        <form onSubmit={(e) => { e.preventDefault(); const i = input.current; if (i && i.value.trim() && !busy) { const line = i.value.trim(); i.value = ""; void run(line); } }}>
          <label><span aria-hidden="true">&gt; </span><span class="hidden">Command</span><input ref={input} name="line" autocomplete="off" spellcheck={false} readOnly={!!busy} onKeyDown={(e) => {
            if (e.key === "Escape") { busy?.abort(); setOffers([]); }
            // Where nothing is typed, Tab goes on to what follows.
            if (e.key === "Tab" && !e.shiftKey && e.currentTarget.value.trim()) { e.preventDefault(); void tab(e.currentTarget); return; }
            if (e.key.length === 1 && offers.length) setOffers([]);
            if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
            e.preventDefault();
            const n = Math.max(0, Math.min(history.value.length, back + (e.key === "ArrowUp" ? 1 : -1)));
            setBack(n);
            e.currentTarget.value = n ? history.value[history.value.length - n]?.line ?? "" : "";
          }} /></label>{busy && <><span class="spin" /> <button type="button" onClick={() => busy.abort()}>Stop</button></>}
        </form>{offers.length > 0 && <p class="offers" role="status">{offers.slice(0, 100).map((o) => <code>{o}</code>)}{offers.length > 100 ? ` … ${count(offers.length - 100)} more` : ""}</p>}<div ref={end} />
      </div>
    </Section>
  );
}
