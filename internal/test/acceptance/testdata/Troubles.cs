// Troubles that Modes.cs and Faults.cs don't have, one by kind, and processes with which nothing is wrong (C# 7).
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Mill
{
    public sealed class Service { public readonly int v; public Service() { v = M.Load(M.never).Result; } }
    public static class Plan { public static readonly Lazy<int> value = new Lazy<int>(() => { var t = Task.Run(() => value.Value); Thread.Sleep(200); return t.Result; }); }
    public static class Rates { public static int V; static Rates() { V = Task.Run(() => Read()).Result; } [MethodImpl(MethodImplOptions.NoInlining)] static int Read() { return V + 1; } }
    public static class Exits { public static int V; static Exits() { Environment.Exit(3); V = 1; } }
    public static class FailsFast { public static int V; static FailsFast() { Environment.FailFast("no configuration"); } }
    public static class Aborts { public static int V; static Aborts() { M.abort(); } }
    public sealed class Grain { public readonly byte[] sack; public Grain next; public Grain(int n) { sack = new byte[n]; } }
    public sealed class Bad { readonly int n; public Bad(int i) { n = i; } public override int GetHashCode() { return 7; } public override bool Equals(object o) { var b = o as Bad; return b != null && b.n == n; } }
    public sealed class Loop { public Loop inner; public override string ToString() { RuntimeHelpers.EnsureSufficientExecutionStack(); return "[" + inner + "]"; } }
    public static class Store
    {
        [ThreadStatic] public static List<Grain> own;
        public static readonly ThreadLocal<List<Grain>> local = new ThreadLocal<List<Grain>>(() => new List<Grain>(), true);
        public static readonly ConditionalWeakTable<object, Grain> notes = new ConditionalWeakTable<object, Grain>();
        public static readonly List<object> keys = new List<object>();
        public static readonly List<Exception> errors = new List<Exception>();
        public static readonly Queue<Grain> queue = new Queue<Grain>();
        public static readonly List<GCHandle> handles = new List<GCHandle>();
        public static readonly Dictionary<Bad, int> bad = new Dictionary<Bad, int>();
        public static Grain chain;
        public static byte[] whole;
    }
    public static class Gate { public static int taken; public static readonly SemaphoreSlim permits = new SemaphoreSlim(2, 2), ticks = new SemaphoreSlim(0, 8); public static volatile bool open; public static readonly object left = new object(), right = new object(); public static long sum; }
    public static class M
    {
        [DllImport("libc")] public static extern void abort(); [DllImport("libc")] static extern int mkfifo(string p, uint mode); [DllImport("libc")] static extern IntPtr strlen(IntPtr p);
        [DllImport("libc", EntryPoint = "usleep")] static extern int usleep(uint n);
        public static readonly TaskCompletionSource<int> never = new TaskCompletionSource<int>();
        public static async Task<int> Load(TaskCompletionSource<int> t) { return await t.Task + 1; }
        static Thread T(string n, ThreadStart st, bool background = true) { var th = new Thread(st) { Name = n, IsBackground = background }; th.Start(); return th; }
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static object New(string type, params object[] args) { return Activator.CreateInstance(Type.GetType(type, true), args); }
        static Action Bound(object o, string method) { return (Action)Delegate.CreateDelegate(typeof(Action), o, o.GetType().GetMethod(method, Type.EmptyTypes)); }
        static readonly List<object> keep = new List<object>();
        [MethodImpl(MethodImplOptions.NoInlining)] static int Ping(int n) { return Pong(n + 1) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Pong(int n) { return n == -1 ? 0 : Ping(n + 1) * 2; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Poll() { while (!Gate.open) { } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Hash() { long h = 17; while (true) { for (int i = 0; i < 1000000; i++) h = h * 31 + i; Gate.sum += h; Thread.Sleep(0); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Take() { while (Interlocked.CompareExchange(ref Gate.taken, 1, 0) != 0) { } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Until() { SpinWait.SpinUntil(() => Gate.open); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Once() { var w = new SpinWait(); while (!Gate.open) w.SpinOnce(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Churn() { var ring = new object[5000]; var r = new Random(1); for (int i = 0; ; i++) ring[r.Next(ring.Length)] = new byte[r.Next(200, 4000)]; }
        static void Serve() { while (true) { Thread.Sleep(20); long h = 1; for (int i = 0; i < 1000; i++) h = h * 31 + i; Gate.sum += h; } }
        static async Task Forget() { await Gate.permits.WaitAsync(); if (Environment.TickCount != 0) return; Gate.permits.Release(); }
        static async Task Use(int i) { await Gate.permits.WaitAsync(); try { await Task.Delay(1); } finally { Gate.permits.Release(); } }
        static async Task Slow(int i) { await Task.Delay(3600000); GC.KeepAlive(i); }
        static async Task Waited(Task t) { await t; GC.KeepAlive(t); }
        static async Task Circle(Task[] all, int i) { await Task.Yield(); while (all[1 - i] == null) await Task.Delay(1); await all[1 - i]; }
        static async Task Consume(object reader) { var read = reader.GetType().GetMethod("ReadAsync", new[] { typeof(CancellationToken) }); while (true) { var v = (ValueTask<int>)read.Invoke(reader, new object[] { default(CancellationToken) }); await v; } }
        static async Task Write(object writer, int i) { var write = writer.GetType().GetMethod("WriteAsync", new[] { typeof(int), typeof(CancellationToken) }); await (ValueTask)write.Invoke(writer, new object[] { i, default(CancellationToken) }); }
        static async Task Fails() { await Task.Delay(10); throw new InvalidOperationException("in an async Main"); }
        static void Quietly(Action a) { try { a(); } catch (Exception e) { Gate.sum += e.Message.Length; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Depth(string s) { int n = 0; Quietly(() => { n = int.Parse(s); }); Gate.sum += n; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Pins() { var b = new byte[20000][]; for (int i = 0; i < b.Length; i++) { b[i] = new byte[2000]; Store.handles.Add(GCHandle.Alloc(b[i], GCHandleType.Pinned)); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static Grain Chain(int n) { Grain g = null; for (int i = 0; i < n; i++) g = new Grain(500) { next = g }; return g; }
        public static void Main(string[] args)
        {
            string kind = args.Length > 1 ? args[1] : args[0];
            switch (kind)
            {
                // waits
                case "rwtask": { object rw = New("System.Threading.ReaderWriterLockSlim"); keep.Add(rw); var read = Bound(rw, "EnterReadLock"); var write = Bound(rw, "EnterWriteLock"); T("reader", () => { read(); Task.Run(write).Wait(); }); break; }
                case "barrier": { object b = New("System.Threading.Barrier, System.Threading", 3); keep.Add(b); var meet = Bound(b, "SignalAndWait"); for (int i = 0; i < 2; i++) T("part " + i, () => meet()); break; }
                case "channel": { var c = Type.GetType("System.Threading.Channels.Channel, System.Threading.Channels").GetMethod("CreateBounded", new[] { typeof(int) }).MakeGenericMethod(typeof(int)).Invoke(null, new object[] { 20 }); keep.Add(c); object w = c.GetType().BaseType.GetProperty("Writer").GetValue(c, null); for (int i = 0; i < 70; i++) keep.Add(Write(w, i)); break; }
                case "consumers": { var c = Type.GetType("System.Threading.Channels.Channel, System.Threading.Channels").GetMethod("CreateUnbounded", Type.EmptyTypes).MakeGenericMethod(typeof(int)).Invoke(null, null); keep.Add(c); object r = c.GetType().BaseType.GetProperty("Reader").GetValue(c, null); for (int i = 0; i < 8; i++) keep.Add(Consume(r)); break; }
                case "waitall": ThreadPool.SetMinThreads(2, 2); for (int i = 0; i < 30; i++) keep.Add(Task.Run(() => { var t = new Task[4]; for (int k = 0; k < t.Length; k++) t[k] = Task.Run(() => Thread.Sleep(300)); Task.WaitAll(t); })); Thread.Sleep(1500); Say("READY 0"); Thread.Sleep(-1); break;
                case "ctorresult": for (int i = 0; i < 5; i++) T("maker " + i, () => { keep.Add(new Service()); }); break;
                case "lazytask": T("planner", () => { Gate.sum = Plan.value.Value; }); break;
                case "cctortask": T("rates user", () => { Gate.sum = Rates.V; }); break;
                case "factory": { var e = new ManualResetEvent(false); keep.Add(e); Type d = Type.GetType("System.Collections.Concurrent.ConcurrentDictionary`2, System.Collections.Concurrent").MakeGenericType(typeof(string), typeof(int)); object map = Activator.CreateInstance(d); keep.Add(map); Func<string, int> f = key => { e.WaitOne(); return 1; }; var add = (Func<string, Func<string, int>, int>)Delegate.CreateDelegate(typeof(Func<string, Func<string, int>, int>), map, d.GetMethod("GetOrAdd", new[] { typeof(string), typeof(Func<string, int>) })); for (int i = 0; i < 12; i++) T("caller " + i, () => add("k", f)); break; }
                case "lostpermits": for (int i = 0; i < 2; i++) keep.Add(Forget()); Thread.Sleep(300); for (int i = 0; i < 9; i++) keep.Add(Use(i)); break;
                case "lostsync": for (int i = 0; i < 2; i++) T("taker " + i, () => Gate.permits.Wait()).Join(); for (int i = 0; i < 4; i++) T("waiter " + i, () => { Gate.permits.Wait(); Gate.permits.Release(); }); break;
                case "circle": { var all = new Task[2]; keep.Add(all); for (int i = 0; i < 2; i++) all[i] = Circle(all, i); break; }
                case "promise": for (int i = 0; i < 3; i++) keep.Add(Load(never)); break;
                case "events": { var one = new AutoResetEvent(false); var two = new AutoResetEvent(false); keep.Add(one); keep.Add(two); T("one", () => { one.WaitOne(); two.Set(); }); T("two", () => { two.WaitOne(); one.Set(); }); break; }
                case "manylocks": { for (int i = 0; i < 5; i++) { int n = i; var l = new object(); T("holder " + n, () => { lock (l) Thread.Sleep(-1); }); Thread.Sleep(20); T("waiter " + n, () => { lock (l) { } }); } break; }
                case "exitcctor": AppDomain.CurrentDomain.ProcessExit += (s, e) => { var t = T("closer", () => { Gate.sum = Exits.V; }); T("teller", () => { Thread.Sleep(800); Say("READY 0"); }); t.Join(); }; Gate.sum = Exits.V; break;
                case "threadsdelay": for (int i = 0; i < 300; i++) T(null, () => Thread.Sleep(3600000)); break;
                case "threadslock": T("holder", () => { lock (keep) Thread.Sleep(-1); }); Thread.Sleep(200); for (int i = 0; i < 300; i++) T(null, () => { lock (keep) { } }); break;
                case "timedsem": for (int i = 0; i < 2; i++) T("taker " + i, () => Gate.permits.Wait()).Join(); for (int i = 0; i < 4; i++) T("poller " + i, () => { while (true) if (Gate.permits.Wait(60000)) Gate.permits.Release(); }); break;
                case "tryenter": T("holder", () => { lock (keep) Thread.Sleep(-1); }); Thread.Sleep(200); for (int i = 0; i < 4; i++) T("trier " + i, () => { while (true) if (Monitor.TryEnter(keep, 60000)) Monitor.Exit(keep); }); break;
                case "rwended": { object rw = New("System.Threading.ReaderWriterLockSlim"); keep.Add(rw); T("writer", () => Bound(rw, "EnterWriteLock")()).Join(); for (int i = 0; i < 4; i++) T("reader " + i, () => { Bound(rw, "EnterReadLock")(); }); break; }
                case "nestedmonitor": T("consumer", () => { lock (Gate.left) lock (Gate.right) Monitor.Wait(Gate.right); }); Thread.Sleep(200); for (int i = 0; i < 3; i++) T("producer " + i, () => { lock (Gate.left) lock (Gate.right) Monitor.PulseAll(Gate.right); }); break;
                case "timerdispose": { var t = new Timer(o => { Thread.Sleep(200); lock (Gate.left) { } }, null, 10, 10); T("closer", () => { lock (Gate.left) { Thread.Sleep(400); var e = new ManualResetEvent(false); t.Dispose(e); e.WaitOne(); } }); Thread.Sleep(1000); break; }
                case "cancelcallback": { var c = new CancellationTokenSource(); keep.Add(c); c.Token.Register(() => { lock (Gate.left) { } }); T("owner", () => { lock (Gate.left) { Thread.Sleep(300); var t = new Thread(() => c.Cancel()) { Name = "canceler", IsBackground = true }; t.Start(); t.Join(); } }); Thread.Sleep(500); break; }
                case "locktask": T("owner", () => { lock (Gate.left) Task.Run(() => { lock (Gate.left) { } }).Wait(); }); break;
                case "console": for (int i = 0; i < 5; i++) T("writer " + i, () => { Thread.Sleep(2000); while (true) Say(new string('x', 200)); }); break;
                case "whenall": { var t = new Task[10]; for (int i = 0; i < t.Length; i++) t[i] = i == 3 ? Load(never) : Task.CompletedTask; keep.Add(Waited(Task.WhenAll(t))); T("waiter", () => Task.WhenAll(t).Wait()); break; }
                case "poolevent": { ThreadPool.SetMinThreads(4, 4); var e = new ManualResetEvent(false); keep.Add(e); for (int i = 0; i < 60; i++) ThreadPool.QueueUserWorkItem(o => e.WaitOne()); Thread.Sleep(300); Say("READY 0"); Thread.Sleep(-1); break; }
                case "poollock": ThreadPool.SetMinThreads(3, 3); T("owner", () => { lock (Gate.left) { Thread.Sleep(500); Task.Run(() => { Gate.sum++; }).Wait(); } }); Thread.Sleep(200); for (int i = 0; i < 200; i++) ThreadPool.QueueUserWorkItem(o => { lock (Gate.left) { } }); Thread.Sleep(1200); Say("READY 0"); Thread.Sleep(-1); break;
                case "mutexended": { var m = new Mutex(); keep.Add(m); T("taker", () => { m.WaitOne(); Thread.Sleep(-1); }); Thread.Sleep(200); for (int i = 0; i < 4; i++) T("waiter " + i, () => { m.WaitOne(); }); break; }
                case "shards": { var all = new Dictionary<int, byte[]>[8]; keep.Add(all); for (int i = 0; i < all.Length; i++) { all[i] = new Dictionary<int, byte[]>(); for (int k = 0; k < 8000; k++) all[i][k] = new byte[500]; } break; }
                case "readers": for (int i = 0; i < 150; i++) { var q = new Queue<int>(); T("connection " + i, () => { while (true) lock (q) { if (q.Count == 0) Monitor.Wait(q, 30000); } }); } break;
                // busy
                case "poll": for (int i = 0; i < 3; i++) T("poller " + i, Poll); Thread.Sleep(4000); break;
                case "spinuntil": for (int i = 0; i < 3; i++) T("spinner " + i, Until); Thread.Sleep(2000); break;
                case "spinonce": for (int i = 0; i < 3; i++) T("spinner " + i, Once); Thread.Sleep(2000); break;
                case "interlocked": Gate.taken = 1; for (int i = 0; i < 3; i++) T("taker " + i, Take); Thread.Sleep(2000); break;
                case "busy": for (int i = 0; i < 2; i++) T("hasher " + i, Hash); Thread.Sleep(2000); break;
                case "churn": for (int i = 0; i < 2; i++) T("allocator " + i, Churn); Thread.Sleep(3000); break;
                case "thrower": T("parser", () => { while (true) Depth("x"); }); Thread.Sleep(3000); break;
                // memory
                case "threadstatic": T("own", () => { Store.own = new List<Grain>(); for (int i = 0; i < 60000; i++) Store.own.Add(new Grain(500)); Thread.Sleep(-1); }); Thread.Sleep(1000); break;
                case "threadlocal": for (int k = 0; k < 4; k++) T("local " + k, () => { for (int i = 0; i < 15000; i++) Store.local.Value.Add(new Grain(500)); Thread.Sleep(-1); }); Thread.Sleep(1000); break;
                case "weaktable": for (int i = 0; i < 40000; i++) { var o = new object(); Store.keys.Add(o); Store.notes.Add(o, new Grain(600)); } break;
                case "queue": for (int i = 0; i < 60000; i++) Store.queue.Enqueue(new Grain(500)); break;
                case "chain": Store.chain = Chain(60000); break;
                case "bigarray": Store.whole = new byte[300 << 20]; Store.whole[5] = 1; break;
                case "pinned": Pins(); break;
                case "strong": for (int i = 0; i < 60000; i++) GCHandle.Alloc(new Grain(300)); break;
                case "weak": for (int i = 0; i < 60000; i++) { var g = new Grain(10); Store.keys.Add(g); GCHandle.Alloc(g, GCHandleType.Weak); } break;
                case "dependent": { Type dh = Type.GetType("System.Runtime.DependentHandle"); for (int i = 0; i < 60000; i++) { var g = new Grain(10); Store.keys.Add(g); Activator.CreateInstance(dh, new object[] { g, new Grain(100) }); } break; }
                case "delays": for (int i = 0; i < 40000; i++) keep.Add(Slow(i)); break;
                case "rented": { Type p = Type.GetType("System.Buffers.ArrayPool`1").MakeGenericType(typeof(byte)); object shared = p.GetProperty("Shared").GetValue(null, null); var rent = (Func<int, byte[]>)Delegate.CreateDelegate(typeof(Func<int, byte[]>), shared, p.GetMethod("Rent")); for (int i = 0; i < 20000; i++) keep.Add(rent(2000)); break; }
                // nothing is wrong
                case "worker": T("server", Serve, false); Task.Run(() => { Thread.Sleep(3000); Say("READY 0"); }); return;
                case "sleeper": T("sleeper", () => Thread.Sleep(-1)); break;
                case "deep": Quietly(() => { var l = new Loop(); l.inner = l; Gate.sum += l.ToString().Length; }); break;
                case "fifo": { string p = Path.Combine(Path.GetTempPath(), "mill-" + Environment.TickCount); mkfifo(p, 0x1b6); T("opener", () => { using (var f = new FileStream(p, FileMode.Open, FileAccess.Read)) f.ReadByte(); }); Thread.Sleep(500); break; }
                case "native": T("sleeper", () => { while (true) usleep(50000000); }); break;
                case "ticker": { var t = new Timer(o => { Gate.sum++; }, null, 10, 10); keep.Add(t); for (int i = 0; i < 3; i++) T("ticked " + i, () => { while (true) { Gate.ticks.Wait(1000); } }); break; }
                // ends
                case "debugfail": Type.GetType("System.Diagnostics.Debug").GetMethod("Fail", new[] { typeof(string) }).Invoke(null, new object[] { "the mill has no water" }); break;
                case "failfastempty": Environment.FailFast(""); break;
                case "failfastonly": Environment.FailFast(null, new InvalidOperationException("only an exception")); break;
                case "failfastpool": ThreadPool.QueueUserWorkItem(o => Environment.FailFast("from the pool")); Thread.Sleep(5000); break;
                case "failfastcctor": Gate.sum = FailsFast.V; break;
                case "abortcctor": Gate.sum = Aborts.V; break;
                case "asyncmain": Fails().GetAwaiter().GetResult(); break;
                case "pool": ThreadPool.QueueUserWorkItem(o => { throw new InvalidOperationException("in the pool"); }); Thread.Sleep(5000); break;
                case "mutual": Gate.sum = Ping(0); break;
                case "limit": { var l = new List<byte[]>(); while (true) l.Add(new byte[100000]); }
                case "strlenlow": Gate.sum = (long)strlen(new IntPtr(0x10)); break;
                case "waitallfails": Task.WaitAll(Task.Run(() => { throw new FormatException("first"); }), Task.Run(() => { throw new InvalidOperationException("second"); })); break;
                case "continued": Task.Run(() => { throw new FormatException("first"); }).ContinueWith(t => { Gate.sum = t.Exception.InnerExceptions.Count; T("reporter", () => { throw t.Exception; }); }); Thread.Sleep(5000); break;
                case "lazyfails": { var l = new Lazy<int>(() => { throw new FormatException("no plan"); }); Gate.sum = l.Value; break; }
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
