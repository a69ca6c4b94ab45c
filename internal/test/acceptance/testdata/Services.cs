// Troubles of services as people write them, one by kind, that the other programs don't have (C# 7).
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Ferry
{
    public sealed class Leg { public readonly byte[] load; public Leg next; public int id; public Leg(int n) { load = new byte[n]; } }
    public sealed class Trip { public readonly byte[] data = new byte[400]; public CancellationTokenSource own; public Action done; public void Left(Task t) { GC.KeepAlive(data); } }
    public static class Dock
    {
        public static readonly object gate = new object(), left = new object(), right = new object();
        public static readonly CancellationTokenSource stopping = new CancellationTokenSource();
        public static readonly TaskCompletionSource<int> stopped = new TaskCompletionSource<int>();
        public static readonly SemaphoreSlim seats = new SemaphoreSlim(1, 1);
        public static readonly List<Trip> trips = new List<Trip>();
        public static readonly System.Text.StringBuilder log = new System.Text.StringBuilder();
        public static readonly List<Action> callbacks = new List<Action>();
        public static Task last = Task.CompletedTask;
        public static Leg route, ring;
        public static volatile bool open;
        public static long sum;
    }
    public sealed class Crew : TaskScheduler // two threads of its own
    {
        readonly Queue<Task> queue = new Queue<Task>();
        public Crew() { for (int i = 0; i < 2; i++) new Thread(Run) { Name = "crew " + i, IsBackground = true }.Start(); }
        void Run() { while (true) { Task t; lock (queue) { while (queue.Count == 0) Monitor.Wait(queue); t = queue.Dequeue(); } TryExecuteTask(t); } }
        protected override void QueueTask(Task t) { lock (queue) { queue.Enqueue(t); Monitor.Pulse(queue); } }
        protected override bool TryExecuteTaskInline(Task t, bool queued) { return false; }
        protected override IEnumerable<Task> GetScheduledTasks() { return queue; }
    }
    public sealed class Radio // answers by number; the listener completes them
    {
        readonly Dictionary<int, TaskCompletionSource<int>> pending = new Dictionary<int, TaskCompletionSource<int>>(); readonly Queue<string> air = new Queue<string>();
        public async void Ask(int n, int limit) { try { Dock.sum += await Call(n, limit); } catch (TimeoutException) { } }
        public async Task<int> Call(int n, int limit) { var t = new TaskCompletionSource<int>(); lock (pending) { pending[n] = t; air.Enqueue(n + (n == 12 ? ";?" : ";1")); } if (limit > 0) { await Task.WhenAny(t.Task, Task.Delay(limit)); throw new TimeoutException("call " + n); } return await t.Task; }
        public async Task Listens() { while (true) { lock (pending) while (air.Count > 0) { var f = air.Dequeue().Split(';'); int n = int.Parse(f[0]); pending[n].SetResult(int.Parse(f[1])); pending.Remove(n); } await Task.Delay(20); } }
    }
    public static class M
    {
        [StructLayout(LayoutKind.Sequential)] struct PollFd { public int fd; public short events, revents; }
        [DllImport("libc")] static extern int poll(ref PollFd p, ulong n, int timeout);
        [DllImport("libc")] static extern int pipe(int[] fds);
        static Thread T(string n, ThreadStart st, bool background = true) { var th = new Thread(st) { Name = n, IsBackground = background }; th.Start(); return th; }
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static object New(string type, params object[] args) { return Activator.CreateInstance(Type.GetType(type, true), args); }
        static Action Bound(object o, string method) { return (Action)Delegate.CreateDelegate(typeof(Action), o, o.GetType().GetMethod(method, Type.EmptyTypes)); }
        static readonly List<object> keep = new List<object>();
        static object Channel(int room) { var c = Type.GetType("System.Threading.Channels.Channel, System.Threading.Channels").GetMethod("CreateBounded", new[] { typeof(int) }).MakeGenericMethod(typeof(int)).Invoke(null, new object[] { room }); keep.Add(c); return c; }
        static ValueTask<int> Next(object c) { object r = c.GetType().BaseType.GetProperty("Reader").GetValue(c, null); return (ValueTask<int>)r.GetType().GetMethod("ReadAsync", new[] { typeof(CancellationToken) }).Invoke(r, new object[] { default(CancellationToken) }); }
        static ValueTask Put(object c, int i) { object w = c.GetType().BaseType.GetProperty("Writer").GetValue(c, null); return (ValueTask)w.GetType().GetMethod("WriteAsync", new[] { typeof(int), typeof(CancellationToken) }).Invoke(w, new object[] { i, default(CancellationToken) }); }
        static Task<bool> Moves(object e) { foreach (var i in e.GetType().GetInterfaces()) if (i.Name.StartsWith("IAsyncEnumerator")) return ((ValueTask<bool>)i.GetMethod("MoveNextAsync").Invoke(e, null)).AsTask(); return null; }
        static void Iterates() // 20 async iterators that ended, and 3 that wait
        {
            for (int i = 0; i < 23; i++)
            {
                object c = Channel(4), r = c.GetType().BaseType.GetProperty("Reader").GetValue(c, null), w = c.GetType().BaseType.GetProperty("Writer").GetValue(c, null);
                object all = r.GetType().GetMethod("ReadAllAsync").Invoke(r, new object[] { default(CancellationToken) }), e = null;
                foreach (var f in all.GetType().GetInterfaces()) if (f.Name.StartsWith("IAsyncEnumerable")) e = f.GetMethod("GetAsyncEnumerator").Invoke(all, new object[] { default(CancellationToken) });
                var t = Moves(e); keep.Add(e); keep.Add(t);
                if (i >= 20) continue;
                w.GetType().GetMethod("TryWrite").Invoke(w, new object[] { i }); t.Wait();
                t = Moves(e); w.GetType().GetMethod("TryComplete").Invoke(w, new object[] { null }); t.Wait(); keep.Add(t);
            }
        }
        static async Task Boards(object c) { while (true) { int i = await Next(c); if (i == 3) throw new FormatException("ticket 3 has no name"); } }
        static async Task Arrives(object c, int i) { await Put(c, i); }
        static async Task Ticks(object timer) { while (await (ValueTask<bool>)timer.GetType().GetMethod("WaitForNextTickAsync").Invoke(timer, new object[] { default(CancellationToken) })) Dock.sum++; }
        static async Task Sails() { await Dock.seats.WaitAsync(); try { await Task.Delay(300); await Task.Factory.StartNew(() => Dock.sum++, CancellationToken.None, TaskCreationOptions.PreferFairness, TaskScheduler.Default); Dock.sum++; } finally { Dock.seats.Release(); } }
        static async Task Locks() { Monitor.Enter(Dock.gate); await Task.Delay(50); Dock.sum++; }
        static async Task Notices(Task t, Thread other) { await t; other.Join(); }
        static async Task<int> Reads(TaskScheduler s) { return await Task.Factory.StartNew(() => 1, CancellationToken.None, TaskCreationOptions.None, s); }
        static void Retry() { while (true) Thread.Sleep(30000); }
        [MethodImpl(MethodImplOptions.NoInlining)] static bool Finds(int id) { for (Leg l = Dock.ring; l != null; l = l.next) if (l.id == id) return true; return false; }
        [MethodImpl(MethodImplOptions.NoInlining)] static bool Hangs(Exception e) { lock (Dock.gate) return e.Message.Length > 0; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Guarded() { try { throw new FormatException("bad harbor code"); } catch (Exception e) when (Hangs(e)) { } }
        // The list of Counts may end, but does not; those of Rounds and Laps are circles by design.
        [MethodImpl(MethodImplOptions.NoInlining)] static int Counts() { int n = 0; for (Leg l = Dock.ring; l != null; l = l.next) if (l.id % 2 == 0) n++; return n; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Walks(Leg l) { while ((l = l.next) != null) Dock.sum += l.id; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Rounds(Leg l) { while (true) { Dock.sum += l.id; l = l.next; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Laps(Leg first) { int n = 0; Leg l = first; do { n += l.id; l = l.next; } while (l != first); return n; }
        // The first loop of Deals is over, or never began.
        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)] static void Deals(Leg l) { if (Dock.open) while (l != null) { Dock.sum += l.id; l = l.next; } while (!Dock.open) Dock.sum++; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Leg Seeks(Leg first) { Leg l = first, f = null; do { if (l.id == 7) f = l; l = l.next; } while (l != first); return f; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Ids(Leg l) { int n = 0; while (l != null) { n += l.id; l = l.next; } return n; }
        static Leg Line(int n) { Leg first = null; for (int i = 0; i < n; i++) first = new Leg(0) { next = first, id = i }; return first; }
        static Leg Circle(int n, int before) { var last = new Leg(0); var first = last; for (int i = 1; i < n; i++) first = new Leg(0) { next = first, id = i }; last.next = first; for (int i = 0; i < before; i++) first = new Leg(0) { next = first, id = i }; return first; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Depth(Leg l) { return l == null ? 0 : 1 + Depth(l.next); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Fill(int n) { for (int i = 0; i < n; i++) { var t = new Trip(); Dock.stopped.Task.ContinueWith(t.Left); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Imports(int n) { var all = new List<Leg>(); for (int i = 0; i < n; i++) all.Add(new Leg(500)); Thread.Sleep(-1); GC.KeepAlive(all); }
        public static void Main(string[] args)
        {
            string kind = args.Length > 1 ? args[1] : args[0];
            switch (kind)
            {
                // waits
                case "readerfault": { object c = Channel(10); keep.Add(Boards(c)); Thread.Sleep(300); for (int i = 0; i < 40; i++) { keep.Add(Arrives(c, i)); Thread.Sleep(10); } break; }
                case "scheduler": { var crew = new Crew(); keep.Add(crew); for (int i = 0; i < 12; i++) keep.Add(Task.Factory.StartNew(() => { Thread.Sleep(100); Dock.sum += Reads(crew).Result; }, CancellationToken.None, TaskCreationOptions.None, crew)); break; }
                case "inline": { var done = new TaskCompletionSource<int>(); var clerk = new Thread(() => { Thread.Sleep(500); lock (Dock.gate) { } }) { Name = "clerk", IsBackground = true }; keep.Add(Notices(done.Task, clerk)); clerk.Start(); T("captain", () => { lock (Dock.gate) done.SetResult(1); }); break; }
                case "rwreader": { object rw = New("System.Threading.ReaderWriterLockSlim"); keep.Add(rw); var read = Bound(rw, "EnterReadLock"); var write = Bound(rw, "EnterWriteLock"); T("report", () => { read(); Thread.Sleep(-1); }); Thread.Sleep(200); T("update", () => write()); Thread.Sleep(200); for (int i = 0; i < 4; i++) T("query " + i, () => read()); break; }
                case "rwlost": { object rw = New("System.Threading.ReaderWriterLockSlim"); keep.Add(rw); T("report", () => Bound(rw, "EnterReadLock")()).Join(); for (int i = 0; i < 4; i++) T("update " + i, () => Bound(rw, "EnterWriteLock")()); break; }
                case "lockleak": keep.Add(Task.Run(() => Locks())); Thread.Sleep(500); for (int i = 0; i < 4; i++) T("booking " + i, () => { lock (Dock.gate) { } }); break;
                case "locksem": T("first", () => { lock (Dock.left) { Thread.Sleep(300); Dock.seats.Wait(); } }); T("second", () => { Dock.seats.Wait(); Thread.Sleep(600); lock (Dock.left) { } Dock.seats.Release(); }); break;
                case "newlock": { object a = New("System.Threading.Lock"), b = New("System.Threading.Lock"); keep.Add(a); keep.Add(b); T("first", () => { Bound(a, "Enter")(); Thread.Sleep(300); Bound(b, "Enter")(); }); T("second", () => { Bound(b, "Enter")(); Thread.Sleep(300); Bound(a, "Enter")(); }); break; }
                case "gatestarved": ThreadPool.SetMinThreads(3, 3); keep.Add(Sails()); for (int i = 0; i < 60; i++) ThreadPool.QueueUserWorkItem(o => { Dock.seats.Wait(); Dock.seats.Release(); }); Thread.Sleep(1500); Say("READY 0"); Thread.Sleep(-1); break;
                case "poolmax": { ThreadPool.SetMinThreads(2, 1); ThreadPool.SetMaxThreads(4, 4); var e = new ManualResetEventSlim(); keep.Add(e); for (int i = 0; i < 4; i++) ThreadPool.QueueUserWorkItem(o => e.Wait()); ThreadPool.QueueUserWorkItem(o => e.Set()); Thread.Sleep(3000); Say("READY 0"); Thread.Sleep(-1); break; }
                case "backoff": ThreadPool.SetMinThreads(4, 4); for (int i = 0; i < 80; i++) ThreadPool.QueueUserWorkItem(o => Retry()); Thread.Sleep(1500); Say("READY 0"); Thread.Sleep(-1); break;
                case "overlap": { var t = new Timer(o => { lock (Dock.gate) Thread.Sleep(4000); }, null, 10, 200); keep.Add(t); Thread.Sleep(4000); break; }
                case "filterhang": T("holder", () => { lock (Dock.gate) Thread.Sleep(-1); }); Thread.Sleep(200); for (int i = 0; i < 3; i++) T("parser " + i, Guarded); break;
                case "spinlockended": { object[] box = { new SpinLock(true) }; keep.Add(box); T("taker", () => { bool b = false; typeof(SpinLock).GetMethod("Enter").Invoke(box[0], new object[] { b }); }).Join(); for (int i = 0; i < 3; i++) T("waiter " + i, () => { typeof(SpinLock).GetMethod("Enter").Invoke(box[0], new object[] { false }); }); Thread.Sleep(1500); break; }
                case "listener": { var r = new Radio(); keep.Add(r); keep.Add(r.Listens()); for (int i = 0; i < 30; i++) { r.Ask(i, 0); Thread.Sleep(10); } break; }
                // busy
                case "ring": Dock.ring = new Leg(10); Dock.ring.next = new Leg(10) { next = Dock.ring }; for (int i = 0; i < 3; i++) T("finder " + i, () => Dock.sum += Finds(7) ? 1 : 0); Thread.Sleep(3000); break;
                case "endless": Dock.ring = Circle(500, 0); T("counter", () => Dock.sum += Counts()); Thread.Sleep(1500); break;
                case "leadin": Dock.ring = Circle(7, 100); T("walker", () => Walks(Dock.ring)); Thread.Sleep(1500); break;
                case "onering": Dock.ring = Circle(5, 0); Dock.route = Line(300000); for (int i = 0; i < 3; i++) { var l = i == 1 ? Dock.ring : Dock.route; T("adder " + i, () => { while (true) Dock.sum += Ids(l); }); } break;
                // memory
                case "linked": for (int i = 0; i < 60000; i++) { var t = new Trip(); t.own = CancellationTokenSource.CreateLinkedTokenSource(Dock.stopping.Token); t.own.Token.Register(() => GC.KeepAlive(t)); } break;
                case "intern": for (int i = 0; i < 300000; i++) string.Intern("customer-" + i + "-of-the-ferry-line-and-its-partners"); break;
                case "builder": for (int i = 0; i < 900000; i++) Dock.log.Append("a line of the log with number ").Append(i).Append('\n'); break;
                case "serial": { Dock.last = Dock.stopped.Task; for (int i = 0; i < 100000; i++) { var b = new byte[100]; Dock.last = Dock.last.ContinueWith(t => GC.KeepAlive(b)); } break; }
                case "continuations": Fill(60000); break;
                case "stackheld": T("importer", () => Imports(60000)); break;
                case "closures": for (int i = 0; i < 60000; i++) { var t = new Trip(); Dock.callbacks.Add(() => GC.KeepAlive(t)); } break;
                case "lohchurn": T("buffers", () => { while (true) { var b = new byte[1000000]; b[5] = 1; GC.KeepAlive(b); } }); Thread.Sleep(2000); break;
                // nothing is wrong
                case "rounds": Dock.ring = Circle(5, 0); T("dealer", () => Rounds(Dock.ring)); break;
                case "laps": Dock.ring = Circle(100000, 0); T("dealer", () => { while (true) Dock.sum += Laps(Dock.ring); }); break;
                case "passed": Dock.ring = Circle(5, 0); T("dealer", () => Deals(Dock.ring)); break;
                case "seekers": Dock.ring = Circle(100000, 0); for (int i = 0; i < 3; i++) T("seeker " + i, () => { while (true) Dock.route = Seeks(Dock.ring); }); break;
                case "iterators": Iterates(); break;
                case "periodic": { object t = New("System.Threading.PeriodicTimer", TimeSpan.FromMilliseconds(100)); keep.Add(t); for (int i = 0; i < 12; i++) keep.Add(Ticks(New("System.Threading.PeriodicTimer", TimeSpan.FromSeconds(5 + i)))); break; }
                case "poll": { var fds = new int[2]; pipe(fds); for (int i = 0; i < 3; i++) T("poller " + i, () => { var p = new PollFd { fd = fds[0], events = 1 }; poll(ref p, 1, -1); }); break; }
                case "taken": { Type bc = Type.GetType("System.Collections.Concurrent.BlockingCollection`1, System.Collections.Concurrent").MakeGenericType(typeof(string)); object q = Activator.CreateInstance(bc); keep.Add(q); var take = (Func<string>)Delegate.CreateDelegate(typeof(Func<string>), q, bc.GetMethod("Take", Type.EmptyTypes)); for (int i = 0; i < 4; i++) T("consumer " + i, () => take()); break; }
                case "foreground": { var e = new ManualResetEvent(false); T("listener", () => e.WaitOne(), false); Task.Run(() => { Thread.Sleep(3000); Say("READY 0"); }); return; }
                case "timeouts": { var r = new Radio(); keep.Add(r); for (int i = 0; i < 20; i++) { r.Ask(100 + i, 0); keep.Add(r.Call(200 + i, 100)); } break; } // calls that failed, and others that wait for an answer
                // ends
                case "abandoned": { var m = new Mutex(); T("taker", () => m.WaitOne()).Join(); m.WaitOne(); break; }
                case "fifty": { var l = new List<Exception>(); for (int i = 0; i < 50; i++) try { throw new TimeoutException("stop " + i); } catch (Exception e) { l.Add(e); } throw new AggregateException("no stop answered", l); }
                case "settwice": T("answers", () => { Dock.stopped.SetResult(1); Dock.stopped.SetResult(2); }); Thread.Sleep(3000); break;
                case "deepdata": for (int i = 0; i < 4000000; i++) Dock.route = new Leg(0) { next = Dock.route }; Dock.sum = Depth(Dock.route); break;
                case "overreleased": Dock.seats.Release(); break;
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
