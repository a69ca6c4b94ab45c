// What charts on a canvas share, and the treemap.
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { treemap, type Node, type Rect } from "./chart";
import { colour, go, isDark, printing, shade, theme, useParam } from "./state";
import { fitted, hue } from "./text";

const head = 20;

/** The width that a chart has. It is known before it is drawn the first time, also on paper. */
export function useWidth(canvas: RefObject<HTMLCanvasElement | null>): number {
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const c = canvas.current?.parentElement;
    if (!c) return;
    const watch = new ResizeObserver(() => set(c.clientWidth));
    watch.observe(c);
    set(c.clientWidth);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Sets the size of a canvas and returns what draws on it. */
export function paper(c: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const scale = devicePixelRatio || 1;
  c.width = Math.round(width * scale);
  c.height = Math.round(height * scale);
  c.style.height = `${height}px`;
  const g = c.getContext("2d");
  if (!g) return null;
  g.scale(scale, scale);
  g.font = `12px ${colour("--sans")}`;
  g.textBaseline = "middle";
  return g;
}

/** The colour of a node: nodes of one group have one. */
export function fill(n: Node, dark: boolean, deep = 0): string {
  const h = hue(n.group ?? n.name);
  return dark ? `hsl(${h} 38% ${26 + deep}%)` : `hsl(${h} 62% ${86 - deep * 1.5}%)`;
}

/** Writes the part of a name that fits. */
export function label(g: CanvasRenderingContext2D, name: string, x: number, y: number, width: number): void {
  const s = fitted(name, width, (t) => g.measureText(t).width);
  if (s) g.fillText(s, x, y);
}

/** Writes names along a narrow column, upwards from its foot, or downwards from its head. */
export function along(g: CanvasRenderingContext2D, names: string, x: number, y: number, room: number, up: boolean): void {
  const width = (t: string): number => g.measureText(t).width;
  let s = names;
  if (width(s) > room) {
    let n = s.length;
    while (n > 2 && width(s.slice(0, n) + "…") > room) n--;
    s = n > 2 ? s.slice(0, n) + "…" : "";
  }
  g.save();
  g.translate(x, y);
  g.rotate(up ? -Math.PI / 2 : Math.PI / 2);
  g.fillText(s, 0, 0);
  g.restore();
}

/** What stands at the pointer, or beside the node that the keyboard is at. */
export function Tip({ x, y, width, children }: { x: number; y: number; width: number; children: ComponentChildren }): JSX.Element {
  const right = x > width / 2;
  return <div class="tip" role="status" style={{ top: `${y}px`, left: right ? "auto" : `${x}px`, right: right ? `${Math.max(0, width - x)}px` : "auto", maxWidth: `${Math.max(180, right ? x : width - x)}px` }}>{children}</div>;
}

/** What a node takes of the whole. */
export function Reading({ node, whole, unit, alone }: { node: Node; whole: number; unit: (n: number) => string; alone?: number | undefined }): JSX.Element {
  return <><b>{node.name}</b><br />{unit(node.value)}{whole > 0 ? ` (${((100 * node.value) / whole).toFixed(1)}%)` : ""}{alone !== undefined && alone !== node.value ? `, ${unit(alone)} of it alone` : ""}
    {node.note ? <><br />{node.note}</> : null}{node.address ? <><br />{node.address}</> : null}</>;
}

/** Goes to what a node stands for. */
export function follow(n: Node | undefined): void {
  if (n?.href) location.hash = n.href;
  else if (n?.address) go("object", n.address);
}

/** A treemap. A click looks closer; arrows go from node to node, Enter looks closer, Escape goes back, and o opens what a node stands for. */
export function Treemap({ id, root, label: title, unit }: { id: string; root: Node; label: string; unit: (n: number) => string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<{ node: Node; x: number; y: number }>();
  const [path, setPath] = useParam(`zoom.${id}`, "", true);
  const zoom = useMemo(() => path.split(".").filter(Boolean).reduce<Node[]>((list, i) => {
    const next = list[list.length - 1]?.children?.[Number(i)];
    return next ? [...list, next] : list;
  }, [root]), [root, path]);
  const top = zoom[zoom.length - 1] ?? root;
  const width = useWidth(canvas);
  const height = printing.value ? 220 : Math.min(520, Math.max(260, width * 0.55));
  const mode = theme.value + shade.value;
  const rects = useMemo(() => treemap(top, width, height, head, 3), [top, width, height]);
  useLayoutEffect(() => {
    const g = width > 0 && canvas.current ? paper(canvas.current, width, height) : null;
    if (g) draw(g, rects, at?.node);
  }, [rects, at?.node, mode]);
  useEffect(() => setAt(undefined), [path]);

  const find = (e: MouseEvent): Rect | undefined => rects.findLast((r) => e.offsetX >= r.x && e.offsetX < r.x + r.w && e.offsetY >= r.y && e.offsetY < r.y + r.h);
  const zoomTo = (list: Node[]): void => setPath(list.slice(1).map((n, i) => list[i]?.children?.indexOf(n)).join("."));
  const back = (): void => { if (zoom.length > 1) zoomTo(zoom.slice(0, -1)); };
  const closer = (r: Rect | undefined): void => {
    if (!r) return;
    if (r.node === top) return back();
    const way: Node[] = [];
    for (let p: Rect | undefined = r; p && p.node !== top; p = p.parent) way.unshift(p.node);
    if (r.node.children?.length) zoomTo([...zoom, ...way]);
    else follow(r.node);
  };
  const move = (e: KeyboardEvent): void => {
    const here = rects.find((r) => r.node === at?.node);
    const siblings = here ? rects.filter((r) => r.parent === here.parent) : [];
    const i = here ? siblings.indexOf(here) : -1;
    let next: Rect | undefined;
    switch (e.key) {
      case "ArrowDown": next = here ? rects.find((r) => r.parent === here) : rects[0]; break;
      case "ArrowUp": next = here?.parent; break;
      case "ArrowRight": next = siblings[i + 1]; break;
      case "ArrowLeft": next = siblings[i - 1]; break;
      case "Enter": case " ": closer(here); e.preventDefault(); return;
      case "Escape": case "Backspace": back(); return;
      case "o": follow(here?.node); return;
      default: return;
    }
    e.preventDefault();
    next ??= here ?? rects[0];
    if (next) setAt({ node: next.node, x: next.x + Math.min(next.w, 40), y: next.y + Math.min(next.h, head) + 4 });
  };
  return (
    <figure class="chart">
      {zoom.length > 1 && <nav class="crumbs" aria-label="where the chart stands">{zoom.map((n, i) => (i === zoom.length - 1 ? <b>{n.name}</b> : <><button type="button" onClick={() => zoomTo(zoom.slice(0, i + 1))}>{n.name}</button> › </>))}</nav>}
      <div class="canvas"><canvas ref={canvas} tabIndex={0} role="application" aria-label={`${title}. Arrow keys go from node to node, Enter looks closer, Escape goes back, o opens what a node stands for.`}
        onMouseMove={(e) => { const r = find(e); setAt(r && { node: r.node, x: e.offsetX, y: e.offsetY + 16 }); }} onMouseLeave={() => setAt(undefined)} onClick={(e) => closer(find(e))} onKeyDown={move} onBlur={() => setAt(undefined)} />
        {at && <Tip x={at.x} y={at.y} width={width}><Reading node={at.node} whole={root.value} unit={unit} /></Tip>}</div>
    </figure>
  );
}

function draw(g: CanvasRenderingContext2D, rects: Rect[], at: Node | undefined): void {
  const dark = isDark(), line = colour("--back"), text = colour("--chartink"), raised = colour("--raised"), accent = colour("--accent");
  for (const r of rects) {
    if (r.w < 0.5 || r.h < 0.5) continue;
    g.fillStyle = r.depth === 0 ? raised : fill(r.node, dark, r.depth * 3);
    g.fillRect(r.x, r.y, Math.max(0.5, r.w - 1), r.h - 1);
    const marked = at === r.node;
    g.strokeStyle = marked ? accent : line;
    g.lineWidth = marked ? 2 : 1;
    g.strokeRect(r.x + 0.5, r.y + 0.5, Math.max(0, r.w - 1), Math.max(0, r.h - 1));
    if (r.w > 30 && r.h > 13) {
      g.fillStyle = text;
      label(g, r.node.label ?? r.node.name, r.x + 5, r.y + Math.min(r.h, head) / 2, r.w - 10);
    }
  }
}
