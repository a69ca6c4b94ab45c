// Pools of own threads whose jobs give the pool another job and wait for it (.NET 10). What has a name that ends in Well goes on; its twins are stuck.
using System; using System.Collections.Concurrent; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks;
namespace Crews
{
    class Work { public Action Run; public readonly ManualResetEventSlim Done = new ManualResetEventSlim(); }

    class Pool
    {
        readonly BlockingCollection<Work> jobs = new BlockingCollection<Work>();
        public Pool(string name, int n) { for (int i = 0; i < n; i++) All.Run(name + " " + i, Take); }
        void Take() { foreach (var w in jobs.GetConsumingEnumerable()) { w.Run(); w.Done.Set(); } }
        public Work Post(Action a) { var w = new Work { Run = a }; jobs.Add(w); return w; }
    }

    // Both workers run jobs that wait for jobs of the same pool.
    class CrewTake
    {
        readonly Pool pool = new Pool("crew", 2);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 2; i++) pool.Post(Outer); }
        void Outer() { Thread.Sleep(200); pool.Post(Inner).Done.Wait(); All.Count++; }
        void Inner() { All.Count++; }
    }

    // The only worker does.
    class CrewOne
    {
        readonly Pool pool = new Pool("lone", 1);
        public void Start() { All.Keep.Add(this); pool.Post(Outer); }
        void Outer() { pool.Post(Inner).Done.Wait(); All.Count++; }
        void Inner() { All.Count++; }
    }

    // With a promise.
    class CrewPromise
    {
        class Job { public Action Run; public readonly TaskCompletionSource<bool> Done = new TaskCompletionSource<bool>(); }
        readonly BlockingCollection<Job> jobs = new BlockingCollection<Job>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 2; i++) All.Run("oath " + i, Take); for (int i = 0; i < 2; i++) Post(Outer); }
        void Take() { foreach (var w in jobs.GetConsumingEnumerable()) { w.Run(); w.Done.SetResult(true); } }
        Job Post(Action a) { var w = new Job { Run = a }; jobs.Add(w); return w; }
        void Outer() { Thread.Sleep(200); Post(Inner).Done.Task.Wait(); All.Count++; }
        void Inner() { All.Count++; }
    }

    // With a queue and a monitor.
    class CrewQueue
    {
        readonly Queue<Work> jobs = new Queue<Work>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 2; i++) All.Run("gang " + i, Take); for (int i = 0; i < 2; i++) Post(Outer); }
        void Take() { while (true) { Work w; lock (jobs) { while (jobs.Count == 0) Monitor.Wait(jobs); w = jobs.Dequeue(); } w.Run(); w.Done.Set(); } }
        Work Post(Action a) { var w = new Work { Run = a }; lock (jobs) { jobs.Enqueue(w); Monitor.Pulse(jobs); } return w; }
        void Outer() { Thread.Sleep(200); Post(Inner).Done.Wait(); All.Count++; }
        void Inner() { All.Count++; }
    }

    // A third worker is free: the jobs end, again and again.
    class FreeWell
    {
        readonly Pool pool = new Pool("free", 3);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 2; i++) pool.Post(Outer); }
        void Outer() { while (true) { pool.Post(Inner).Done.Wait(); All.Count++; } }
        void Inner() { Thread.Sleep(5); All.Count++; }
    }

    // The inner job runs inline.
    class InlineWell
    {
        readonly Pool pool = new Pool("inline", 1);
        public void Start() { All.Keep.Add(this); pool.Post(Outer); }
        void Outer() { while (true) { var w = new Work { Run = Inner }; w.Run(); w.Done.Set(); w.Done.Wait(); All.Count++; } }
        void Inner() { Thread.Sleep(5); All.Count++; }
    }

    // The wait has a limit.
    class LimitWell
    {
        readonly Pool pool = new Pool("limit", 1);
        public void Start() { All.Keep.Add(this); pool.Post(Outer); }
        void Outer() { while (true) { pool.Post(Inner).Done.Wait(50); All.Count++; Thread.Sleep(100); } }
        void Inner() { All.Count++; }
    }

    static class All
    {
        public static readonly List<object> Keep = new List<object>(); public static int Count; static readonly ManualResetEventSlim stop = new ManualResetEventSlim();
        public static Thread Run(string name, ThreadStart body) { var t = new Thread(body) { Name = name, IsBackground = true }; t.Start(); return t; }
        static bool Is(string kind, string name) { return kind == name || kind == "moves" && name.EndsWith("Well") || kind == "stuck" && !name.EndsWith("Well"); }
        static void Main(string[] a)
        {
            string k = a[a.Length - 1];
            if (Is(k, "CrewTake")) new CrewTake().Start(); if (Is(k, "CrewOne")) new CrewOne().Start(); if (Is(k, "CrewPromise")) new CrewPromise().Start(); if (Is(k, "CrewQueue")) new CrewQueue().Start();
            if (Is(k, "FreeWell")) new FreeWell().Start(); if (Is(k, "InlineWell")) new InlineWell().Start(); if (Is(k, "LimitWell")) new LimitWell().Start();
            Thread.Sleep(2000); Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" }); stop.Wait();
        }
    }
}
