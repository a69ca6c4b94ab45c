// Waits that nobody living can end ("lost"), and waits that look alike, which code that still runs ends later, or which nobody suffers from ("kept").
// It uses only types of the core library (compile-debuggee).
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

namespace Shop
{
    // Lost: the timer that gives permits back was collected; nobody refers to it.
    public sealed class Throttle
    {
        public readonly SemaphoreSlim Permits = new SemaphoreSlim(2);
        [MethodImpl(MethodImplOptions.NoInlining)] public void Start() { new Timer(_ => Permits.Release(), null, 60000, 60000); }
        public async Task Send() { await Permits.WaitAsync().ConfigureAwait(false); M.N++; }
    }

    // Lost: the same, and threads wait. The timer has the semaphore as its state.
    public sealed class Limiter
    {
        public readonly SemaphoreSlim Permits = new SemaphoreSlim(0);
        [MethodImpl(MethodImplOptions.NoInlining)] public void Start() { new Timer(o => ((SemaphoreSlim)o).Release(), Permits, 60000, 60000); }
        public void Send() { Permits.Wait(); M.N++; }
    }

    // Lost: one of five pickers has failed before it gave its permit.
    public sealed class Picking
    {
        readonly SemaphoreSlim picked = new SemaphoreSlim(0);
        void Pick(int i) { try { if (i == 3) int.Parse("A-" + i); picked.Release(); } catch (FormatException) { M.N++; } }
        public void Run() { for (int i = 0; i < 5; i++) { int k = i; M.T("picker " + i, () => Pick(k)); } for (int i = 0; i < 5; i++) picked.Wait(); }
    }

    // Lost: what sets the event, and completes the promise, has failed before.
    public static class Startup
    {
        static readonly ManualResetEvent ready = new ManualResetEvent(false);
        static readonly ManualResetEventSlim warm = new ManualResetEventSlim();
        static readonly TaskCompletionSource<int> loaded = new TaskCompletionSource<int>();
        public static void Init() { try { M.N = int.Parse("port=8080"); ready.Set(); warm.Set(); loaded.SetResult(1); } catch (FormatException) { M.N++; } }
        public static void Serve() { ready.WaitOne(); M.N++; }
        public static void ServeWarm() { warm.Wait(); M.N++; }
        public static async Task Ask() { M.N += await loaded.Task.ConfigureAwait(false); }
    }

    // Lost: who has the turn has left; the others wait for it, and only they would pulse.
    public sealed class Ring
    {
        readonly object table = new object();
        int turn;
        public void Play(int me)
        {
            while (true)
                lock (table)
                {
                    while (turn != me) Monitor.Wait(table);
                    turn = (turn + 1) % 4;
                    M.N++;
                    Monitor.PulseAll(table);
                    if (me == 2 && M.N > 30) return;
                }
        }
    }

    // Lost: the only thread that runs its tasks has ended. Kept: it works on a long one.
    public sealed class OneThread : TaskScheduler
    {
        readonly List<Task> tasks = new List<Task>();
        readonly object gate = new object();
        public readonly int Most;
        public OneThread(int most) { Most = most; }
        public void Run()
        {
            for (int i = 0; i < Most; i++)
            {
                Task t = null;
                while (t == null) { Thread.Sleep(10); lock (gate) if (tasks.Count > 0) { t = tasks[0]; tasks.RemoveAt(0); } }
                TryExecuteTask(t);
            }
        }
        protected override void QueueTask(Task t) { lock (gate) tasks.Add(t); }
        protected override bool TryExecuteTaskInline(Task t, bool queued) { return false; }
        protected override IEnumerable<Task> GetScheduledTasks() { lock (gate) return tasks.ToArray(); }
        public static int Draws(int i) { if (i == 0) Thread.Sleep(3600000); return i; }
        public async Task Frame(int i) { M.N += await Task.Factory.StartNew(() => Draws(i), CancellationToken.None, TaskCreationOptions.None, this).ConfigureAwait(false); }
    }

    // Kept: seats whose ring is nudged by a timer, and workers without work, which pulse themselves when they take some.
    public sealed class Nudged
    {
        readonly object table = new object();
        int turn = 7;
        public void Play(int me) { lock (table) { while (turn != me) Monitor.Wait(table); turn = (turn + 1) % 3; Monitor.PulseAll(table); } }
        public void Nudge() { lock (table) { turn = 0; Monitor.PulseAll(table); } }
    }
    public sealed class Desk
    {
        readonly Queue<int> jobs = new Queue<int>();
        public void Works() { while (true) lock (jobs) { while (jobs.Count == 0) Monitor.Wait(jobs); M.N += jobs.Dequeue(); Monitor.PulseAll(jobs); } }
    }
    public sealed class Table // one seat sleeps while it has the turn
    {
        readonly object table = new object();
        int turn = 2;
        public void Play(int me)
        {
            while (true)
            {
                lock (table) while (turn != me) Monitor.Wait(table);
                Thread.Sleep(3600000);
                lock (table) { turn = (turn + 1) % 3; Monitor.PulseAll(table); }
            }
        }
    }

    public interface IGives { void Give(); }
    public sealed class Giver : IGives { public void Give() { K.S4.Release(); } }
    public sealed class Last { ~Last() { K.S3.Release(); } }
    public sealed class RouteAttribute : Attribute { }
    public sealed class Api { [Route] public static void Post() { K.S13.Release(); } }

    // Kept: each semaphore, event and promise has code of its own that ends the waits later.
    public static class K
    {
        public static readonly SemaphoreSlim S1 = S(), S2 = S(), S3 = S(), S4 = S(), S6 = S(), S7 = S(), S8 = S(), S9 = S(), S10 = S(), S11 = S(), S12 = S(), S13 = S(), S14 = S();
        public static readonly ManualResetEvent E1 = new ManualResetEvent(false), E2 = new ManualResetEvent(false), E3 = new ManualResetEvent(false), Never = new ManualResetEvent(false),
            Stop = new ManualResetEvent(false), E7 = new ManualResetEvent(false);
        public static readonly AutoResetEvent Jobs = new AutoResetEvent(false);
        public static readonly TaskCompletionSource<int> P1 = new TaskCompletionSource<int>(), P2 = new TaskCompletionSource<int>(), P3 = new TaskCompletionSource<int>();
        public static event Action Evening;
        static GCHandle handle;
        static SemaphoreSlim S() { return new SemaphoreSlim(0); }
        static async Task Waits(SemaphoreSlim s) { await s.WaitAsync().ConfigureAwait(false); M.N++; }
        static async Task Takes(SemaphoreSlim s) { while (true) { await s.WaitAsync().ConfigureAwait(false); M.N++; } }
        static async Task Asks(Task<int> t) { M.N += await t.ConfigureAwait(false); }
        static async Task GivesLater() { await Task.Delay(3600000).ConfigureAwait(false); S10.Release(); }
        static async Task CompletesLater() { await Task.Delay(3600000).ConfigureAwait(false); P2.SetResult(1); }
        static void Through(IGives g) { Thread.Sleep(3600000); g.Give(); }
        static void Computes() { double x = 1; for (long i = 0; i < 4000000000000; i++) x = x * 1.0000001 + i; M.N = (long)x; S7.Release(); }
        static void Consumes() { while (true) { Jobs.WaitOne(); M.N++; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void AddJob() { Jobs.Set(); S14.Release(); }
        static void StopAll() { Stop.Set(); }
        static void Native() { K.S9.Release(); }
        static void Wait(string name, WaitHandle h) { for (int i = 0; i < 3; i++) M.T(name + " " + i, () => { h.WaitOne(); M.N++; }); }
        public static void Start()
        {
            foreach (var s in new[] { S1, S2, S3, S4, S6, S7, S8, S9, S10, S11, S12, S13 }) for (int i = 0; i < 4; i++) M.Keep.Add(Waits(s));
            for (int i = 0; i < 4; i++) { M.Keep.Add(Takes(S14)); M.Keep.Add(Asks(P1.Task)); M.Keep.Add(Asks(P2.Task)); M.Keep.Add(Asks(P3.Task)); }
            M.Keep.Add(new Timer(_ => { S1.Release(); E1.Set(); P1.SetResult(1); }, null, 3600000, -1));
            ThreadPool.RegisterWaitForSingleObject(new AutoResetEvent(false), (o, t) => { S2.Release(); E2.Set(); P3.SetResult(1); }, null, -1, true);
            M.Keep.Add(new Last());
            M.T("through", () => Through(new Giver()));
            M.T("computes", Computes);
            Evening += () => S8.Release();
            handle = GCHandle.Alloc(new Action(Native));
            Marshal.GetFunctionPointerForDelegate((Action)handle.Target);
            M.Keep.Add(GivesLater());
            M.Keep.Add(CompletesLater());
            var c = new CancellationTokenSource(3600000);
            c.Token.Register(() => { S11.Release(); E3.Set(); });
            M.Keep.Add(c);
            AppDomain.CurrentDomain.ProcessExit += (o, e) => S12.Release();
            Wait("timer", E1); Wait("registered", E2); Wait("token", E3); Wait("never", Never); Wait("stop", Stop); 
            for (int i = 0; i < 3; i++) M.T("consumer " + i, Consumes);
            AddJob();
            var nudged = new Nudged(); var desk = new Desk(); var table = new Table();
            for (int i = 0; i < 3; i++) { int k = i; M.T("nudged " + i, () => nudged.Play(k)); M.T("desk " + i, desk.Works); M.T("table " + i, () => table.Play(k)); }
            M.Keep.Add(new Timer(_ => nudged.Nudge(), null, 3600000, -1));
        }
    }

    public static class M
    {
        [DllImport("libc")] static extern int puts(string s);
        [DllImport("libc")] static extern int fflush(IntPtr f);
        public static long N;
        public static readonly List<object> Keep = new List<object>();
        public static void T(string name, ThreadStart run) { new Thread(run) { Name = name, IsBackground = true }.Start(); }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Lost()
        {
            var throttle = new Throttle(); var limiter = new Limiter(); var ring = new Ring();
            Keep.Add(throttle); Keep.Add(limiter); throttle.Start(); limiter.Start();
            for (int i = 0; i < 14; i++) Keep.Add(throttle.Send());
            for (int i = 0; i < 3; i++) T("send " + i, limiter.Send);
            T("batch", new Picking().Run);
            T("init", Startup.Init);
            for (int i = 0; i < 3; i++) { T("serve " + i, Startup.Serve); T("warm " + i, Startup.ServeWarm); }
            for (int i = 0; i < 4; i++) { int k = i; T("seat " + i, () => ring.Play(k)); Keep.Add(Startup.Ask()); }
        }

        static void Draw(int most)
        {
            var s = new OneThread(most);
            T("render", s.Run);
            for (int i = most == 1 ? 1 : 0; i < 5; i++) Keep.Add(s.Frame(i));
        }

        static void RunLost() { Lost(); Draw(1); Ready(); }
        static void RunKept() { K.Start(); Draw(1000); Ready(); K.S6.Release(); }
        public static void Main(string[] args) { if (args[0] == "lost") RunLost(); else RunKept(); }

        static void Ready()
        {
            Thread.Sleep(600);
            for (int i = 0; i < 2; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
            Thread.Sleep(500);
            puts("READY");
            fflush(IntPtr.Zero);
            Thread.Sleep(-1);
        }
    }
}
