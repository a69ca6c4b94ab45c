// Mixed: threads that wait for each other through waits of different kinds, and other ways to hang.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

namespace Contoso
{
    class Order { }
    class Ledger { }
    class Registry { }
    class Gate { }

    class Opens
    {
        public static int Value;
        static Opens() { Mixed.ConstructorRuns.Set(); Mixed.EnterRegistry(); Value = 1; }
    }

    static class Mixed
    {
        static readonly MethodInfo print = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
        internal static void Line(string s) { print.Invoke(null, new object[] { s }); }
        internal static Registry registry = new Registry();
        internal static ManualResetEventSlim ConstructorRuns = new ManualResetEventSlim();
        static List<Thread> all = new List<Thread>();
        internal static readonly object never = new object();
        static ManualResetEventSlim forever = new ManualResetEventSlim();

        static Thread Start(string name, Action a)
        {
            var t = new Thread(() => a()) { Name = name, IsBackground = true };
            lock (all) all.Add(t);
            t.Start();
            return t;
        }

        internal static void EnterRegistry() { lock (registry) { } }

        // monitor -> semaphore -> task -> monitor
        static Order order = new Order();
        static SemaphoreSlim stock = new SemaphoreSlim(1, 1);

        static void HoldsOrder(ManualResetEventSlim go)
        {
            lock (order) { go.Set(); Thread.Sleep(400); stock.Wait(); }
        }

        static void HoldsStock(ManualResetEventSlim go)
        {
            stock.Wait();
            try
            {
                go.Wait();
                Task.Factory.StartNew(ReadOrder, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Wait();
            }
            finally { stock.Release(); }
        }

        static void ReadOrder() { lock (order) { } }

        // monitor -> join -> event kept by nobody
        static Ledger ledger = new Ledger();
        static void HoldsLedger()
        {
            var t = Start("closes the ledger", () => forever.Wait());
            lock (ledger) { t.Join(); }
        }
        static void WantsLedger() { lock (ledger) { } }

        // monitor -> Task of the thread pool -> Lock -> monitor
        static Gate gate = new Gate();
        static object newLock;
        static Action enter, leave;
        static void HoldsGate(ManualResetEventSlim go)
        {
            lock (gate) { go.Wait(); enter(); leave(); }
        }
        static void HoldsLock(ManualResetEventSlim go)
        {
            enter();
            go.Set();
            WaitAsync().GetAwaiter().GetResult();
            leave();
        }
        static async Task WaitAsync() { await InnerAsync(); }
        static async Task InnerAsync() { await Task.Run(() => { lock (gate) { } }); }

        // Lazy recursion over two threads
        static Lazy<string> left = new Lazy<string>(() => { Thread.Sleep(300); return right.Value + "l"; });
        static Lazy<string> right = new Lazy<string>(() => { Thread.Sleep(300); return left.Value + "r"; });

        // upgradeable read with blocked writers
        static object rw = Activator.CreateInstance(Type.GetType("System.Threading.ReaderWriterLockSlim"));
        static Action Of(object o, string name) { return (Action)Delegate.CreateDelegate(typeof(Action), o, o.GetType().GetMethod(name, Type.EmptyTypes)); }
        static void Upgrades() { Of(rw, "EnterUpgradeableReadLock")(); Thread.Sleep(500); Of(rw, "EnterWriteLock")(); }
        static void Reads() { Of(rw, "EnterReadLock")(); Thread.Sleep(900); forever.Wait(); }
        static void Writes() { Thread.Sleep(700); Of(rw, "EnterWriteLock")(); }

        static void Body(int i) { forever.Wait(); }

        // an async method holds a semaphore and awaits what needs it
        static SemaphoreSlim mutex = new SemaphoreSlim(1, 1);
        static async Task Outer() { await mutex.WaitAsync(); try { await Nested(); } finally { mutex.Release(); } }
        static async Task Runs() { await Task.Yield(); lock (ledger) { } }
        static async Task Nested() { await mutex.WaitAsync(); mutex.Release(); }

        static TaskCompletionSource<int> promised = new TaskCompletionSource<int>();

        static async Task Writer(object channelWriter, MethodInfo write, int n)
        {
            var v = (ValueTask)write.Invoke(channelWriter, new object[] { "item " + n, CancellationToken.None });
            await v;
        }

        static void Main(string[] args)
        {
            var what = args.Length > 0 ? args[0] : "mixed";
            if (what == "storm") { Storm.Run(); return; }
            Type lockType = Type.GetType("System.Threading.Lock");
            newLock = Activator.CreateInstance(lockType);
            enter = Of(newLock, "Enter"); leave = Of(newLock, "Exit");

            var go = new ManualResetEventSlim();
            Start("holds the stock", () => HoldsStock(go));
            Thread.Sleep(100);
            Start("holds the order", () => HoldsOrder(go));
            Start("holds the ledger", HoldsLedger);
            Thread.Sleep(100);
            Start("wants the ledger", WantsLedger);
            var go2 = new ManualResetEventSlim();
            Start("holds the gate", () => HoldsGate(go2));
            Thread.Sleep(100);
            Start("holds the Lock", () => HoldsLock(go2));
            Start("left", () => { GC.KeepAlive(left.Value); });
            Start("right", () => { GC.KeepAlive(right.Value); });
            Start("upgrades", Upgrades);
            Start("reads", Reads);
            Start("writes one", Writes);
            Start("writes two", Writes);
            Start("holds the registry", () => { lock (registry) { ConstructorRuns.Wait(); Thread.Sleep(100); GC.KeepAlive(Opens.Value); } });
            Thread.Sleep(100);
            Start("constructs", () => { GC.KeepAlive(Opens.Value); });
            Start("waits for running code", () => Runs().Wait());
            Start("joins", () => { foreach (var t in all.ToArray()) if (t.Name == "holds the ledger") t.Join(); });
            Start("async mutex", () => Outer().Wait());
            Start("waits for a promise", () => { var v = promised.Task.Result; });
            Start("wait all", () => Task.WaitAll(promised.Task, Outer()));
            
            try
            {
                Assembly par = Assembly.Load("System.Threading.Tasks.Parallel");
                MethodInfo m = null;
                foreach (var x in par.GetType("System.Threading.Tasks.Parallel").GetMethods())
                    if (x.Name == "For" && !x.IsGenericMethod && x.GetParameters().Length == 3 && x.GetParameters()[2].ParameterType == typeof(Action<int>) && x.GetParameters()[0].ParameterType == typeof(int)) m = x;
                Start("parallel", () => m.Invoke(null, new object[] { 0, 4, (Action<int>)Body }));
            }
            catch (Exception e) { Line("FACT noparallel " + e.Message); }

            try
            {
                Assembly ch = Assembly.Load("System.Threading.Channels");
                var create = (object)null;
                foreach (var x in ch.GetType("System.Threading.Channels.Channel").GetMethods())
                    if (x.Name == "CreateBounded" && x.GetParameters()[0].ParameterType == typeof(int))
                        create = x.MakeGenericMethod(typeof(string)).Invoke(null, new object[] { 2 });
                kept = create;
                object w = create.GetType().GetProperty("Writer").GetValue(create);
                MethodInfo write = w.GetType().GetMethod("WriteAsync");
                for (int i = 0; i < 5; i++) { var t = Writer(w, write, i); writers.Add(t); }
                Start("writes to a channel", () => writers[4].Wait());
            }
            catch (Exception e) { Line("FACT nochannel " + e.Message); }

            Thread.Sleep(3000);
            lock (all) foreach (var t in all) Line("FACT " + t.ManagedThreadId + " " + t.Name);
            Line("READY");
            Thread.Sleep(Timeout.Infinite);
        }
        static object kept;
        static List<Task> writers = new List<Task>();
    }

    class Poller
    {
        static int ticks;
        public static void Tick(object o) { Interlocked.Increment(ref ticks); lock (Mixed.never) { } }
    }

    class Import
    {
        public readonly int N;
        public Import(int n) { N = n; }
        public void Step() { lock (Mixed.never) { } }
        public static async Task Fetch() { await Task.Yield(); lock (Mixed.never) { } }
    }

    static class Storm
    {
        static List<Timer> timers = new List<Timer>();
        static List<Task> tasks = new List<Task>();
        public static void Run()
        {
            ThreadPool.SetMaxThreads(6, 4);
            ThreadPool.SetMinThreads(6, 4);
            var t = new Thread(() => { lock (Mixed.never) Thread.Sleep(Timeout.Infinite); }) { Name = "never lets go", IsBackground = true };
            t.Start();
            Thread.Sleep(200);
            for (int i = 0; i < 3; i++) timers.Add(new Timer(Poller.Tick, null, 0, 1));
            for (int i = 0; i < 200; i++) { var n = new Import(i); tasks.Add(Task.Run(() => n.Step())); }
            for (int i = 0; i < 50; i++) { var n = new Import(i); ThreadPool.QueueUserWorkItem(x => n.Step()); }
            for (int i = 0; i < 100; i++) tasks.Add(Import.Fetch());
            Thread.Sleep(8000);
            Mixed.Line("READY");
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
