// Graphs of who waits for whom, drawn.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { layers, type GraphEdge, type GraphNode } from "./graph";
import { fitted, plural } from "./text";

const boxWidth = 190, boxHeight = 34, across = 266, down = 50, edge = 8, over = 26;
/** Nodes that are drawn at most: more are a carpet. */
const most = 150;

/** A graph as boxes and arrows; what lies on a cycle is marked. The text beside it has the same. */
export function Drawn({ id, nodes, edges, label, legend }: { id: string; nodes: GraphNode[]; edges: GraphEdge[]; label: string; legend: string }): JSX.Element | null {
  const g = useMemo(() => layers(nodes.slice(0, most), edges, across, down), [nodes, edges]);
  if (!g.edges.length) return null;
  const place = new Map(g.nodes.map((n) => [n.id, n]));
  // An edge that closes a cycle goes back above the boxes: cycles stand in the first rows.
  const top = g.edges.some((e) => place.get(e.to)!.x <= place.get(e.from)!.x) ? edge + over : edge;
  const width = g.width - across + boxWidth + 2 * edge, height = g.height + edge + top;
  return <>
    <div class="scroll drawn" tabIndex={0} role="region" aria-label={label}>
      <svg width={width} height={height} viewBox={`${-edge} ${-top} ${width} ${height}`} role="group" aria-label={`${label}: ${plural(g.nodes.length, "node")}, ${plural(g.edges.length, "arrow")}`} data-graph={id}>
        <defs>{["", "cycle"].map((c) => <marker id={`arrow${c}-${id}`} viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto"><path d="M0 0L8 4L0 8z" class={`${c} head`} /></marker>)}</defs>
        {g.edges.map((e) => {
          const a = place.get(e.from)!, b = place.get(e.to)!;
          const back = b.x <= a.x;
          const x1 = a.x + (back ? boxWidth / 2 : boxWidth), y1 = a.y + (back ? 0 : boxHeight / 2), x2 = b.x + (back ? boxWidth / 2 : 0), y2 = b.y + (back ? 0 : boxHeight / 2);
          const high = Math.min(y1, y2) - over;
          return <g class={e.cycle ? "edge cycle" : "edge"}>
            <path d={back ? `M${x1} ${y1}C${x1} ${high} ${x2} ${high} ${x2} ${y2}` : `M${x1} ${y1}C${x1 + 60} ${y1} ${x2 - 60} ${y2} ${x2} ${y2}`} marker-end={`url(#arrow${e.cycle ? "cycle" : ""}-${id})`} />
            <title>{e.label}</title>{e.cycle && <text x={(x1 + x2) / 2} y={back ? high + 4 : (y1 + y2) / 2 - 4} text-anchor="middle">{e.label}</text>}</g>;
        })}
        {g.nodes.map((n) => {
          const text = fitted(n.label, 25, (s) => s.length);
          const box = <><title>{n.label}{n.note ? `\n${n.note}` : ""}</title><rect x={n.x} y={n.y} width={boxWidth} height={boxHeight} rx={n.kind === "thread" ? 16 : 5} /><text x={n.x + boxWidth / 2} y={n.y + boxHeight / 2 + 4} text-anchor="middle">{text}</text></>;
          return <g class={`node ${n.kind}${n.cycle ? " cycle" : ""}`}>{n.href ? <a href={n.href}>{box}</a> : box}</g>;
        })}
      </svg>
    </div>
    <p class="dim small">{legend} What lies on a cycle is red.</p>
    {nodes.length > most && <p class="dim">{most} of {nodes.length} are drawn.</p>}
  </>;
}
