// Tests of what needs no browser: node --test.
import assert from "node:assert/strict";
import test from "node:test";
import { byNamespace, callees, callers, icicle, matches, merge, totals, tree, treemap, unrepeated, type Node } from "../src/chart";
import type { DominatorRow, Finding, OperationWait, Request, ThreadWait } from "../src/docs";
import { areaOf, concerned, deed, deeds, groupRequests, parted, requestName, seconds, stateOf } from "../src/findings";
import { around, layers, type GraphEdge, type GraphNode } from "../src/graph";
import { largestFirst } from "../src/pages/memory";
import { nothingIn } from "../src/pages/search";
import { cpuText, cpuTime, noTimes } from "../src/pages/threads";
import { fieldName, stepParts, steps } from "../src/pages/type";
import { idleApart, rankedBy, whyWaits } from "../src/pages/work";
import { breaks, isCut } from "../src/parts";
import { Files } from "../src/site/files";
import { address, parseRoute } from "../src/state";
import { atLeast, bytes, capital, count, csharp, duration, fitted, linked, namespaceEnd, percent, rootName, runtimeVersion, shortMethod, shortType, typeParts, visible, withoutModule } from "../src/text";
import hidden from "./hidden.json";

test("characters that hide or turn text are shown, and JSON stays what it was", () => {
  const text = String.raw`{"a":"x\u202ey","b":"\\u202e","c":"a\nb","d":"\u003cscript\u003e","e":"\u0007"}`;
  assert.deepEqual(JSON.parse(visible(text)), { a: "x\\u202ey", b: "\\u202e", c: "a\nb", d: "<script>", e: "\\u0007" });
  assert.deepEqual(JSON.parse(visible('{"a":"x\u202ey\u200bz"}\n')), { a: "x\\u202ey\\u200bz" });
  assert.equal(visible("a\u202eb\n\u001b[2J", false), "a\\u202eb\n\\u001b[2J");
  assert.deepEqual(JSON.parse(visible(`{"a":"\\ud800b\\\\ud800"}`)), { a: "\\ud800b\\ud800" });
  assert.equal(visible("𝄞\ud800", false), "𝄞\\ud800");
});

test("what sosgo's own text escapes is shown, raw and escaped in JSON, and nothing else is", () => {
  const isHidden = new Set<number>();
  for (const [from, to] of hidden as [number, number][]) for (let r = from; r <= to; r++) isHidden.add(r);
  const wrong: string[] = [];
  for (let r = 0x80; r <= 0x10ffff; r++) {
    const c = String.fromCodePoint(r);
    const raw = visible(c, false) !== c;
    const inJSON = JSON.parse(visible(`"${c}"`)) !== c;
    const escaped = JSON.parse(visible(`"\\u${r.toString(16).padStart(4, "0")}"`)) !== c;
    if (raw !== isHidden.has(r) || inJSON !== raw || r <= 0xffff && escaped !== raw) wrong.push(r.toString(16));
  }
  assert.deepEqual(wrong, []);
  assert.equal(visible("a\u{e0041}\u3164", false), "a\\U000e0041\\u3164");
});

test("arguments of sentences become links", () => {
  assert.deepEqual(linked({ text: "𝄞 3 \"x\" holds 00007f1e63806b20 of 2 B", args: [
    { type: "thread", thread: 3, osThreadId: 31, start: 3, end: 8 }, { type: "phrase", start: 9, end: 31 }, { type: "object", address: "0x7f1e63806b20", start: 15, end: 31 },
    { type: "bytes", start: 35, end: 38 }] }), [{ text: "𝄞 " }, { text: '3 "x"', thread: "3" }, { text: " holds " }, { text: "0x7f1e63806b20", title: "0x7f1e63806b20", address: "0x7f1e63806b20" }, { text: " of 2 B" }]);
  assert.deepEqual(linked({ text: "thread 0x1f", args: [{ type: "thread", osThreadId: 31, start: 7, end: 11 }] }), [{ text: "thread " }, { text: "0x1f", thread: "0x1f" }]);
  assert.deepEqual(linked({ text: "4500 of 10.0.0.1:42291", args: [{ type: "count", start: 0, end: 4 }, { type: "number", start: 17, end: 22 }] }).map((p) => p.text).join(""), "4,500 of 10.0.0.1:42291", "a port counts nothing");
  assert.deepEqual(linked({ text: "masked", args: [{ type: "object", address: "0x10", start: 4, end: 20 }] }), [{ text: "masked" }], "a text may be shorter than it was");
});

test("the address has how a page is shown", () => {
  const r = { page: "console", arg: "from a | where b == \"?/&\"", state: { "sort.rows": "2-", "filter.rows": "a b&c" } };
  assert.deepEqual(parseRoute(address(r)), r);
  assert.deepEqual(parseRoute("#/heap"), { page: "heap", arg: "", state: {} });
  assert.equal(address({ page: "heap", arg: "", state: { "filter.types": "" } }), "#/heap");
});

test("numbers", () => {
  assert.deepEqual([bytes(0), bytes(1023), bytes(1024), bytes(1536 * 1024), bytes(-2048), bytes(undefined)], ["0 B", "1023 B", "1.0 KB", "1.5 MB", "−2.0 KB", ""]);
  assert.deepEqual([count(0), count(999), count(1234567), percent(56.64), percent(0.5), percent(0.01), percent(0), percent(99.99), percent(100)], ["0", "999", "1,234,567", "56.6%", "0.5%", "<0.1%", "0.0%", "99.9%", "100.0%"]);
});

test("names", () => {
  const name = "System.Collections.Generic.List<System.Object>";
  assert.equal(name.slice(namespaceEnd(name)), "List<System.Object>");
  assert.equal(namespaceEnd("Foo"), 0);
  assert.equal(shortMethod("System.Threading.Monitor.Wait(System.Object, Int32)"), "Monitor.Wait");
  assert.equal(shortMethod("Locks.<Main>m__0()"), "Locks.Main λ0");
  assert.equal(shortMethod("Locks+<Main>c__AnonStorey2.<>m__1()"), "Locks.… λ1");
  assert.equal(shortMethod("App.Work+<>c.<Run>b__0_1()"), "Work.Run λ1");
  assert.equal(shortMethod("App.Work+<>c__DisplayClass3_0.<Run>b__2()"), "Work.Run λ2");
  assert.equal(shortMethod("App.Client.Start.<lambda>()"), "Client.Start λ");
  assert.equal(shortMethod("App.Orders+<LoadAsync>d__5.MoveNext()"), "Orders.LoadAsync");
  assert.deepEqual(["App.Work+<Run>c__async1", "App.Work+<Run>c__Iterator0.MoveNext()", "Box<App.Work+<Run>c__async1>"].map(csharp), ["App.Work.Run", "App.Work.Run", "Box<App.Work.Run>"], "of Mono's compiler");
  assert.equal(csharp("Npgsql.Buffer+<<Ensure>g__EnsureLong|54_0>d.MoveNext()"), "Npgsql.Buffer.Ensure.EnsureLong", "a local function that is async");
  assert.equal(csharp("A.Map[].<Name>k__BackingField"), "A.Map[].Name");
  assert.deepEqual(typeParts("A.Map.<Name>k__BackingField._value"), ["A.Map.Name.", "_value"], "a field of a property's field");
  assert.equal(shortMethod("App.Work.<Run>g__Inner|4_0(Int32)"), "Run.Inner");
  assert.equal(csharp("A.B`1[[System.Char, System.Private.CoreLib]].M(Int32)"), "A.B<char>.M(int)");
  assert.equal(csharp("D`2[[System.Int32, mscorlib, Version=4.0.0.0],[L`1[[X.Y+Z, a]], b]][]"), "D<int, L<X.Y.Z>>[]");
  assert.equal(csharp("System.Number.ThrowFormatException[[System.Char, System.Private.CoreLib]](System.ReadOnlySpan`1<Char>)"), "System.Number.ThrowFormatException<char>(System.ReadOnlySpan<char>)");
  assert.equal(csharp("Int32[,][]"), "int[,][]");
  assert.equal(csharp("M(Object, Boolean ByRef)"), "M(object, ref bool)");
  assert.equal(csharp("M(A`2<Int32, B> ByRef, C)"), "M(ref A<int, B>, C)");
  assert.equal(csharp("App.Outer+Inner"), "App.Outer.Inner");
  assert.equal(csharp("App.Orders+<LoadAsync>d__5"), "App.Orders.LoadAsync");
  assert.equal(csharp("System.String.Concat(System.String, My.Int32, Object)"), "string.Concat(string, My.Int32, object)");
  assert.deepEqual(typeParts("System.Collections.Generic.List`1[[System.Int32, x]]"), ["System.Collections.Generic.", "List<int>"]);
  assert.deepEqual(typeParts("A.Func`1[[B.C+D, x]]"), ["A.", "Func<C.D>"]);
  assert.deepEqual(typeParts("A.Big+Order.Customer"), ["A.Big.Order.", "Customer"]);
  assert.deepEqual([typeParts("System.String"), typeParts("App.Outer+Inner")], [["", "string"], ["App.", "Outer.Inner"]]);
  assert.equal(shortMethod("A.List`1[[System.__Canon, System.Private.CoreLib]].Add(T)"), "A.List<System.__Canon>.Add");
});

test("stacks merge by their names", () => {
  const root = merge([{ names: ["main", "a", "b"] }, { names: ["main", "a", "c"] }, { names: ["main", "d"] }], "threads");
  assert.equal(root.value, 3);
  assert.deepEqual(root.children?.map((c) => [c.name, c.value]), [["main", 3]]);
  assert.deepEqual(root.children?.[0]?.children?.map((c) => [c.name, c.value]), [["a", 2], ["d", 1]]);
});

test("frames that repeat are kept once", () => {
  const kept = (s: string): string => unrepeated(s.split("")).map((k) => s[k.at]! + (k.repeats ? "*" : "")).join("");
  assert.deepEqual(["abc", "aaab", "xababaz", "abcabcabc", "", "aabb", "abcdeabcde"].map(kept), ["abc", "a*b", "xa*b*az", "a*b*c*", "", "a*b*", "abcdeabcde"]);
  assert.deepEqual(unrepeated(Array(100000).fill("f")).length, 1);
});

test("callers and callees of a method, which counts once where it calls itself", () => {
  const root = merge([{ names: ["main", "a", "f", "g"] }, { names: ["main", "b", "f", "f", "h"] }, { names: ["main", "f"] }, { names: ["main", "g"] }], "threads");
  const flat = (n: Node): unknown[] => [n.name, n.value, ...(n.children ?? []).map(flat)];
  assert.deepEqual(totals(root).map((t) => [t.name, t.total, t.self]), [["main", 4, 0], ["f", 3, 1], ["g", 2, 2], ["h", 1, 1], ["a", 1, 0], ["b", 1, 0]]);
  assert.deepEqual(flat(callers(root, "f")), ["f", 3, ["a", 1, ["main", 1]], ["b", 1, ["main", 1]], ["main", 1]]);
  assert.deepEqual(flat(callees(root, "f")), ["f", 3, ["g", 1], ["f", 1, ["h", 1]]]);
  assert.deepEqual(flat(callers(root, "g")), ["g", 2, ["f", 1, ["a", 1, ["main", 1]]], ["main", 1]]);
  const rects = icicle(root, 1, 1, 1e-7);
  const found = matches(rects, "F");
  assert.deepEqual([found.rects.size, found.covered], [4, 3]);
  assert.deepEqual([matches(rects, "").rects.size, matches(rects, "x").covered], [0, 0]);
});

test("a graph stands in columns, and a cycle is marked", () => {
  const node = (id: string): GraphNode => ({ id, label: id, kind: "thread" });
  const to = (from: string, to: string): GraphEdge => ({ from, to, label: "" });
  const g = layers(["a", "b", "c", "d", "e", "f"].map(node), [to("a", "b"), to("b", "c"), to("c", "a"), to("d", "c"), to("d", "b"), to("e", "f"), to("x", "f")], 100, 10);
  assert.deepEqual(g.nodes.filter((n) => n.cycle).map((n) => n.id), ["a", "b", "c"]);
  assert.deepEqual(g.edges.map((e) => e.cycle), [true, true, true, false, false, false]);
  const at = new Map(g.nodes.map((n) => [n.id, n]));
  assert.equal(new Set(g.nodes.map((n) => `${n.x},${n.y}`)).size, 6);
  for (const [a, b] of [["d", "c"], ["d", "b"], ["e", "f"]] as const) assert.ok(at.get(a)!.x < at.get(b)!.x, `${a} ${b}`);
  assert.equal(g.edges.slice(0, 3).filter((e) => at.get(e.from)!.x > at.get(e.to)!.x).length, 1, "one edge of a cycle goes back");
  const long = Array.from({ length: 3000 }, (_, i) => node(String(i)));
  assert.equal(layers(long, long.slice(1).map((n, i) => to(String(i), n.id)), 1, 1).width, 3000);
  assert.equal(layers([], [], 100, 10).width, 100);
});

test("of a graph what leads to or from a node is kept", () => {
  const node = (id: string): GraphNode => ({ id, label: id, kind: "lock" });
  const to = (from: string, to: string): GraphEdge => ({ from, to, label: "" });
  const kept = around("abcde".split("").map(node), [to("a", "b"), to("b", "c"), to("d", "c")], (n) => n.id === "b");
  assert.deepEqual(kept.map((n) => n.id), ["a", "b", "c"], "what else leads to the end is another matter");
  assert.deepEqual(around([node("a")], [], () => false), []);
});

test("labels are cut in the middle, and short ones are left out", () => {
  const wide = (s: string): number => s.length;
  assert.equal(fitted("Foo.Bar", 7, wide), "Foo.Bar");
  assert.equal(fitted("SomeClass.Wait", 8, wide), "Wait");
  assert.equal(fitted("SomeClass.ProcessRequest", 8, wide), "Proc…est");
  assert.equal(fitted("Locks.<Main>m__0", 9, wide), "<Mai…m__0");
  assert.equal(fitted("Number.Throw<System.Char>(…)", 22, wide), "Throw<System.Char>(…)");
  assert.equal(fitted("Something", 3, wide), "");
  assert.equal(shortType("System.Collections.Generic.Dictionary<System.String, Foo.Bar+Baz[]>"), "Dictionary<string, Bar.Baz[]>");
  assert.equal(shortType("3 × A.B.C"), "3 × C");
});

test("rows in preorder are a tree", () => {
  const root = tree([{ depth: 0, v: 10 }, { depth: 1, v: 7 }, { depth: 2, v: 3 }, { depth: 1, v: 2 }, { depth: 0, v: 5 }], (r) => ({ name: String(r.v), value: r.v }), "all");
  assert.equal(root.value, 15);
  assert.deepEqual(root.children?.map((c) => c.children?.map((d) => d.value)), [[7, 2], undefined]);
});

test("a chart's nodes stay within their parents, and take their part", () => {
  const root = byNamespace([{ name: "A.B.C<X.Y>", assembly: "lib", size: 60, count: 1 }, { name: "A.B.D", assembly: "lib", size: 30, count: 2 }, { name: "E", assembly: "app", size: 10, count: 1 }], "heap");
  assert.deepEqual(root.children?.map((a) => [a.name, a.value, a.children?.map((s) => s.name)]), [["lib", 90, ["A.B"]], ["app", 10, ["(no namespace)"]]]);
  for (const rects of [icicle(root, 1000, 20), treemap(root, 1000, 600, 20, 3)]) {
    assert.equal(rects.length, 8);
    for (const r of rects) {
      assert.ok(r.w > 0 && r.h > 0 && r.x >= -1e-6 && r.x + r.w <= 1000 + 1e-6, r.node.name);
      for (const o of rects) if (o !== r && o.parent === r.parent && r.parent) {
        const apart = o.x >= r.x + r.w - 1e-6 || r.x >= o.x + o.w - 1e-6 || o.y >= r.y + r.h - 1e-6 || r.y >= o.y + o.h - 1e-6;
        assert.ok(apart, `${r.node.name} and ${o.node.name}`);
      }
    }
  }
  assert.equal(icicle(root, 1000, 20).find((r) => r.node.name === "lib")?.w, 900);
});

test("what one node has twice below it stays within its width", () => {
  const root: Node = { name: "all", value: 2, children: [{ name: "a", value: 1, children: [{ name: "b", value: 1 }, { name: "c", value: 1 }] }, { name: "d", value: 1 }] };
  assert.deepEqual(icicle(root, 100, 20).map((r) => [r.node.name, r.x, r.w]), [["all", 0, 100], ["a", 0, 50], ["b", 0, 25], ["c", 25, 25], ["d", 50, 50]]);
});

test("a treemap of nothing has one node, and of much it ends", () => {
  assert.equal(treemap({ name: "x", value: 0, children: [] }, 100, 100, 10, 3).length, 1);
  const many = { name: "x", value: 1e5, children: Array.from({ length: 1e5 }, (_, i) => ({ name: String(i), value: 1 })) };
  assert.ok(treemap(many, 300, 200, 10, 3).length < 1e5);
});

test("findings belong to a part of the page, and have deeds", () => {
  const f = (kind: string, severity: string, next: string[] = []): Finding => ({ kind, severity, strength: "proved", text: "", next });
  assert.deepEqual([areaOf("crash"), areaOf("deadlock"), areaOf("large holder"), areaOf("a kind of tomorrow")], ["crash", "hang", "memory", "hang"]);
  const found = [f("deadlock", "fatal"), f("large holder", "warning")];
  assert.deepEqual([stateOf("hang", found, []), stateOf("memory", found, []), stateOf("crash", found, [])], ["bad", "notable", "nothing"]);
  assert.equal(stateOf("crash", [], [{ subject: "crash" }]), "not readable", "what was not looked at is not fine");
  assert.equal(stateOf("memory", [], [{ subject: "holders of memory", partly: true }]), "in part");
  assert.deepEqual(deeds(f("deadlock", "fatal", ["clrstack 33", "clrstack 34", "waits", "locks"])).map((d) => [d.text, d.href]),
    [["Stack of thread 33", "#/threads/33"], ["Stack of thread 34", "#/threads/34"], ["Who waits for whom", "#/waits"]]);
  assert.deepEqual([deed("pe 7f2fd9807ee8"), deed("dumpasync -address 00007f15b0996388")].map((d) => d.href), ["#/object/0x7f2fd9807ee8", "#/object/0x7f15b0996388"]);
  assert.equal(deed("gchandles -stat").href, "#/terminal/gchandles%20-stat");
});

test("whom a finding concerns", () => {
  const wait = (index: number, object: string): ThreadWait => ({ thread: { index, osId: index }, text: "", kind: "monitor", how: "recorded", object, method: "A.B.C" });
  const request: Request = { server: "Kestrel", state: "", method: "GET", route: "/orders/{id}", age: "2s", threads: [{ index: 7 }] };
  const operation: OperationWait = { count: 60, first: ["0x99"], kind: "SemaphoreSlim", method: "Gate.Load", object: "0x20", request: "GET /x", text: "" };
  const f: Finding = { kind: "no permits", severity: "high", strength: "proved", text: "", next: ["dumpobj 0000000000000020"], args: [{ type: "thread", thread: 7, start: 0, end: 1 }] };
  assert.deepEqual(concerned(f, [operation, { ...operation, object: "0x30" }], [wait(7, "0x1"), wait(8, "0x20"), wait(9, "0x1")], [request]).map((c) => [c.count, c.request, c.thread?.index]),
    [[60, "GET /x", undefined], [1, "GET /orders/{id}", 7], [1, undefined, 8]]);
});

test("who waits stands before what is wrong", () => {
  const wrong = { text: "a lock is held", strength: "proved" }, says = "; 3 of 5 requests wait for it, the oldest for 2s: 3 × GET /x";
  const f: Finding = { kind: "held lock", severity: "high", strength: "likely", text: wrong.text + says, clauses: [wrong],
    args: [{ name: "waiting", type: "count", number: 3, start: 16, end: 17 }, { name: "requests", type: "count", number: 5, start: 21, end: 22 }, { name: "age", type: "duration", number: 2e9, start: 60, end: 62 },
      { name: "routes", type: "phrase", start: 64, end: 74 }, { name: "requests", type: "count", number: 3, start: 64, end: 65 }] };
  assert.deepEqual(parted(f), { wrong, strength: "proved", served: { waiting: 3, of: 5, age: "2s", routes: "3 × GET /x" } });
  assert.deepEqual(parted({ ...f, clauses: [{ text: "another", strength: "proved" }] }), { wrong: { ...f, clauses: [{ text: "another", strength: "proved" }] }, strength: "likely" }, "a sentence of another form stays whole");
});

test("requests stand in groups, those that wait first", () => {
  const r = (route: string, does: string, age: string): Request => ({ server: "", state: "", method: "GET", route, age, threads: [{ does, method: "X.Y" }] });
  const groups = groupRequests([r("/chat", "idle", "9s"), r("/a", "waits for a lock", "1s"), r("/a", "waits for a lock", "1m3s"), r("/b", "runs", "500ms"), { ...r("/ws", "waits", "1s"), upgraded: true }], [{ reason: "idle" }]);
  assert.deepEqual(groups.map((g) => [g.name, g.requests.length, g.idle, g.waits, g.age]), [["GET /a", 2, false, true, "1m3s"], ["GET /b", 1, false, false, "500ms"], ["GET /chat", 1, true, false, "9s"], ["GET /ws", 1, true, false, "1s"]]);
  assert.deepEqual([seconds("1h2m3.5s"), seconds("500ms"), seconds(undefined)], [3723.5, 0.5, NaN]);
});

test("sentences are short where there is little room", () => {
  const s = { text: "thread 7 \"w\" holds A.B.Lock 00007f1e63806b20 (A.B.gate) of 500000 in A.B.M(System.Int32)", args: [{ type: "thread", thread: 7, start: 7, end: 12 }, { type: "phrase", start: 19, end: 55 }, { type: "type", start: 19, end: 27 },
    { type: "object", address: "0x7f1e63806b20", start: 28, end: 44 }, { type: "field", start: 46, end: 54 }, { type: "count", start: 59, end: 65 }, { type: "method", start: 69, end: 88 }] };
  assert.equal(linked(s, true).map((p) => p.text).join(""), "thread 7 \"w\" holds Lock ◇ (B.gate) of 500,000 in B.M");
  assert.deepEqual(linked(s, true).filter((p) => p.address ?? p.thread).map((p) => [p.address, p.thread]), [[undefined, "7"], ["0x7f1e63806b20", undefined]]);
  assert.equal(linked(s).map((p) => p.text).join(""), "thread 7 \"w\" holds A.B.Lock 0x7f1e63806b20 (A.B.gate) of 500,000 in A.B.M(int)", "else names are whole");
});

test("ways from roots are alike but for addresses and indices", () => {
  assert.deepEqual(steps("static A.B.Orders -> List<A+B> 00007faf59804b80 -> _items A+B[] 00007faf5aeca9a0 -> [58507] A+B 00007faf59802bf8").map((s) => [s.name, s.address]),
    [["static A.B.Orders", ""], ["List<A+B>", "0x7faf59804b80"], ["_items A+B[]", "0x7faf5aeca9a0"], ["[…] A+B", "0x7faf59802bf8"]]);
});

test("a connection is called by its database, and durations have room", () => {
  const said = (text: string): string => linked({ text, args: [{ type: "text", start: 0, end: text.length }] }, true).map((p) => p.text).join("");
  assert.deepEqual(["Data Source=h,1433;User ID=app;Initial Catalog=shop;Max Pool Size=4", "Host=h;Port=5432", "a = b; c"].map(said), ["shop", "h", "a = b; c"]);
  assert.deepEqual([duration("2s"), duration("1h2m3.5s"), duration("500ms"), duration(undefined)], ["2 s", "1 h 2 m 3.5 s", "500 ms", ""]);
});

test("threads without recorded processor times have none", () => {
  const timed = { userTime: 0.25, kernelTime: 0.5 }, idle = { userTime: 0, kernelTime: 0 }, missing = { userTime: null, kernelTime: null };
  assert.deepEqual([cpuText([timed]), cpuText([timed, idle]), cpuText([idle]), cpuText([timed, {}, missing]), cpuText([{}, missing])], ["0.75 s", "0.75 s", "0.00 s", "at least 0.75 s", "–"]);
  assert.deepEqual(noTimes([{ noTimes: "a sum" }, {}, { noTimes: "a sum" }]), ["a sum"]);
  assert.equal(cpuTime([missing, {}]), undefined, "no column");
});

test("versions of runtimes are those that people know", () => {
  assert.deepEqual([runtimeVersion(".NET Core", "10.0.1426.52326"), runtimeVersion(".NET Core", "3.1.32"), runtimeVersion(".NET Core", "8.0.11")], [".NET 10.0.14", ".NET Core 3.1.32", ".NET 8.0.11"]);
});

test("sums over cut lists are least numbers, and a search in them says so", () => {
  const doc = { command: "requests", schema: 2, result: {}, lists: { requests: { from: 0, listed: 3, of: 9 }, verdicts: { from: 0, listed: 1, of: 1 } } };
  assert.equal(isCut(undefined), false);
  assert.equal(isCut(doc), true);
  assert.equal(isCut(doc, "verdicts"), false);
  assert.equal(isCut(doc, "verdicts", "requests"), true);
  assert.equal(isCut({ command: "waits", schema: 2, shortened: true }, "threads"), true);
  assert.equal(atLeast(1234, true), "at least 1,234");
  assert.equal(atLeast(1234, false), "1,234");
  const whole = { command: "stacks", schema: 2, result: {} };
  assert.equal(nothingIn([whole, whole]), "");
  assert.equal(nothingIn([whole, doc]), "among those listed ");
  assert.equal(nothingIn([whole, { ...whole, warnings: [{ text: "no memory at 0x10", kind: "missing" }] }]), "that could be read ");
});

test("the field of a property has the property's name", () => {
  assert.equal(fieldName("<Name>k__BackingField"), "Name");
  assert.equal(fieldName("_name"), "_name");
  assert.equal(fieldName("<>1__state"), "<>1__state");
});

test("sentences begin with a capital, and articles fit the names that are shown", () => {
  const said = (text: string, type: string, value: string) => ({ text, args: [{ type, value, start: text.indexOf(value), end: text.indexOf(value) + value.length }] });
  const shown = (s: ReturnType<typeof said>): string => capital(s, linked(s, true)).map((p) => p.text).join("");
  assert.equal(shown(said("it holds a System.Object here", "type", "System.Object")), "It holds an object here");
  assert.equal(shown(said("it holds an Acme.Shop.Store here", "type", "Acme.Shop.Store")), "It holds a Store here");
  assert.equal(shown(said("run.Main stands", "method", "run.Main")), "run.Main stands");
  assert.equal(shown(said('thread 25 "keeper" waits', "phrase", 'thread 25 "keeper"')), 'Thread 25 "keeper" waits');
  assert.equal(withoutModule("Shop.dll!Shop.Orders.Add(Int32)"), "Shop.Orders.Add(Int32)");
  assert.equal(withoutModule("Shop.Orders.<Add>g__Check|1!0"), "Shop.Orders.<Add>g__Check|1!0");
});

test("async stacks whose methods wait for something are not among the idle ones", () => {
  const call = (depth: number, method: string, ends?: string): object => ({ depth, count: 1, kind: "async method", name: method, method, state: 0, ...(ends ? { ends: [{ count: 1, reason: ends }] } : {}) });
  const calls = [call(0, "Serve"), call(1, "Get", "a lock"), call(0, "Receive", "a socket"), call(0, "Runs")] as Parameters<typeof idleApart>[0];
  const waits = { idle: [{ count: 1, reason: "waits for data" }], operations: [{ method: "Get" }] } as unknown as Parameters<typeof idleApart>[1];
  const names = (list: { method?: string | null }[]): string => list.map((c) => c.method).join(" ");
  assert.equal(names(idleApart(calls, waits).idle), "Receive");
  assert.equal(names(idleApart(calls, waits).busy), "Serve Get Runs");
  assert.equal(idleApart(calls, undefined).idle.length, 0);
});

test("the deeds of a finding differ in their words", () => {
  const f = { kind: "deadlock", severity: "fatal", strength: "likely", text: "", next: ["dumpasync -address 00007fa2c9804db0", "dumpasync -address 00007fa2c9804f20", "waits"] } as unknown as Finding;
  assert.deepEqual(deeds(f).map((d) => d.text), ["One of their stacks", "Another of their stacks", "Who waits for whom"]);
  const gate = { ...f, kind: "no permits", next: ["dumpobj 00007fbcc28374b8", ...f.next!], args: [{ name: "kind", type: "text", value: "SemaphoreSlim", start: 0, end: 1 },
    { name: "holder", type: "phrase", value: "holder entered a semaphore", start: 10, end: 30 }, { name: "object", type: "object", address: "0x7fa2c9804f20", start: 12, end: 20 }] } as unknown as Finding;
  assert.deepEqual(deeds(gate).map((d) => d.text), ["The SemaphoreSlim", "One of their stacks", "Who has it"]);
  const text = "it holds much, most of it by 3000 Shop.Order";
  const leak = { kind: "large holder", severity: "warning", strength: "proved", text, next: ["leaks"], args: [{ type: "type", value: "Shop.Order", start: text.indexOf("Shop"), end: text.length }] } as unknown as Finding;
  assert.deepEqual(deeds(leak).map((d) => d.text), ["The largest holders", "The 3,000 Order objects"]);
});

test("the program's memory is read into without an array for each read", async () => {
  const files = new Files();
  const opened = await new Promise<number>((done, fail) => files.open("/tmp/x", files.constants.O_CREAT | files.constants.O_RDWR, 0, (e, fd) => (e ? fail(e) : done(fd as number))));
  files.write(opened, new Uint8Array([1, 2, 3, 4, 5]), 0, 5, 0, (e) => assert.equal(e, null));
  assert.equal(files.readInto(opened, 100, 3, 1), -1, "there is no memory yet");
  files.memory = new WebAssembly.Memory({ initial: 1 });
  assert.equal(files.readInto(opened, 100, 3, 1), 3);
  files.memory.grow(1); // its buffer is another one then
  assert.equal(files.readInto(opened, 70000, 9, 3), 2, "the file ends");
  assert.deepEqual([...new Uint8Array(files.memory.buffer, 99, 5), ...new Uint8Array(files.memory.buffer, 70000, 3)], [0, 2, 3, 4, 0, 4, 5, 0]);
  assert.deepEqual([files.readInto(99, 0, 1, 0), files.readInto(opened, 1 << 20, 1, 0)], [-1, -1], "no such file, and no such address");
});

test("a root has the number of its thread, and its method as in C#", () => {
  const threads = new Map([[0x1870, { index: 7, name: "deep" }], [0x11, {}]]);
  assert.equal(rootName("thread 0x1870", threads), 'thread 7 "deep"');
  assert.equal(rootName("thread 1870: App.Work+Inner.Run(Int32) rbp-20", threads), 'thread 7 "deep": App.Work.Inner.Run(int) rbp-20');
  assert.equal(rootName("thread static App.Work.t_one of thread 1870", threads), 'thread static App.Work.t_one of thread 7 "deep"');
  assert.equal(rootName("thread 11", threads), "thread 0x11", "a thread without a number keeps its id");
  assert.equal(rootName("thread statics", threads), "thread statics");
  assert.equal(rootName("static App.Thread.pool", threads), "static App.Thread.pool");
});

test("the tree of owners has the largest of those that lie beside each other first, and the rest of many types last", () => {
  const row = (depth: number, retained: number, more: object): DominatorRow => ({ depth, retained, share: 0, count: 1, ...more });
  const rows = [row(0, 10, { root: "statics" }), row(1, 3, { root: "static A.b" }), row(1, 5, { folded: "A.T" }), row(1, 9, { types: 4 }), row(0, 40, { root: "stacks" })];
  assert.deepEqual(largestFirst(rows).map((r) => r.retained), [40, 10, 5, 3, 9]);
});

test("conclusions stand in the order of the findings", () => {
  const list = [{ text: "a channel is full" }, { text: "deadlock: A waits for B" }, { text: "not among them" }];
  assert.deepEqual(rankedBy(list, [{ text: "A waits for B; 3 requests wait" }, { text: "a channel is full" }]).map((v) => v.text), ["deadlock: A waits for B", "a channel is full", "not among them"]);
  const said = { strength: "likely", severity: "high" };
  assert.deepEqual(whyWaits([{ text: "A waits for B", ...said }], [{ text: "60 requests wait for a server", kind: "silent dependency", ...said }, { text: "A waits for B; 3 requests wait", kind: "deadlock", ...said }, { text: "X holds 3 MB", kind: "large holder", ...said }]).map((v) => v.text),
    ["60 requests wait for a server", "A waits for B"], "findings of other commands stand beside those of the waits, each once");
});

test("lines end between the parts of names, and within long words alone", () => {
  assert.deepEqual(breaks("waits for WebDebuggee.Pool (SemaphoreSlim) in A.LowLevelLifoSemaphore"), ["waits for WebDebuggee.", "Pool (SemaphoreSlim) in A.", "Low", "Level", "Lifo", "Semaphore"]);
  assert.deepEqual(breaks("a VeryLongWordOfACompiler and more"), ["a Very", "Long", "Word", "Of", "ACompiler and more"]);
  assert.equal(breaks("x ConcurrentDictionary<Type, CachingContext.CacheEntry> 0x1").join(""), "x ConcurrentDictionary<Type, CachingContext.CacheEntry> 0x1");
});

test("a step has a field before its type, whatever the type's arguments are", () => {
  assert.deepEqual(["A.Dictionary<System.Int32, A.B>", "_entries A.Dictionary<System.Int32, A.B>+Entry[]", "<Pool>k__BackingField A.Pool", "A.B"].map(stepParts),
    [["", "A.Dictionary<System.Int32, A.B>"], ["_entries", "A.Dictionary<System.Int32, A.B>+Entry[]"], ["<Pool>k__BackingField", "A.Pool"], ["", "A.B"]]);
});

test("a route begins with a slash", () => {
  assert.equal(requestName({ method: "GET", route: "reports/{id}" } as Request), "GET /reports/{id}");
  assert.equal(requestName({ method: "GET", route: "/feed" } as Request), "GET /feed");
  assert.equal(requestName({ path: "*" } as Request), "*");
});
