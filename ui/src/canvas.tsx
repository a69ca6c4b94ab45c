// Charts on a canvas, for the mouse and for the keyboard.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { icicle, treemap, type Node, type Rect } from "./chart";
import { colour, go, isDark, theme } from "./state";
import { hue } from "./text";

interface Props { root: Node; label: string; unit: (n: number) => string; kind: "icicle" | "treemap" }

const row = 22, head = 20;

function depthOf(n: Node, most: number): number {
  return most === 0 ? 1 : 1 + Math.max(0, ...(n.children ?? []).map((c) => depthOf(c, most - 1)));
}

function contains(root: Node, n: Node): boolean {
  return root === n || (root.children ?? []).some((c) => contains(c, n));
}

/** A flame graph that hangs down, or a treemap. A click looks closer; arrows go from node to node, Enter looks closer, Escape goes back, and o opens an
 * object. */
export function Chart({ root, label, unit, kind }: Props): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [zoom, setZoom] = useState<Node[]>([root]);
  const [at, setAt] = useState<Rect>();
  const [width, setWidth] = useState(0);
  const rects = useRef<Rect[]>([]);
  const top = zoom[zoom.length - 1] ?? root;
  useEffect(() => { setZoom([root]); setAt(undefined); }, [root]);
  useEffect(() => {
    const c = canvas.current?.parentElement;
    if (!c) return;
    const watch = new ResizeObserver(() => setWidth(c.clientWidth));
    watch.observe(c);
    setWidth(c.clientWidth);
    return () => watch.disconnect();
  }, []);
  const height = kind === "icicle" ? Math.min(60, depthOf(top, 60)) * row : Math.min(520, Math.max(260, width * 0.55));
  const mode = theme.value;
  useEffect(() => {
    const c = canvas.current;
    if (!c || width === 0) return;
    const scale = devicePixelRatio || 1;
    c.width = Math.round(width * scale);
    c.height = Math.round(height * scale);
    c.style.height = `${height}px`;
    const g = c.getContext("2d");
    if (!g) return;
    g.scale(scale, scale);
    rects.current = kind === "icicle" ? icicle(top, width, row) : treemap(top, width, height, head, 3);
    draw(g, rects.current, at, kind);
  }, [top, width, height, at, mode, kind]);

  const find = (e: MouseEvent): Rect | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return;
    const x = e.clientX - box.left, y = e.clientY - box.top;
    return rects.current.findLast((r) => x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h);
  };
  const closer = (r: Rect | undefined): void => {
    if (!r) return;
    if (r.node === top) back();
    else if (r.node.children?.length) { setZoom([...zoom, r.node]); setAt(undefined); }
    else if (r.node.address) go("object", r.node.address);
  };
  const back = (): void => { if (zoom.length > 1) { setZoom(zoom.slice(0, -1)); setAt(undefined); } };
  const move = (e: KeyboardEvent): void => {
    const list = rects.current;
    const here = at && list.find((r) => r.node === at.node);
    const siblings = here ? list.filter((r) => r.parent === here.parent) : [];
    const i = here ? siblings.indexOf(here) : -1;
    let next: Rect | undefined;
    switch (e.key) {
      case "ArrowDown": next = here ? list.find((r) => r.parent === here) : list[0]; break;
      case "ArrowUp": next = here?.parent; break;
      case "ArrowRight": next = siblings[i + 1]; break;
      case "ArrowLeft": next = siblings[i - 1]; break;
      case "Enter": case " ": closer(here); e.preventDefault(); return;
      case "Escape": case "Backspace": back(); return;
      case "o": if (here?.node.address) go("object", here.node.address); return;
      default: return;
    }
    e.preventDefault();
    if (next ?? !here) setAt(next ?? list[0]);
  };
  const shown = at?.node ?? top;
  const part = root.value > 0 && contains(root, shown) ? ` (${((100 * shown.value) / root.value).toFixed(1)} %)` : "";
  return (
    <figure class="chart">
      <nav class="crumbs" aria-label="where the chart stands">{zoom.map((n, i) => (i === zoom.length - 1 ? <b>{n.name}</b> : <><button type="button" onClick={() => setZoom(zoom.slice(0, i + 1))}>{n.name}</button> › </>))}</nav>
      <canvas ref={canvas} tabIndex={0} role="application" aria-label={`${label}. Arrow keys go from node to node, Enter looks closer, Escape goes back.`}
        onMouseMove={(e) => setAt(find(e))} onMouseLeave={() => setAt(undefined)} onClick={(e) => closer(find(e))} onKeyDown={move} />
      <figcaption aria-live="polite"><b>{shown.name}</b> {unit(shown.value)}{part}{shown.note ? ` · ${shown.note}` : ""}{shown.address ? <> · <a class="addr" href={`#/object/${shown.address}`}>{shown.address}</a></> : null}</figcaption>
    </figure>
  );
}

function draw(g: CanvasRenderingContext2D, rects: Rect[], at: Rect | undefined, kind: Props["kind"]): void {
  const dark = isDark(), line = colour("--back"), text = dark ? "#f2f4f8" : "#14171c";
  g.font = `12px ${colour("--sans")}`;
  g.textBaseline = "middle";
  for (const r of rects) {
    if (r.w < 0.5 || r.h < 0.5) continue;
    const h = hue(r.node.group ?? r.node.name);
    const deep = kind === "treemap" ? r.depth * 3 : 0;
    g.fillStyle = r.depth === 0 ? colour("--raised") : dark ? `hsl(${h} 38% ${26 + deep}%)` : `hsl(${h} 62% ${86 - deep * 1.5}%)`;
    g.fillRect(r.x, r.y, Math.max(0.5, r.w - 1), r.h - 1);
    if (at?.node === r.node) {
      g.strokeStyle = colour("--accent");
      g.lineWidth = 2;
      g.strokeRect(r.x + 1, r.y + 1, Math.max(0, r.w - 3), r.h - 3);
    } else if (kind === "treemap") {
      g.strokeStyle = line;
      g.lineWidth = 1;
      g.strokeRect(r.x + 0.5, r.y + 0.5, Math.max(0, r.w - 1), Math.max(0, r.h - 1));
    }
    if (r.w > 26 && r.h > 13) {
      g.fillStyle = text;
      g.save();
      g.beginPath();
      g.rect(r.x, r.y, r.w - 4, r.h);
      g.clip();
      g.fillText(fitted(g, r.node.label ?? r.node.name, r.w - 10), r.x + 5, r.y + (kind === "icicle" ? r.h : Math.min(r.h, head)) / 2);
      g.restore();
    }
  }
}

/** The end of a name says most: what does not fit is left out in front. */
function fitted(g: CanvasRenderingContext2D, name: string, width: number): string {
  const open = name.indexOf("(");
  let s = open > 0 ? name.slice(0, open) : name;
  if (g.measureText(s).width <= width) return s;
  const keep = Math.max(1, Math.floor((s.length * width) / g.measureText(s).width) - 1);
  return "…" + s.slice(-keep).replace(/^\.+/, "");
}
