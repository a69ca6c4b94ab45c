// Words and numbers as people read them, and texts of the dump as they can be shown.

// What sosgo's text and JSON escape, too (jsonenc.Hidden): what is ignorable for display, blanks of scripts, and controls.
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ud800-\udfff\ufff9-\ufffb\u{13430}-\u{1343f}]/gu;
const code = (c: string): string => {
  const n = c.codePointAt(0)!;
  return n > 0xffff ? "\\U" + n.toString(16).padStart(8, "0") : "\\u" + n.toString(16).padStart(4, "0");
};

/** Makes characters that hide, or that change the direction of text, visible: in JSON, before it is parsed, or in plain text. */
export function visible(text: string, json = true): string {
  if (!json) return text.replace(control, code);
  return text
    .replace(/\\(u[0-9a-fA-F]{4}|.)/g, (all, e: string) => {
      if (e.length < 5) return all;
      control.lastIndex = 0;
      return control.test(String.fromCharCode(parseInt(e.slice(1), 16))) ? "\\" + all : all;
    })
    .replace(control, (c) => (c < " " ? c : "\\" + code(c)));
}

/** Bytes with a unit. */
export function bytes(n: number | null | undefined): string {
  if (n == null) return "";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let v = Math.abs(n), u = 0;
  while (v >= 1024 && u < units.length - 1) { v /= 1024; u++; }
  return `${n < 0 ? "−" : ""}${u === 0 || v >= 100 ? Math.round(v) : v.toFixed(1)} ${units[u]}`;
}

/** The beginning of a text, marked where it is cut. */
export const beginning = (s: string, most: number): string => (s.length > most ? s.slice(0, most) + "…" : s);

/** A number with thin groups of three digits. */
export function count(n: number | null | undefined): string {
  return n == null ? "" : String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A number; of a sum over a part of a list the least that it can be. */
export const atLeast = (n: number, part: boolean): string => `${part ? "at least " : ""}${count(n)}`;

/** A time in UTC, to the second. What is no time stays. */
export function time(s: string | null | undefined): string {
  const m = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(s ?? "");
  return m ? `${m[1]} ${m[2]} UTC` : s ?? "";
}

/** A duration with room between numbers and units: 1 m 3.5 s. */
export const duration = (s: string | undefined): string => (s ?? "").replace(/([\d.]+)(ms|µs|[dhms])(?=[\d.]|$)/g, "$1 $2 ").trim();

/** A share, with a decimal as in text; what is not none is not 0, and what is not all is not 100. */
export function percent(n: number | null | undefined): string {
  if (n == null) return "";
  if (n > 0 && n < 0.05) return "<0.1%";
  return `${(n < 100 ? Math.min(99.9, n) : n).toFixed(1)}%`;
}

/** One thread, 2 threads. */
export function plural(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const keywords: Record<string, string> = { Boolean: "bool", Byte: "byte", SByte: "sbyte", Char: "char", Decimal: "decimal", Double: "double", Single: "float", Int16: "short", UInt16: "ushort", Int32: "int", UInt32: "uint",
  Int64: "long", UInt64: "ulong", IntPtr: "nint", UIntPtr: "nuint", Object: "object", String: "string", Void: "void" };
const builtIn = new RegExp(`(?<![\\w.+\`])(?:System\\.)?(${Object.keys(keywords).join("|")})(?![\\w+\`<(])`, "g");

/** Names are shown as the runtime has them. */
let asRuntime = false;
export function showRuntimeNames(on: boolean): void { asRuntime = on; }

/** A name as people write it: List<int> for List`1[[System.Int32, System.Private.CoreLib]], Outer.Inner for Outer+Inner, Run λ0 for a lambda. */
export const csharp = (name: string): string => (asRuntime ? name : spelled(generic(name)));

/** A name with its type arguments as C# has them. */
function generic(name: string): string {
  let s = name.replace(/<([^<>]+)>k__BackingField/g, "$1").replace(/`\d+/g, "");
  for (let before = ""; before !== s;) {
    before = s;
    // The innermost list of arguments: each has a name and, behind a comma, its assembly.
    s = s.replace(/\[(\[[^[\]]*\](?:,\s*\[[^[\]]*\])*)\]/g, (_, list: string) =>
      `<${[...list.matchAll(/\[([^[\]]*)\]/g)].map((m) => argument(m[1] ?? "")).join(", ")}>`);
  }
  return s;
}

/** Writes names that compilers make, keywords, and types in types. */
function spelled(s: string): string {
  return written(s).replace(builtIn, (_, type: string) => keywords[type] ?? type).replace(/(?<=[\w>])\+(?=[\w<])/g, ".").replace(/(?<=[(,]\s?)\s*((?:<[^()]*>|[^(),<\s])+) ByRef\b/g, (all: string, type: string) => (all.startsWith(" ") ? " " : "") + `ref ${type}`);
}

/** The name in an argument, without the assembly behind the last comma that no list is around. */
function argument(s: string): string {
  let depth = 0, end = s.length;
  for (let i = 0; i < s.length; i++) {
    if (s[i] === "<") depth++;
    else if (s[i] === ">") depth--;
    else if (s[i] === "," && depth === 0) { end = i; break; }
  }
  return s.slice(0, end).trim();
}

/** The end of the namespace in the name of a type: what stands before it. */
export function namespaceEnd(name: string): number {
  const stop = name.search(/[<[(`]/);
  const head = stop < 0 ? name : name.slice(0, stop);
  return head.lastIndexOf(".") + 1;
}

/** A method without the module that is named in front of it: Validate for Shop.dll!Validate. */
export const withoutModule = (full: string): string => (asRuntime ? full : full.replace(/^[^!(<]*!/, ""));

/** The method's name without its parameters and namespace. */
export function shortMethod(full: string): string {
  const name = csharp(withoutModule(full));
  const open = name.indexOf("(");
  const head = open < 0 ? name : name.slice(0, open);
  const angle = head.search(/[<[]/);
  const stop = (angle > 0 ? head.slice(0, angle) : head).split(".");
  const kept = stop.slice(-2).join(".");
  return kept + (angle > 0 ? head.slice(angle) : "");
}

/** Names that compilers make, as the code has them: an async method or iterator, a lambda with its number, a local function. */
function written(name: string): string {
  return name
    .replace(/<([^<>]+)>g__([^|<>]+)\|[\d_]+/g, "$1.$2")
    .replace(/\+<([^<>]+)>(?:d(?:__\d+)?|c__(?:async|Iterator)\d+)(?:<[^>]*>)?\.MoveNext(?:\(\))?$/, ".$1")
    .replace(/\+<([^<>]+)>(?:d(?:__\d+)?|c__(?:async|Iterator)\d+)(?![\w.])/g, ".$1")
    .replace(/\.<lambda>/g, " λ")
    .replace(/(?:\+?(?:<>c|<[^<>]*>c__)[^.(]*\.)?<([^<>]*)>[bm]__(?:\d+_)?(\w+)/, (all: string, method: string, number: string) => (all.startsWith("+") ? "." : "") + `${method || "…"} λ${number}`);
}

/** Generations as people read them, by their names in commands. */
export const generationNames: Record<string, string> = { gen0: "gen 0", gen1: "gen 1", gen2: "gen 2", loh: "large", poh: "pinned", foh: "frozen" };

/** A generation by its number or its name. */
export const generationName = (g: string): string => generationNames[g] ?? (/^\d$/.test(g) ? `gen ${g}` : g);

/** A thread by its number and name. */
export interface Numbered { index?: number; name?: string }

/** What a root is called: the thread in it has its number, where threads by their ids of the system have one, and its method is written as in C#. */
export const rootName = (name: string, threads: Map<number | undefined, Numbered>): string => csharp(name.replace(/\bthread (?:0x)?([0-9a-f]+)(?=:|$)/, (all: string, id: string) => {
  const t = threads.get(parseInt(id, 16));
  return t?.index === undefined ? all.replace(/ (?!0x)/, " 0x") : `thread ${t.index}${t.name ? ` "${t.name}"` : ""}`;
}));

/** A name without namespaces. */
const bare = (name: string): string => name.replace(/(?:[\p{L}_@][\p{L}\p{N}_]*\.)+(?=[\p{L}_@<])/gu, "");

/** The name of a type without namespaces: Dictionary<string, Order>. */
export const shortType = (name: string): string => (asRuntime ? bare(name) : spelled(bare(generic(name))));

/** The name of a type, or of a member, in two parts: its namespace, and the rest, in which type arguments stand without theirs. */
export function typeParts(full: string): [space: string, name: string] {
  if (asRuntime) return [full.slice(0, namespaceEnd(full)), full.slice(namespaceEnd(full))];
  const name = csharp(full), g = generic(full), rest = g.slice(namespaceEnd(g));
  return name.endsWith(spelled(rest)) ? [name.slice(0, name.length - spelled(rest).length), spelled(bare(rest))] : ["", spelled(bare(g))];
}

/** The part of a name that is not wider than width: all of it, what stands behind the last dot before its type arguments, or its ends with a sign between them.
 * Fewer than three characters are none. */
export function fitted(name: string, width: number, measure: (s: string) => number): string {
  if (measure(name) <= width) return name;
  const last = name.slice(namespaceEnd(name));
  const s = last.length > 2 && !/^[\d>]/.test(last) ? last : name;
  if (measure(s) <= width) return s;
  const cut = (n: number): string => s.slice(0, Math.ceil(n / 2)) + "…" + s.slice(s.length - Math.floor(n / 2));
  let low = 0, high = s.length - 1;
  while (low < high) {
    const n = Math.ceil((low + high) / 2);
    if (measure(cut(n)) <= width) low = n;
    else high = n - 1;
  }
  return low < 3 ? "" : cut(low);
}

/** A part of a sentence. Its title is what it stands for, where that is longer. */
export interface Piece { text: string; address?: string; thread?: string; title?: string }

/** A sentence of a document with what it is made from. */
export interface Said { text: string; args?: Array<{ type: string; value?: string; address?: string; thread?: number; osThreadId?: number; start: number; end: number }> | null }

/** The last two parts of a name: Scenario.first. */
export const lastParts = (name: string): string => csharp(name).split(".").slice(-2).join(".");
/** Longer texts of the process are cut where a sentence is short. */
const longest = 90;

/** What a text that connects to a database is called: its database, or else its server. */
function connection(text: string): string | undefined {
  if (!/^[^;=]+=[^;]*;/.test(text)) return undefined;
  const part = (name: string): string | undefined => new RegExp(`(?:^|;)\\s*(?:${name})\\s*=\\s*([^;]+)`, "i").exec(text)?.[1];
  return part("initial catalog|database") ?? part("data source|server|host");
}

/** How a part of a sentence is written where there is little room: an address as a sign, names without their namespaces. */
function brief(type: string, text: string): string {
  switch (type) {
    case "count": return plainly(type, text, undefined);
    case "object": return "◇";
    case "type": return shortType(text);
    case "method": return shortMethod(text);
    case "field": return lastParts(text);
    case "text": return connection(text) ?? fitted(text.trimEnd(), longest, (s) => s.length);
  }
  return text;
}

/** How a part of a sentence is written elsewhere: addresses and names have one form. */
function plainly(type: string, text: string, address: string | undefined): string {
  if (type === "object" && address) return address;
  if (type === "count" && /^\d+$/.test(text)) return count(Number(text));
  return type === "method" ? csharp(withoutModule(text)) : type === "type" || type === "field" ? csharp(text) : text;
}

/** What stands before a name, with the article that the name as it is written now has: a System.Object is an object. */
const fitting = (before: string, text: string, own: string): string => (text === own ? before : before.replace(/\ban? $/, /^[aeioAEIO]/.test(text) ? "an " : "a "));

/** A sentence begins with a capital letter, unless it begins with a name of the process. */
export function capital(s: Said, pieces: Piece[]): Piece[] {
  const [first, ...rest] = pieces;
  if (!first || s.args?.some((a) => a.start === 0 && ["type", "method", "field", "text", "object"].includes(a.type))) return pieces;
  return [{ ...first, text: first.text.slice(0, 1).toUpperCase() + first.text.slice(1) }, ...rest];
}

/** Splits a sentence at its arguments: objects and threads have pages, and names are written as people write them. With short, names and texts are cut, too. */
export function linked(s: Said, short = false): Piece[] {
  const out: Piece[] = [];
  let end = 0;
  for (const a of s.args ?? []) {
    const thread = a.thread !== undefined ? String(a.thread) : a.osThreadId ? "0x" + a.osThreadId.toString(16) : undefined;
    const own = s.text.slice(a.start, a.end);
    const text = short ? brief(a.type, own) : plainly(a.type, own, a.address);
    if (a.start < end || a.end > s.text.length || a.start >= a.end) continue;
    const to = a.type === "thread" ? (thread === undefined ? {} : { thread }) : a.type === "object" && a.address ? { address: a.address } : {};
    if (text === own && !("thread" in to) && !("address" in to)) continue;
    if (a.start > end) out.push({ text: fitting(s.text.slice(end, a.start), text, own) });
    out.push({ text, ...(text === own ? {} : { title: a.address ?? own }), ...to });
    end = a.end;
  }
  if (end < s.text.length) out.push({ text: s.text.slice(end) });
  return out;
}

/** The version of a runtime as people write it: of a file, 10.0.1426.52326 is that of 10.0.14. */
export function runtimeVersion(kind: string, version: string): string {
  const m = /^([5-9]|\d\d)\.(\d+)\.(\d+)\d\d\.\d+$/.exec(version);
  return `${kind.replace(/^\.NET Core$/, /^([5-9]|\d\d)\./.test(version) ? ".NET" : "$&")} ${m ? m.slice(1).join(".") : version}`.trim();
}

/** A hue for a name: the same name has the same one. */
export function hue(name: string): number {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
  return (h >>> 0) % 360;
}
