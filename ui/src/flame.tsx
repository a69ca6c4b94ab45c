// Flame graphs: what is below a node is a part of it.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { along, fill, follow, label as write, paper, Reading, Tip, useWidth } from "./canvas";
import { icicle, matches, own, type Node, type Rect } from "./chart";
import { colour, isDark, printing, shade, theme, useParam } from "./state";
import { plural } from "./text";

const row = 20, mapHeight = 44;
/** Rows that are drawn at most; a zoom into deeper ones begins a little above them. */
const rows = 120, above = 6;
/** Rows on paper. */
const mostOnPaper = 20;
/** Columns of these widths have their words behind the last frame, where so much room is made for them. */
const thinnest = 15, wide = 44, foot = 130;

/** The part of the chart that is seen: from a to b of its width, and the row that it is about. */
interface Seen { a: number; b: number; depth: number }

const all: Seen = { a: 0, b: 1, depth: 0 };
const read = (text: string): Seen => {
  const [a = 0, b = 1, depth = 0] = text.split("_").map(Number);
  return a >= 0 && b <= 1 && b - a > 1e-7 && depth >= 0 ? { a, b, depth } : all;
};
const written = (s: Seen): string => (s.a <= 0 && s.b >= 1 && s.depth === 0 ? "" : `${+s.a.toFixed(7)}_${+s.b.toFixed(7)}_${s.depth}`);
/** A part of the same width, moved within the chart. */
const within = (a: number, w: number, depth: number): Seen => {
  const width = Math.min(1, Math.max(1e-6, w)), from = Math.min(1 - width, Math.max(0, a));
  return { a: from, b: from + width, depth };
};

interface Props {
  id: string; root: Node; label: string; unit: (n: number) => string;
  /** The root is at the bottom. */
  up?: boolean;
  /** What else is done with a node: a key, and what the key does. */
  choose?: { key: string; text: string; run: (n: Node) => void };
  whole?: number;
}

/** A flame graph, which hangs down, or stands up. It is searched, zoomed and moved by the mouse and by keys. */
export function Flame({ id, root, label, unit, up = false, choose, whole = root.value }: Props): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null), map = useRef<HTMLCanvasElement>(null), search = useRef<HTMLInputElement>(null);
  const [zoom, setZoom] = useParam(`zoom.${id}`, "", true);
  const [wanted, setWanted] = useParam(`find.${id}`);
  const seen = read(zoom);
  const set = (s: Seen): void => setZoom(written(s));
  const [at, setAt] = useState<{ rect: Rect; x: number; y: number }>();
  const width = useWidth(canvas);
  const mode = theme.value + shade.value;
  const rects = useMemo(() => icicle(root, 1, 1, 1e-7), [root]);
  const found = useMemo(() => matches(rects, wanted), [rects, wanted]);
  const first = seen.depth > rows / 2 ? seen.depth - above : 0;
  const shown = useMemo(() => {
    const scale = width / (seen.b - seen.a);
    const list: { r: Rect; x: number; y: number; w: number }[] = [];
    let deepest = 0;
    for (const r of rects) {
      const left = Math.max(0, (r.x - seen.a) * scale), right = Math.min(width, (r.x + r.w - seen.a) * scale);
      if (right - left < 0.4 || r.depth < first || r.depth >= first + (printing.value ? mostOnPaper : rows)) continue;
      deepest = Math.max(deepest, r.depth - first);
      list.push({ r, x: left, y: r.depth - first, w: right - left });
    }
    // A column too narrow for words has them behind its last frame: what it does, and in what.
    const parents = new Set(list.map((s) => s.r.parent));
    const narrow = list.filter((s) => s.w >= thinnest && s.w <= wide && !parents.has(s.r)).map((s) => {
      const names: string[] = [];
      for (let r: Rect | undefined = s.r; r && r.w * scale <= wide; r = r.parent) {
        const name = r.node.label ?? r.node.name;
        if (names[names.length - 1] !== name) names.push(name);
      }
      return { s, names: names.join(" ‹ ") };
    });
    const bottom = narrow.some((n) => (deepest - n.s.y) * row < foot) ? foot : 0;
    for (const s of list) s.y = (up ? deepest - s.y : s.y) * row + (up ? bottom : 0);
    return { list, narrow, height: (deepest + 1) * row + bottom };
  }, [rects, width, seen.a, seen.b, first, up]);
  const deepest = useMemo(() => rects.reduce((d, r) => Math.max(d, r.depth), 0), [rects]);
  const mapped = deepest > 2 && rects.length > 24;

  useLayoutEffect(() => {
    const g = width > 0 && canvas.current ? paper(canvas.current, width, shown.height) : null;
    if (!g) return;
    const dark = isDark(), ink = colour("--chartink"), raised = colour("--raised"), accent = colour("--accent"), mark = colour("--mark"), markInk = colour("--markink");
    for (const { r, x, y, w } of shown.list) {
      const hit = found.rects.has(r);
      g.globalAlpha = wanted && !hit ? 0.35 : 1;
      g.fillStyle = hit ? mark : r.depth === 0 ? raised : fill(r.node, dark);
      g.fillRect(x, y, Math.max(0.4, w - 1), row - 1);
      g.globalAlpha = wanted && !hit ? 0.7 : 1;
      if (w > wide) {
        g.fillStyle = hit ? markInk : ink;
        write(g, r.node.label ?? r.node.name, x + 4, y + row / 2, w - 8);
      }
      if (at?.rect === r) {
        g.globalAlpha = 1;
        g.strokeStyle = accent;
        g.lineWidth = 2;
        g.strokeRect(x + 1, y + 1, Math.max(0, w - 3), row - 3);
      }
    }
    g.globalAlpha = 1;
    g.fillStyle = colour("--ink");
    for (const { s, names } of shown.narrow) along(g, names, s.x + s.w / 2, up ? s.y - 5 : s.y + row + 4, up ? s.y - 8 : shown.height - s.y - row - 8, up);
  }, [shown, at?.rect, mode, found]);

  useLayoutEffect(() => {
    const g = mapped && width > 0 && map.current ? paper(map.current, width, mapHeight) : null;
    if (!g) return;
    const h = mapHeight / (deepest + 1), dark = isDark(), mark = colour("--mark");
    for (const r of rects) {
      if (r.w * width < 0.4) continue;
      g.fillStyle = found.rects.has(r) ? mark : fill(r.node, dark, dark ? 8 : 6);
      const y = up ? mapHeight - (r.depth + 1) * h : r.depth * h;
      g.fillRect(r.x * width, y, Math.max(0.4, r.w * width - 0.5), Math.max(0.6, h - 0.4));
    }
    g.fillStyle = dark ? "rgb(0 0 0 / .55)" : "rgb(255 255 255 / .7)";
    g.fillRect(0, 0, seen.a * width, mapHeight);
    g.fillRect(seen.b * width, 0, width, mapHeight);
    g.strokeStyle = colour("--accent");
    g.lineWidth = 2;
    g.strokeRect(seen.a * width + 1, 1, Math.max(1, (seen.b - seen.a) * width - 2), mapHeight - 2);
  }, [rects, width, seen.a, seen.b, mode, found, mapped]);

  // A new tree has other nodes: what was pointed at is gone.
  useEffect(() => setAt(undefined), [root]);

  const find = (e: MouseEvent): Rect | undefined => shown.list.find((s) => e.offsetX >= s.x && e.offsetX < s.x + s.w && e.offsetY >= s.y && e.offsetY < s.y + row)?.r;
  const closer = (r: Rect | undefined): void => {
    if (!r) return;
    const now = { a: r.x, b: r.x + r.w, depth: r.depth };
    // A second time it is what the node stands for.
    if (written(now) === zoom && (r.node.address || r.node.href)) follow(r.node);
    else set(now);
  };
  const back = (): void => {
    const r = rects.find((x) => x.depth === seen.depth && Math.abs(x.x - seen.a) < 1e-6 && Math.abs(x.x + x.w - seen.b) < 1e-6)?.parent;
    // Parents of the same width look the same: the next wider one is meant.
    let p = r;
    while (p?.parent && p.w - (seen.b - seen.a) < 1e-7) p = p.parent;
    set(p ? { a: p.x, b: p.x + p.w, depth: p.depth } : all);
  };
  const scaled = (factor: number, middle = (seen.a + seen.b) / 2): void => {
    const w = (seen.b - seen.a) * factor;
    set(w >= 1 ? all : within(middle - (middle - seen.a) * factor, w, seen.depth));
  };
  const point = (r: Rect | undefined): void => {
    if (!r) return;
    let s = shown.list.find((x) => x.r === r);
    if (!s) { set({ a: r.x, b: r.x + r.w, depth: r.depth }); s = { r, x: 0, y: 0, w: width }; }
    setAt({ rect: r, x: s.x + Math.min(s.w / 2, 60), y: s.y + row + 2 });
  };
  const nextMatch = (step: number): void => {
    const list = [...found.rects];
    const i = at ? list.indexOf(at.rect) : -1;
    const r = list[(i + step + list.length) % list.length];
    if (!r) return;
    set({ a: r.x, b: r.x + r.w, depth: r.depth });
    setAt({ rect: r, x: 40, y: ((r.depth > rows / 2 ? above : r.depth) + 1) * row + 2 });
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const here = at?.rect;
    const beside = (step: number): Rect | undefined => {
      if (!here) return rects[0];
      const list = rects.filter((r) => r.depth === here.depth);
      return list[list.indexOf(here) + step] ?? here;
    };
    const inward = up ? "ArrowUp" : "ArrowDown", outward = up ? "ArrowDown" : "ArrowUp";
    switch (e.key) {
      case inward: point(here ? rects.find((r) => r.parent === here) ?? here : rects[0]); break;
      case outward: point(here?.parent ?? here ?? rects[0]); break;
      case "ArrowRight": point(beside(1)); break;
      case "ArrowLeft": point(beside(-1)); break;
      case "Enter": case " ": closer(here); break;
      case "Escape": case "Backspace": if (wanted && zoom === "") setWanted(""); else back(); break;
      case "+": case "=": scaled(0.5, here ? here.x + here.w / 2 : undefined); break;
      case "-": scaled(2); break;
      case "0": set(all); break;
      case "n": nextMatch(1); break;
      case "N": nextMatch(-1); break;
      case "o": follow(here?.node); break;
      case "/": search.current?.focus(); break;
      default:
        if (!choose || e.key !== choose.key || !here) return;
        choose.run(here.node);
    }
    e.preventDefault();
    e.stopPropagation();
  };

  // Dragging moves the part that is seen; on the map it goes where the pointer is.
  const drag = useRef<{ x: number; seen: Seen; moved: boolean } | undefined>(undefined);
  const down = (e: MouseEvent): void => { drag.current = { x: e.clientX, seen, moved: false }; };
  const moved = (e: MouseEvent): void => {
    const d = drag.current;
    if (d && e.buttons === 1 && (d.moved || Math.abs(e.clientX - d.x) > 4)) {
      d.moved = true;
      const w = d.seen.b - d.seen.a;
      set(within(d.seen.a - ((e.clientX - d.x) / width) * w, w, d.seen.depth));
      setAt(undefined);
      return;
    }
    const r = find(e);
    setAt(r && { rect: r, x: e.offsetX, y: e.offsetY + 16 });
  };
  const onMap = (e: MouseEvent): void => {
    if (e.type !== "click" && e.buttons !== 1) return;
    const w = seen.b - seen.a;
    if (w < 1) set(within(e.offsetX / width - w / 2, w, seen.depth));
    else {
      const depth = Math.floor((up ? mapHeight - e.offsetY : e.offsetY) / (mapHeight / (deepest + 1)));
      closer(rects.find((r) => r.depth === depth && e.offsetX / width >= r.x && e.offsetX / width < r.x + r.w));
    }
  };
  const wheel = useRef<(e: WheelEvent) => void>(() => undefined);
  wheel.current = (e) => {
    const w = seen.b - seen.a;
    if (e.ctrlKey || e.metaKey) scaled(Math.exp(e.deltaY / 300), seen.a + (e.offsetX / width) * w);
    else if (w < 1 && Math.abs(e.deltaX) + (e.shiftKey ? Math.abs(e.deltaY) : 0) > 0) set(within(seen.a + ((e.deltaX || e.deltaY) / width) * w, w, seen.depth));
    else return;
    e.preventDefault();
  };
  useEffect(() => {
    const c = canvas.current;
    const f = (e: WheelEvent): void => wheel.current(e);
    c?.addEventListener("wheel", f, { passive: false });
    return () => c?.removeEventListener("wheel", f);
  }, []);

  const help = `Click or Enter looks closer, Escape goes back, arrow keys go from node to node, + and − zoom as the wheel with Ctrl does, 0 shows all, dragging moves, n and N go to matches${choose ? `, ${choose.key}: ${choose.text}` : ""}, o opens what a node stands for`;
  return (
    <figure class="chart flame" data-chart={id}>
      <div class="tools">
        <label><span class="hidden">Search {label}</span><input ref={search} type="search" placeholder="Search the chart" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)}
          onKeyDown={(e) => { if (e.key === "Enter") { e.preventDefault(); nextMatch(e.shiftKey ? -1 : 1); } }} /></label>
        {wanted && <span class="dim" role="status" data-fact="found">{plural(found.rects.size, "frame")}{found.rects.size > 0 ? `, ${unit(found.covered)}${whole > 0 ? ` (${((100 * found.covered) / whole).toFixed(1)}%)` : ""}` : ""}</span>}
        <span class="buttons"><button type="button" aria-label="Zoom in" onClick={() => scaled(0.5)}>+</button><button type="button" aria-label="Zoom out" disabled={zoom === ""} onClick={() => scaled(2)}>−</button>
          <button type="button" disabled={zoom === ""} onClick={() => set(all)}>Show all</button></span>
      </div>
      {mapped && <canvas ref={map} class="minimap" aria-hidden="true" onClick={onMap} onMouseMove={onMap} />}
      <div class="canvas"><canvas ref={canvas} tabIndex={0} role="application" aria-label={`${label}. ${help}.`} title=""
        onMouseDown={down} onMouseMove={moved} onMouseLeave={() => { setAt(undefined); drag.current = undefined; }} onClick={(e) => { const was = drag.current; drag.current = undefined; if (!was?.moved) closer(find(e)); }}
        onDblClick={(e) => { const r = find(e); if (r && choose) choose.run(r.node); }} onKeyDown={keys} onBlur={() => setAt(undefined)} />
        {at && <Tip x={at.x} y={at.y} width={width}><Reading node={at.rect.node} whole={whole} unit={unit} alone={own(at.rect.node)} /></Tip>}</div>
      {printing.value && deepest >= mostOnPaper && <p class="dim small">{plural(deepest + 1 - mostOnPaper, "row")} below {deepest + 1 - mostOnPaper === 1 ? "is" : "are"} not on paper.</p>}
      {first > 0 && <p class="dim small">The first {first} rows are not shown.</p>}
      <details class="help"><summary>Keys and mouse</summary><p class="dim small">{help}.{choose ? ` A double click does the same as ${choose.key}.` : ""}</p></details>
    </figure>
  );
}
