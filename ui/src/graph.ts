// The layout of a graph in layers, from left to right. What draws it is in drawn.tsx.

export interface GraphNode { id: string; label: string; kind: "thread" | "lock" | "code"; href?: string | undefined; note?: string | undefined; object?: string | undefined }
export interface GraphEdge { from: string; to: string; label: string }
export interface Placed extends GraphNode { x: number; y: number; cycle: boolean }
export interface Line extends GraphEdge { cycle: boolean }

/** The groups of nodes that lead to each other (Tarjan's strongly connected components), those that others lead to first. */
function groups(ids: string[], next: Map<string, string[]>): string[][] {
  const out: string[][] = [], index = new Map<string, number>(), low = new Map<string, number>();
  const stack: string[] = [], on = new Set<string>();
  for (const start of ids) {
    if (index.has(start)) continue;
    // Chains of waits may be long: the search has a stack of its own.
    const work: { id: string; i: number }[] = [{ id: start, i: 0 }];
    while (work.length) {
      const at = work[work.length - 1]!;
      if (at.i === 0) { low.set(at.id, index.size); index.set(at.id, index.size); stack.push(at.id); on.add(at.id); }
      const to = next.get(at.id)?.[at.i++];
      if (to !== undefined) {
        if (!index.has(to)) work.push({ id: to, i: 0 });
        else if (on.has(to)) low.set(at.id, Math.min(low.get(at.id)!, index.get(to)!));
        continue;
      }
      work.pop();
      const above = work[work.length - 1];
      if (above) low.set(above.id, Math.min(low.get(above.id)!, low.get(at.id)!));
      if (low.get(at.id) === index.get(at.id)) {
        const part = stack.splice(stack.indexOf(at.id));
        for (const p of part) on.delete(p);
        out.push(part);
      }
    }
  }
  return out;
}

/** Places nodes in columns: what a node leads to stands to the right of it, but for the edge that closes a cycle. */
export function layers(nodes: GraphNode[], edges: GraphEdge[], across: number, down: number): { nodes: Placed[]; edges: Line[]; width: number; height: number } {
  const known = new Set(nodes.map((n) => n.id));
  const list = edges.filter((e) => known.has(e.from) && known.has(e.to));
  const next = new Map<string, string[]>();
  for (const e of list) next.set(e.from, [...(next.get(e.from) ?? []), e.to]);
  const found = groups(nodes.map((n) => n.id), next);
  const group = new Map(found.flatMap((ids, g) => ids.map((id) => [id, g] as const)));
  const isCycle = (id: string): boolean => found[group.get(id)!]!.length > 1 || !!next.get(id)?.includes(id);
  // A column is the longest way to a node. The nodes of a cycle stand in a row of columns, in the order in which they lead on.
  const column = new Map<string, number>(), starts = found.map(() => 0);
  for (let g = found.length - 1; g >= 0; g--) {
    found[g]!.forEach((id, i) => {
      column.set(id, starts[g]! + i);
      for (const to of next.get(id) ?? []) {
        const t = group.get(to)!;
        if (t !== g) starts[t] = Math.max(starts[t]!, starts[g]! + found[g]!.length);
      }
    });
  }
  // Within a column, nodes stand where those that lead to them do.
  const columns: string[][] = [];
  for (const n of nodes) (columns[column.get(n.id) ?? 0] ??= []).push(n.id);
  const rank = new Map<string, number>();
  columns.forEach((ids, c) => {
    const middle = (id: string): number => {
      const from = list.filter((e) => e.to === id && (column.get(e.from) ?? 0) < c).map((e) => rank.get(e.from) ?? 0);
      return from.length ? from.reduce((a, b) => a + b, 0) / from.length : Infinity;
    };
    const at = new Map(ids.map((id) => [id, isCycle(id) ? -1 : c ? middle(id) : 0])); // cycles on top
    ids.sort((a, b) => at.get(a)! - at.get(b)! || 0);
    ids.forEach((id, i) => rank.set(id, i));
  });
  return {
    nodes: nodes.map((n) => ({ ...n, x: (column.get(n.id) ?? 0) * across, y: (rank.get(n.id) ?? 0) * down, cycle: isCycle(n.id) })),
    edges: list.map((e) => ({ ...e, cycle: isCycle(e.from) && group.get(e.from) === group.get(e.to) })),
    width: Math.max(1, columns.length) * across, height: Math.max(1, ...columns.map((c) => c?.length ?? 0)) * down,
  };
}

/** The nodes that are wanted, with all that leads to them and all that they lead to. */
export function around(nodes: GraphNode[], edges: GraphEdge[], wanted: (n: GraphNode) => boolean): GraphNode[] {
  const start = nodes.filter(wanted).map((n) => n.id);
  const reach = (from: "from" | "to", to: "from" | "to"): Set<string> => {
    const next = new Map<string, string[]>();
    for (const e of edges) next.set(e[from], [...(next.get(e[from]) ?? []), e[to]]);
    const kept = new Set(start);
    for (const id of kept) for (const n of next.get(id) ?? []) kept.add(n);
    return kept;
  };
  const after = reach("from", "to"), before = reach("to", "from");
  return nodes.filter((n) => after.has(n.id) || before.has(n.id));
}
