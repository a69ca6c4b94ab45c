// Layouts of charts: numbers in, rectangles out. What draws them is in canvas.tsx.
import { shortType } from "./text";

export interface Node { name: string; value: number; children?: Node[]; group?: string; label?: string; note?: string;
  /** An object or a place of the page, which the node stands for. */
  address?: string; href?: string }
export interface Rect { x: number; y: number; w: number; h: number; node: Node; depth: number; parent: Rect | undefined }

/** Rows under one another: a node is as wide as its part of its parent, or of what lies beside it, where that is more: one that waits for two has two
 * below it. Nodes narrower than min are left out. */
export function icicle(root: Node, width: number, row: number, min = 1): Rect[] {
  const out: Rect[] = [];
  const place = (node: Node, x: number, depth: number, w: number, parent: Rect | undefined): void => {
    const r: Rect = { x, y: depth * row, w, h: row, node, depth, parent };
    out.push(r);
    let at = x;
    const whole = Math.max(node.value, (node.children ?? []).reduce((sum, c) => sum + c.value, 0));
    for (const c of node.children ?? []) {
      const cw = node.value > 0 ? (w * c.value) / whole : 0;
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

/** A stack, given from the outermost frame on. */
export interface Stack { names: string[]; groups?: string[]; labels?: string[] }

/** How many names a part that repeats has at most. */
const longestPart = 4;

/** The names of a stack without repetitions: what follows itself, alone or with others, is kept once. */
export function unrepeated(names: string[]): { at: number; repeats: boolean }[] {
  const out: { at: number; repeats: boolean }[] = [];
  for (let i = 0; i < names.length;) {
    let part = 1, times = 1;
    for (let p = 1; p <= longestPart; p++) {
      let n = 1;
      while (names.slice(i, i + p).every((name, k) => names[i + n * p + k] === name)) n++;
      if ((n - 1) * p > (times - 1) * part) { part = p; times = n; }
    }
    for (let k = 0; k < part; k++) out.push({ at: i + k, repeats: times > 1 });
    i += part * times;
  }
  return out;
}

const childOf = (known: Map<Node, Map<string, Node>>, at: Node): Map<string, Node> => {
  let m = known.get(at);
  if (!m) known.set(at, (m = new Map()));
  return m;
};

/** The child of a node with this name, made where there is none. */
function child(known: Map<Node, Map<string, Node>>, at: Node, like: Node): Node {
  const m = childOf(known, at);
  let n = m.get(like.name);
  if (!n) {
    const { value: _, children: __, ...rest } = like;
    m.set(like.name, (n = { ...rest, value: 0 }));
    (at.children ??= []).push(n);
  }
  return n;
}

function sortBySize(n: Node): void {
  n.children?.sort((a, b) => b.value - a.value);
  n.children?.forEach(sortBySize);
}

/** Merges stacks into a tree, the larger children first. */
export function merge(stacks: Stack[], title: string): Node {
  const root: Node = { name: title, value: stacks.length, children: [] };
  const known = new Map<Node, Map<string, Node>>();
  for (const s of stacks) {
    let at = root;
    s.names.forEach((name, i) => {
      at = child(known, at, { name, value: 0, group: s.groups?.[i] ?? name, label: s.labels?.[i] ?? name });
      at.value++;
    });
  }
  sortBySize(root);
  return root;
}

/** What a name takes: alone, and with what is below it. Below a node of its own name it counts once. */
export interface Total { name: string; label: string; self: number; total: number }

/** All names of a tree with what they take, the largest first. */
export function totals(root: Node): Total[] {
  const all = new Map<string, Total>();
  const walk = (n: Node, above: Set<string>): void => {
    const t = all.get(n.name) ?? { name: n.name, label: n.label ?? n.name, self: 0, total: 0 };
    all.set(n.name, t);
    t.self += own(n);
    const first = !above.has(n.name);
    if (first) { t.total += n.value; above.add(n.name); }
    n.children?.forEach((c) => walk(c, above));
    if (first) above.delete(n.name);
  };
  root.children?.forEach((c) => walk(c, new Set()));
  return [...all.values()].sort((a, b) => b.total - a.total || b.self - a.self);
}

/** What a node takes besides its children. */
export const own = (n: Node): number => Math.max(0, n.value - (n.children ?? []).reduce((sum, c) => sum + c.value, 0));

/** The nodes of this name that no other one of the name is above, each with those above it, the innermost first. */
function outermost(root: Node, name: string): { node: Node; above: Node[] }[] {
  const out: { node: Node; above: Node[] }[] = [];
  const walk = (n: Node, above: Node[]): void => {
    if (n.name === name) { out.push({ node: n, above }); return; }
    n.children?.forEach((c) => walk(c, n === root ? [] : [n, ...above]));
  };
  walk(root, []);
  return out;
}

/** Who calls a name: a tree from it outward. */
export function callers(root: Node, name: string): Node {
  return around(root, name, (top, found, known) => {
    for (const { node, above } of found) {
      let at = top;
      for (const a of above) {
        at = child(known, at, a);
        at.value += node.value;
      }
    }
  });
}

/** What a name calls: a tree from it inward. */
export function callees(root: Node, name: string): Node {
  return around(root, name, (top, found, known) => {
    const add = (to: Node, from: Node): void => from.children?.forEach((c) => {
      const n = child(known, to, c);
      n.value += c.value;
      add(n, c);
    });
    for (const { node } of found) add(top, node);
  });
}

function around(root: Node, name: string, fill: (top: Node, found: ReturnType<typeof outermost>, known: Map<Node, Map<string, Node>>) => void): Node {
  const found = outermost(root, name);
  const top: Node = { name, value: found.reduce((sum, f) => sum + f.node.value, 0), label: found[0]?.node.label ?? name, group: found[0]?.node.group ?? name };
  fill(top, found, new Map());
  sortBySize(top);
  return top;
}

/** The rectangles whose names have a text, and how much those take that no other one is above. */
export function matches(rects: Rect[], text: string): { rects: Set<Rect>; covered: number } {
  const found = new Set<Rect>();
  let covered = 0;
  const wanted = text.toLowerCase();
  if (wanted) for (const r of rects) {
    if (!r.node.name.toLowerCase().includes(wanted)) continue;
    found.add(r);
    let p = r.parent;
    while (p && !found.has(p)) p = p.parent;
    if (!p) covered += r.node.value;
  }
  return { rects: found, covered };
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
    (s.children ??= []).push({ name: t.name, value: t.size, group: space, label: shortType(t.name), note: `${t.count} objects`, ...(t.address ? { address: t.address } : {}) });
    for (const n of [root, a, s]) n.value += t.size;
  }
  return root;
}
