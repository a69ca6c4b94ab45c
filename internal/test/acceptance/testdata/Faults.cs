// Faults of a service, one by kind (C# 7): what a triage finds first stands in trials_test.go.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Depot
{
    public static class Catalog { public static readonly object rw = Activator.CreateInstance(Type.GetType("System.Threading.ReaderWriterLockSlim")); public static readonly object index = new object(); }
    public static class Prices { public static int V; static Prices() { Thread.Sleep(300); V = Taxes.V + 1; } }
    public static class Taxes { public static int V; static Taxes() { Thread.Sleep(300); V = Prices.V + 1; } }
    public static class Late { public static int V; static Late() { var t = new Thread(() => { V = Read(); }) { Name = "late helper" }; t.Start(); t.Join(); } [MethodImpl(MethodImplOptions.NoInlining)] static int Read() { return V; } }
    public sealed class Res { readonly int n; public Res(int i) { n = i; } ~Res() { lock (Sync) { GC.KeepAlive(n); } } public static readonly object Sync = new object(); }
    public sealed class Slow { byte[] b = new byte[100]; ~Slow() { Thread.Sleep(1000); GC.KeepAlive(b); } }
    public sealed class Publisher { public static event EventHandler Changed; public static int Count { get { return Changed == null ? 0 : Changed.GetInvocationList().Length; } } }
    public sealed class View { readonly byte[] state = new byte[2000]; public void On(object s, EventArgs e) { GC.KeepAlive(state); } }
    public static class Cache { public static readonly System.Collections.IDictionary pages = (System.Collections.IDictionary)Activator.CreateInstance(Type.GetType("System.Collections.Concurrent.ConcurrentDictionary`2, System.Collections.Concurrent").MakeGenericType(typeof(string), typeof(byte[]))); }
    public sealed class Session { public byte[] data = new byte[500]; public string user; }
    public static class Ambient { public static readonly AsyncLocal<Session> current = new AsyncLocal<Session>(); public static readonly List<ExecutionContext> kept = new List<ExecutionContext>(); }
    public static class Reply { public static readonly TaskCompletionSource<int> tcs = new TaskCompletionSource<int>(); }
    public static class Timers { public static readonly List<Timer> all = new List<Timer>(); public static int fired; public static readonly object gate = new object(); }
    public static class Tokens { public static readonly CancellationTokenSource app = new CancellationTokenSource(); }
    public static class Handles { public static readonly List<GCHandle> all = new List<GCHandle>(); }
    public static class Slots { public static readonly Lazy<int> first = new Lazy<int>(() => { Thread.Sleep(300); return second.Value + 1; }), second = new Lazy<int>(() => { Thread.Sleep(300); return first.Value + 1; }); public static readonly Lazy<int> self = new Lazy<int>(() => self.Value + 1); }
    public sealed class Pump : SynchronizationContext
    {
        readonly Queue<KeyValuePair<SendOrPostCallback, object>> posted = new Queue<KeyValuePair<SendOrPostCallback, object>>();
        public override void Post(SendOrPostCallback d, object s) { lock (posted) { posted.Enqueue(new KeyValuePair<SendOrPostCallback, object>(d, s)); Monitor.PulseAll(posted); } }
        public void Run() { while (true) { KeyValuePair<SendOrPostCallback, object> w; lock (posted) { while (posted.Count == 0) Monitor.Wait(posted); w = posted.Dequeue(); } w.Key(w.Value); } }
    }
    public static class M
    {
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static void Rw(string m) { Catalog.rw.GetType().GetMethod(m, Type.EmptyTypes).Invoke(Catalog.rw, null); }
        static readonly List<object> keep = new List<object>();
        static async Task<int> Ask(int i) { int n = await Reply.tcs.Task; return n + i; }
        static async Task<int> Load() { await Task.Delay(100); return 4711; }
        static readonly SemaphoreSlim once = new SemaphoreSlim(1, 1);
        static async Task Outer() { await once.WaitAsync(); try { await Inner(); } finally { once.Release(); } }
        static async Task Inner() { await once.WaitAsync(); try { await Task.Delay(1); } finally { once.Release(); } }
        static async Task Fails(int i) { await Task.Delay(10); throw new InvalidOperationException("no stock for " + i % 7); }
        static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n + 1) + Deeper(n); }
        static int Deeper(int n) { return Deep(n + 1) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void MakeGarbage(int n) { for (int i = 0; i < n; i++) new Slow(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void MakeRes() { for (int i = 0; i < 10; i++) new Res(i); }
        static void Storm(object o) { lock (Timers.gate) { Interlocked.Increment(ref Timers.fired); Thread.Sleep(200); } }
        static void Sync() { Load().Wait(); }
        static int Nested(int depth) { if (depth == 0) { Thread.Sleep(50); return 1; } return Task.Run(() => Nested(depth - 1)).Result; }
        static readonly SemaphoreSlim seats = new SemaphoreSlim(1, 1), work = new SemaphoreSlim(0);
        static void Seat() { seats.Wait(); try { Thread.Sleep(3600000); } finally { seats.Release(); } }
        static bool stop;
        static void Spin() { while (!stop) { } }
        public static void Main(string[] args)
        {
            string kind = args.Length > 1 ? args[1] : args[0];
            switch (kind)
            {
                case "upgrade":
                    T("writer", () => { Rw("EnterUpgradeableReadLock"); lock (Catalog.index) { Thread.Sleep(500); Rw("EnterWriteLock"); } });
                    T("reader", () => { Rw("EnterReadLock"); Thread.Sleep(300); lock (Catalog.index) { } });
                    for (int i = 0; i < 6; i++) T("later reader " + i, () => { Thread.Sleep(900); Rw("EnterReadLock"); Rw("ExitReadLock"); });
                    break;
                case "storm": for (int i = 0; i < 20; i++) Timers.all.Add(new Timer(Storm, null, 10, 10)); Thread.Sleep(6000); break;
                case "producer":
                    {
                        Type bc = Type.GetType("System.Collections.Concurrent.BlockingCollection`1, System.Collections.Concurrent").MakeGenericType(typeof(string));
                        object q = Activator.CreateInstance(bc, new object[] { 10 }); keep.Add(q);
                        var add = (Action<string>)Delegate.CreateDelegate(typeof(Action<string>), q, bc.GetMethod("Add", new[] { typeof(string) }));
                        for (int i = 0; i < 5; i++) T("producer " + i, () => { for (int k = 0; ; k++) add("order " + k); });
                        break;
                    }
                case "cctor": T("prices", () => { GC.KeepAlive(Prices.V); }); T("taxes", () => { GC.KeepAlive(Taxes.V); }); break;
                case "cctorjoin": T("late user", () => { GC.KeepAlive(Late.V); }); T("late user 2", () => { Thread.Sleep(500); GC.KeepAlive(Late.V); }); break;
                case "finlock": T("holder", () => { lock (Res.Sync) { MakeRes(); GC.Collect(); GC.WaitForPendingFinalizers(); } }); break;
                case "finslow": MakeGarbage(5000); GC.Collect(); break;
                case "events": for (int i = 0; i < 20000; i++) Publisher.Changed += new View().On; break;
                case "cache": for (int i = 0; i < 60000; i++) Cache.pages["/page/" + i] = new byte[800]; break;
                case "asynclocal": for (int i = 0; i < 60000; i++) { Ambient.current.Value = new Session { user = "u" + i }; Ambient.kept.Add(ExecutionContext.Capture()); } Ambient.current.Value = null; break;
                case "asynclocaltimers": for (int i = 0; i < 40000; i++) { Ambient.current.Value = new Session { user = "u" + i, data = new byte[1000] }; Timers.all.Add(new Timer(o => { }, null, 3600000, -1)); } Ambient.current.Value = null; break;
                case "tcs": for (int i = 0; i < 25; i++) keep.Add(Ask(i)); break;
                case "lazy": T("lazy 1", () => { GC.KeepAlive(Slots.first.Value); }); T("lazy 2", () => { Thread.Sleep(100); GC.KeepAlive(Slots.second.Value); }); break;
                case "selfjoin": T("self joiner", () => Thread.CurrentThread.Join()); break;
                case "reenter": for (int i = 0; i < 8; i++) keep.Add(Outer()); break;
                case "pulse": { object q = keep; for (int i = 0; i < 5; i++) T("consumer " + i, () => { lock (q) Monitor.Wait(q); }); break; }
                case "ui": { var p = new Pump(); T("ui", () => { SynchronizationContext.SetSynchronizationContext(p); p.Post(o => { GC.KeepAlive(Load().Result); }, null); p.Run(); }); break; }
                case "nested": ThreadPool.SetMinThreads(2, 2); for (int i = 0; i < 40; i++) keep.Add(Task.Run(() => Nested(6))); Thread.Sleep(2000); break;
                case "spin": for (int i = 0; i < 2; i++) T("spinner " + i, Spin); break;
                case "threads": for (int i = 0; i < 400; i++) { var e = new ManualResetEventSlim(); T("worker " + i, () => e.Wait()); } break;
                case "timers": for (int i = 0; i < 60000; i++) { var d = new byte[300]; Timers.all.Add(new Timer(o => GC.KeepAlive(d), null, 3600000, 3600000)); } Timers.all.Clear(); break;
                case "tokens": for (int i = 0; i < 60000; i++) { var d = new byte[300]; Tokens.app.Token.Register(() => GC.KeepAlive(d)); } break;
                case "handles": for (int i = 0; i < 60000; i++) Handles.all.Add(GCHandle.Alloc(new byte[300])); Handles.all.Clear(); break;
                case "unobserved": for (int i = 0; i < 60; i++) keep.Add(Fails(i)); break;
                case "native": for (int i = 0; i < 3000; i++) { IntPtr p = Marshal.AllocHGlobal(100000); for (int k = 0; k < 100000; k += 4096) Marshal.WriteByte(p, k, 1); } break;
                case "countdown": { Type ct = Type.GetType("System.Threading.CountdownEvent, System.Threading"); object c = Activator.CreateInstance(ct, new object[] { 3 }); keep.Add(c); for (int i = 0; i < 2; i++) T("part " + i, () => ct.GetMethod("Signal", Type.EmptyTypes).Invoke(c, null)); var wait = (Action)Delegate.CreateDelegate(typeof(Action), c, ct.GetMethod("Wait", Type.EmptyTypes)); T("gatherer", () => wait()); break; }
                case "strings": { var l = new List<string>(); keep.Add(l); for (int i = 0; i < 200000; i++) l.Add(new string("region=eu-west-1;tenant=blue".ToCharArray())); break; }
                case "mutexlost": { var m = new Mutex(); T("taker", () => { m.WaitOne(); }); Thread.Sleep(200); var s = new SemaphoreSlim(1, 1); T("sem taker", () => s.Wait()); for (int i = 0; i < 4; i++) T("sem waiter " + i, () => { Thread.Sleep(300); s.Wait(); }); keep.Add(s); break; }
                case "lockended": { object o = new object(); keep.Add(o); T("ended", () => Monitor.Enter(o)); Thread.Sleep(300); for (int i = 0; i < 4; i++) T("left " + i, () => { lock (o) { } }); break; }
                case "overflow": Deep(1); break;
                case "lazyself": GC.KeepAlive(Slots.self.Value); break;
                case "semsync": for (int i = 0; i < 5; i++) T("seat " + i, () => Seat()); break;
                case "semsignal": for (int i = 0; i < 5; i++) T("worker " + i, () => { while (true) { work.Wait(); GC.KeepAlive(work); } }); break;
                case "disposed": { var s = new SemaphoreSlim(1); s.Dispose(); s.Wait(); break; }
                case "modified": { var l = new List<int> { 1, 2, 3 }; foreach (int i in l) l.Add(i); break; }
                case "keymissing": GC.KeepAlive(new Dictionary<string, int>()["sku-9"]); break;
                case "aggr": Task.WaitAll(Fails(1), Fails(2), Fails(3)); break;
                case "threadcrash": { var t = T("importer", () => { throw new FormatException("line 17: '12,x' is no number", new ArgumentException("x")); }); t.Join(); break; }
                case "timercrash": Timers.all.Add(new Timer(o => { throw new InvalidOperationException("tick"); }, null, 10, -1)); Thread.Sleep(5000); break;
                case "wrongthread": { int n = 0; var d = new Dictionary<int, int>(); for (int i = 0; i < 8; i++) T("w" + i, () => { while (true) { int k = Interlocked.Increment(ref n); d[k] = k; } }); Thread.Sleep(20000); break; }
                case "staticthrow": GC.KeepAlive(Bad.V); break;
                case "spannull": unsafe { int* p = null; *p = 1; } break;
                case "failfast": Environment.FailFast("queue corrupted", new InvalidOperationException("checksum")); break;
                case "exitlock": lock (keep) { var t = T("logger", () => { lock (keep) { } }); AppDomain.CurrentDomain.ProcessExit += (s, e) => { t.Join(); }; T("main ends", () => { Thread.Sleep(500); Say("READY 0"); }); Environment.Exit(0); } break;
            }
            Thread.Sleep(2500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
    public static class Bad { public static readonly int V = Parse(); static int Parse() { try { return int.Parse("seven"); } catch (FormatException e) { throw new InvalidOperationException("configuration: port", e); } } }
}
