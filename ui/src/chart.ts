// Layouts of charts: numbers in, rectangles out. What draws them is in canvas.tsx.

export interface Node { name: string; value: number; children?: Node[]; group?: string; label?: string; address?: string; note?: string }
export interface Rect { x: number; y: number; w: number; h: number; node: Node; depth: number; parent: Rect | undefined }

/** Rows under one another: a node is as wide as its part of its parent. Nodes narrower than min are left out. */
export function icicle(root: Node, width: number, row: number, min = 1): Rect[] {
  const out: Rect[] = [];
  const place = (node: Node, x: number, depth: number, w: number, parent: Rect | undefined): void => {
    const r: Rect = { x, y: depth * row, w, h: row, node, depth, parent };
    out.push(r);
    let at = x;
    for (const c of node.children ?? []) {
      const cw = node.value > 0 ? (w * c.value) / node.value : 0;
      if (cw >= min) place(c, at, depth + 1, cw, r);
      at += cw;
    }
  };
  place(root, 0, 0, width, undefined);
  return out;
}

/** Squares in a square, larger ones first (Bruls, Huizing, van Wijk: Squarified Treemaps). Each node that is large enough has a head, and
 * its children below it. */
export function treemap(root: Node, width: number, height: number, head: number, depths: number): Rect[] {
  const out: Rect[] = [];
  const fill = (parent: Rect): void => {
    const inner = { x: parent.x + 1, y: parent.y + head, w: parent.w - 2, h: parent.h - head - 1 };
    if (parent.depth >= depths || inner.w < 8 || inner.h < 8) return;
    for (const r of squares(parent.node.children ?? [], parent.node.value, inner, parent)) {
      out.push(r);
      fill(r);
    }
  };
  const top: Rect = { x: 0, y: 0, w: width, h: height, node: root, depth: 0, parent: undefined };
  out.push(top);
  fill(top);
  return out;
}

interface Box { x: number; y: number; w: number; h: number }

function squares(nodes: Node[], total: number, box: Box, parent: Rect): Rect[] {
  const out: Rect[] = [];
  const scale = total > 0 ? (box.w * box.h) / total : 0;
  let rest = { ...box };
  const list = [...nodes].filter((n) => n.value * scale >= 2).sort((a, b) => b.value - a.value);
  let from = 0;
  while (from < list.length && rest.w > 1 && rest.h > 1) {
    const side = Math.min(rest.w, rest.h);
    let end = from, sum = 0, worst = Infinity;
    for (; end < list.length; end++) {
      const area = (list[end]?.value ?? 0) * scale;
      const next = sum + area;
      const first = (list[from]?.value ?? 0) * scale;
      const w = Math.max((side * side * first) / (next * next), (next * next) / (side * side * area));
      if (w > worst) break;
      worst = w;
      sum = next;
    }
    const thick = sum / side;
    let at = 0;
    for (const node of list.slice(from, end)) {
      const long = (node.value * scale) / thick;
      out.push(rest.w >= rest.h
        ? { x: rest.x, y: rest.y + at, w: thick, h: long, node, depth: parent.depth + 1, parent }
        : { x: rest.x + at, y: rest.y, w: long, h: thick, node, depth: parent.depth + 1, parent });
      at += long;
    }
    rest = rest.w >= rest.h ? { x: rest.x + thick, y: rest.y, w: rest.w - thick, h: rest.h } : { x: rest.x, y: rest.y + thick, w: rest.w, h: rest.h - thick };
    from = end;
  }
  return out;
}

/** Merges stacks, given from the outermost frame on, into a tree. */
export function merge(stacks: { names: string[]; groups?: string[] }[], title: string): Node {
  const root: Node = { name: title, value: stacks.length, children: [] };
  for (const s of stacks) {
    let at = root;
    s.names.forEach((name, i) => {
      at.children ??= [];
      let next = at.children.find((c) => c.name === name);
      if (!next) at.children.push((next = { name, value: 0, group: s.groups?.[i] ?? name }));
      next.value++;
      at = next;
    });
  }
  const order = (n: Node): void => { n.children?.sort((a, b) => b.value - a.value); n.children?.forEach(order); };
  order(root);
  return root;
}

/** A tree from rows in preorder. What a node's children leave of it stays empty. */
export function tree<R extends { depth: number }>(rows: R[], node: (row: R) => Node, title: string): Node {
  const root: Node = { name: title, value: 0, children: [] };
  const stack: Node[] = [root];
  for (const r of rows) {
    const n = node(r);
    stack.length = Math.min(stack.length, r.depth + 1);
    const parent = stack[stack.length - 1] ?? root;
    (parent.children ??= []).push(n);
    stack.push(n);
    if (r.depth === 0) root.value += n.value;
  }
  return root;
}

/** Assemblies → namespaces → types. */
export function byNamespace(types: { name: string; assembly?: string; size: number; count: number; address?: string }[], title: string): Node {
  const root: Node = { name: title, value: 0, children: [] };
  const known = new Map<string, Node>();
  const inside = (parent: Node, key: string, name: string): Node => {
    let n = known.get(key);
    if (!n) {
      known.set(key, (n = { name, value: 0, children: [], group: name }));
      (parent.children ??= []).push(n);
    }
    return n;
  };
  for (const t of types) {
    if (t.size <= 0) continue;
    const stop = t.name.search(/[<[(`+]/);
    const dot = (stop < 0 ? t.name : t.name.slice(0, stop)).lastIndexOf(".");
    const space = dot > 0 ? t.name.slice(0, dot) : "(no namespace)";
    const assembly = t.assembly ?? "(assembly not known)";
    const a = inside(root, assembly, assembly), s = inside(a, assembly + "\n" + space, space);
    (s.children ??= []).push({ name: t.name, value: t.size, group: space, label: t.name.slice(dot + 1), note: `${t.count} objects`, ...(t.address ? { address: t.address } : {}) });
    for (const n of [root, a, s]) n.value += t.size;
  }
  return root;
}
