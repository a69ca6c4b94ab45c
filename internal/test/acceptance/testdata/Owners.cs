// Memory by who owns it, one leak by kind, and two healthy twins of each (C# 7). Some 60 MB of ordinary stock, in ten stores, surround each of them.
// A leak adds 40 MB and more to one owner. Its twin "few" has the same owner with little. In its twin "ends" as much was made as in the leak, and
// more, and nearly all of it was released as it should be.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Acme.Platform;
namespace Mill
{
    public sealed class Sack { public readonly byte[] load; public readonly int id; public Sack(int i, int n) { id = i; load = new byte[n]; } }

    // what any service has
    public sealed class Ware<T> { public readonly byte[] load = new byte[3000]; }
    public static class Stock
    {
        static readonly Dictionary<int, Ware<int>> a = new Dictionary<int, Ware<int>>(); static readonly List<Ware<string>> b = new List<Ware<string>>(); static readonly Queue<Ware<long>> c = new Queue<Ware<long>>(); static readonly Stack<Ware<byte>> d = new Stack<Ware<byte>>(); static readonly LinkedList<Ware<char>> e = new LinkedList<Ware<char>>();
        static readonly HashSet<Ware<short>> f = new HashSet<Ware<short>>(); static readonly ConcurrentDictionary<int, Ware<uint>> g = new ConcurrentDictionary<int, Ware<uint>>(); static readonly SortedDictionary<int, Ware<bool>> h = new SortedDictionary<int, Ware<bool>>(); static readonly ConcurrentQueue<Ware<float>> i = new ConcurrentQueue<Ware<float>>(); static readonly Ware<double>[] k = new Ware<double>[2000];
        public static void Lay() { for (int n = 0; n < 2000; n++) { a[n] = new Ware<int>(); b.Add(new Ware<string>()); c.Enqueue(new Ware<long>()); d.Push(new Ware<byte>()); e.AddLast(new Ware<char>()); f.Add(new Ware<short>()); g[n] = new Ware<uint>(); h[n] = new Ware<bool>(); i.Enqueue(new Ware<float>()); k[n] = new Ware<double>(); } }
    }

    // columns: a register with rows in two orders, and columns that have nearly all of its bytes. ends: rows are deleted, and their values cleared.
    public sealed class Column { public readonly object[] values; public Column(int n) { values = new object[n]; } }
    public sealed class Row { public readonly int id; readonly byte[] state = new byte[300]; public Row(int i) { id = i; } }
    public sealed class Register
    {
        static readonly Register all = new Register(); readonly List<Row> byId = new List<Row>(), byAge = new List<Row>(); Column column;
        public static void Run(int many, bool ends) { all.column = new Column(many); for (int i = 0; i < many; i++) { var r = new Row(i); all.byId.Add(r); all.byAge.Add(r); all.column.values[i] = new byte[4000]; } if (ends) { all.byId.RemoveRange(100, many - 100); all.byAge.RemoveRange(100, many - 100); all.byId.TrimExcess(); all.byAge.TrimExcess(); Array.Clear(all.column.values, 100, many - 100); } }
    }

    // handlers: guests of a hall that lives forever. ends: each guest leaves.
    public sealed class Hall { public static readonly Hall Instance = new Hall(); public event Action<int> Opened; public void Open() { var o = Opened; if (o != null) o(1); } }
    public sealed class Guest { readonly byte[] load = new byte[4000]; public void Come(int n) { load[0]++; } }
    public static class Handlers { public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var g = new Guest(); Hall.Instance.Opened += g.Come; if (ends && i % 100 != 0) Hall.Instance.Opened -= g.Come; } Hall.Instance.Open(); } }

    // timers: each visitor has a timer that nobody disposes of. ends: each is disposed of.
    public sealed class Visitor { readonly byte[] load = new byte[4000]; Timer t; public static int ticks; void Tick(object s) { load[0]++; ticks++; } public Visitor() { t = new Timer(Tick, this, 3600000, 3600000); } public void Leave() { t.Dispose(); } }
    public static class Timers { public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var v = new Visitor(); if (ends) v.Leave(); } } }

    // threadstatic: 40 threads with a dictionary of their own, 1 MB each. ends: 300 threads have ended, 4 live.
    public static class Clerks
    {
        [ThreadStatic] static Dictionary<int, Sack> drawer; static readonly SemaphoreSlim work = new SemaphoreSlim(0);
        static void Fill(int many) { drawer = new Dictionary<int, Sack>(); for (int i = 0; i < many; i++) drawer[i] = new Sack(i, 4000); }
        public static void Run(int each, bool ends) { if (ends) for (int i = 0; i < 300; i++) Host.Thread_("clerk " + i, () => Fill(each)).Join(); for (int i = 0; i < (ends ? 4 : 40); i++) Host.Thread_("clerk " + i, () => { Fill(each); while (true) work.Wait(); }); Thread.Sleep(1500); }
    }

    // sessions: 200 sessions of 0.4 % each, in two registries. ends: sessions leave both.
    public sealed class Session { public readonly Dictionary<int, Sack> cart = new Dictionary<int, Sack>(); public readonly string id; public Session(int i, int many) { id = "s" + i; for (int k = 0; k < many; k++) cart[k] = new Sack(k, 4000); } }
    public static class Sessions
    {
        static readonly Dictionary<string, Session> byName = new Dictionary<string, Session>(); static readonly LinkedList<Session> byAge = new LinkedList<Session>();
        public static void Run(int count, int each, bool ends) { for (int i = 0; i < count; i++) { var s = new Session(i, each); byName[s.id] = s; byAge.AddLast(s); if (ends && byAge.Count > 10) { byName.Remove(byAge.First.Value.id); byAge.RemoveFirst(); } } }
    }

    // desks: 90 sessions of 0.5 % each, each on the stack of the thread that serves it. ends: 300 threads have ended, 10 serve.
    public static class Desks { static readonly SemaphoreSlim work = new SemaphoreSlim(0); static void Serve(int each) { var s = new Session(1, each); while (true) { work.Wait(); GC.KeepAlive(s); } } public static void Run(int count, int each, bool ends) { if (ends) for (int i = 0; i < 300; i++) Host.Thread_("past desk", () => new Session(2, each)).Join(); for (int i = 0; i < count; i++) Host.Thread_("desk " + i, () => Serve(each)); Thread.Sleep(2500); } }

    // weaktable: notes of charts that live on. ends: the charts don't.
    public sealed class Chart { public int id; } public sealed class Notes { public readonly byte[] ink = new byte[8000]; public int strokes; }
    public static class Charts
    {
        static readonly ConditionalWeakTable<Chart, Notes> notes = new ConditionalWeakTable<Chart, Notes>(); static readonly List<Chart> archive = new List<Chart>();
        public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var c = new Chart { id = i }; if (!ends || i % 100 == 0) archive.Add(c); notes.GetOrCreateValue(c).strokes = i; } }
    }

    // interned: each name is interned. ends: they are made and not interned.
    public static class Names { static long sum; static readonly string[] last = new string[1000]; public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var s = "miller-of-the-valley-" + i.ToString("D12") + "-and-company"; if (ends) last[i % 1000] = s; else s = string.Intern(s); sum += s.Length; } } }

    // copies: twelve texts, copied for each bill. ends: the bills share them.
    public sealed class Bill { public string payer; public int sum; }
    public static class Bills { static readonly List<Bill> all = new List<Bill>(); public static void Run(int many, bool ends) { var payers = new string[12]; for (int i = 0; i < 12; i++) payers[i] = new string((char)('a' + i), 900) + "-payer"; for (int i = 0; i < many; i++) all.Add(new Bill { sum = i, payer = ends ? payers[i % 12] : new string(payers[i % 12].ToCharArray()) }); } }

    // emitted: an assembly for each grinder, which stays until the process ends. ends: they can be unloaded.
    public static class Grinders
    {
        static int sum;
        [MethodImpl(MethodImplOptions.NoInlining)] static void Make(int i, bool ends) { var n = new AssemblyName("Mill.Made." + i); var m = AssemblyBuilder.DefineDynamicAssembly(n, ends ? AssemblyBuilderAccess.RunAndCollect : AssemblyBuilderAccess.Run).DefineDynamicModule(n.Name); var t = m.DefineType("Grinder" + i, TypeAttributes.Public); var il = t.DefineMethod("Grind", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) }).GetILGenerator(); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ret); sum += (int)t.CreateType().GetMethod("Grind").Invoke(null, new object[] { i }); }
        public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { Make(i, ends); if (ends && i % 50 == 0) { GC.Collect(); GC.WaitForPendingFinalizers(); } } if (ends) for (int i = 0; i < 4; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); } }
    }

    // pinned: belts with a pinned buffer that nobody frees. ends: each is freed.
    public sealed class Belt { GCHandle buffer = GCHandle.Alloc(new byte[3000], GCHandleType.Pinned); public int speed; public void Stop() { buffer.Free(); } }
    public static class Belts { static readonly List<Belt> all = new List<Belt>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var b = new Belt { speed = i }; all.Add(b); if (ends) b.Stop(); } } }

    // native: vats with a block of malloc each, which are never emptied. ends: each is.
    public sealed class Vat { public IntPtr floor; public Vat() { floor = Marshal.AllocHGlobal(60000); for (int k = 0; k < 60000; k += 4096) Marshal.WriteByte(floor, k, 1); } public void Empty() { Marshal.FreeHGlobal(floor); floor = IntPtr.Zero; } }
    public static class Vats { static readonly List<Vat> all = new List<Vat>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var v = new Vat(); all.Add(v); if (ends) v.Empty(); } } }

    // finalizers: the finalizer of one sluice waits for a lock, and 20,000 stand behind it. ends: the lock is free.
    public sealed class Sluice { readonly byte[] load = new byte[2000]; public static readonly object river = new object(); public static int closed; ~Sluice() { lock (river) { load[0]++; closed++; } } }
    public static class Sluices
    {
        static readonly SemaphoreSlim never = new SemaphoreSlim(0);
        [MethodImpl(MethodImplOptions.NoInlining)] static void Make(int many) { for (int i = 0; i < many; i++) new Sluice(); }
        static void Dam() { lock (Sluice.river) never.Wait(); }
        public static void Run(int many, bool dam) { if (dam) { Host.Thread_("dam", Dam); Thread.Sleep(300); } Make(many); GC.Collect(); if (!dam) GC.WaitForPendingFinalizers(); Thread.Sleep(500); GC.Collect(); }
    }

    // cache: pages by name, and none is ever removed. ends: the least recently used one goes.
    public sealed class Page { public readonly string text; public LinkedListNode<string> place; public Page(int n) { text = new string('x', n); } }
    public static class Pages
    {
        static readonly ConcurrentDictionary<string, Page> pages = new ConcurrentDictionary<string, Page>(); static readonly LinkedList<string> used = new LinkedList<string>();
        public static void Run(int many, bool ends) { var r = new Random(7); for (int i = 0; i < many; i++) { var k = "/page/" + (ends ? r.Next(20000) : i); Page p; if (pages.TryGetValue(k, out p)) { if (ends) { used.Remove(p.place); used.AddLast(p.place); } continue; } p = new Page(2000); pages[k] = p; if (ends) { p.place = used.AddLast(k); if (used.Count > 4000) { Page old; pages.TryRemove(used.First.Value, out old); used.RemoveFirst(); } } } }
    }

    // bucket: prices by a key with one hash code for all. ends: the hash code is good, and prices come and go.
    public sealed class Grade : IEquatable<Grade> { public readonly int mill; public readonly int no; readonly bool good; public Grade(int m, int n, bool g) { mill = m; no = n; good = g; } public bool Equals(Grade o) { return o != null && o.mill == mill && o.no == no; } public override bool Equals(object o) { return Equals(o as Grade); } public override int GetHashCode() { return good ? no * 31 + mill : mill; } }
    public static class Prices { static readonly Dictionary<Grade, Sack> prices = new Dictionary<Grade, Sack>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { prices[new Grade(7, i, ends)] = new Sack(i, 4000); if (ends && i >= 500) prices.Remove(new Grade(7, i - 500, true)); } } }

    // rates: little memory, and all keys in one bucket. ends: the hash code is good.
    public static class Rates { static readonly ConcurrentDictionary<Grade, string> rates = new ConcurrentDictionary<Grade, string>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) rates[new Grade(7, i, ends)] = new string('r', 600); } }

    // registrations: of a token that lives forever. ends: each is disposed of.
    public static class Closing { static readonly CancellationTokenSource closing = new CancellationTokenSource(); static void Close(object o) { ((Sack)o).load[0]++; } public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var r = closing.Token.Register(Close, new Sack(i, 4000)); if (ends) r.Dispose(); } } }

    // promises: answers that never come. ends: each comes.
    public static class Orders
    {
        static readonly ConcurrentDictionary<int, TaskCompletionSource<int>> pending = new ConcurrentDictionary<int, TaskCompletionSource<int>>(); static long sum;
        static async Task Order(int i) { var s = new Sack(i, 4000); var t = new TaskCompletionSource<int>(); pending[i] = t; sum += await t.Task; sum += s.load.Length; TaskCompletionSource<int> old; pending.TryRemove(i, out old); }
        public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { var t = Order(i); if (ends) pending[i].SetResult(i); } }
    }

    // backlog: grain comes, and its only taker has ended. ends: it is taken as fast as it comes.
    public static class Backlog { static readonly LinkedList<Sack> waiting = new LinkedList<Sack>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { waiting.AddLast(new Sack(i, 4000)); if (ends && waiting.Count > 300) waiting.RemoveFirst(); } } }

    // churn: visitors come, and most of them go: of ten one stays. ends: all go, a while later.
    public static class Visits { static readonly Dictionary<int, Sack> here = new Dictionary<int, Sack>(); public static void Run(int many, bool ends) { for (int i = 0; i < many; i++) { here[i] = new Sack(i, 4000); int left = i - 400; if (left >= 0 && (ends || left % 10 != 0)) here.Remove(left); } } }

    public static class Program
    {
        public static void Main(string[] args) // trial KIND [few|ends]
        {
            string kind = args[1], how = args.Length > 2 ? args[2] : ""; bool ends = how == "ends", few = how == "few";
            var host = Host.Start(); Stock.Lay();
            int many = few ? 200 : 10000;
            switch (kind)
            {
                case "handlers": Handlers.Run(many, ends); break;
                case "timers": Timers.Run(many, ends); break;
                case "threadstatic": Clerks.Run(few ? 5 : 250, ends); break;
                case "sessions": Sessions.Run(ends ? 1000 : 200, few ? 2 : 60, ends); break;
                case "desks": Desks.Run(ends || few ? 10 : 90, few ? 2 : 130, ends); break;
                case "weaktable": Charts.Run(few ? 200 : 8000, ends); break;
                case "interned": Names.Run(few ? 2000 : 300000, ends); break;
                case "copies": Bills.Run(few ? 200 : 30000, ends); break;
                case "emitted": Grinders.Run(few ? 40 : 1000, ends); break;
                case "pinned": Belts.Run(few ? 200 : 20000, ends); break;
                case "native": Vats.Run(few ? 200 : 7000, ends); break;
                case "finalizers": Sluices.Run(few ? 20 : 20000, how == ""); break;
                case "cache": Pages.Run(few ? 500 : ends ? 60000 : 12000, ends); break;
                case "bucket": Prices.Run(many, ends); break;
                case "rates": Rates.Run(few ? 200 : 4000, ends); break;
                case "registrations": Closing.Run(many, ends); break;
                case "promises": Orders.Run(many, ends); break;
                case "backlog": Backlog.Run(many, ends); break;
                case "churn": Visits.Run(few ? 2000 : 200000, ends); break;
                case "columns": Register.Run(many, ends); break;
            }
            if (kind != "finalizers" || how != "") { GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); }
            host.Ready(1500);
        }
    }
}
