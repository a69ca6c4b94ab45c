// Waits that a task would have ended which has failed, and twins that another task ends.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Harbor
{
    class Ledger
    {
        public readonly BlockingCollection<string> Queue = new BlockingCollection<string>();
        public readonly TaskCompletionSource<bool> Loaded = new TaskCompletionSource<bool>();
        public readonly SemaphoreSlim Signal = new SemaphoreSlim(0);
        public readonly ManualResetEventSlim Done = new ManualResetEventSlim();

        static void Parse(int i) { if (i == 17) throw new InvalidOperationException("bad record 17"); }

        public async Task Fill() { for (int i = 0; ; i++) { await Task.Delay(5); Parse(i); Queue.Add("record " + i); } }
        public void Take() { for (; ; ) GC.KeepAlive(Queue.Take()); }

        public async Task Load() { await Task.Delay(50); Parse(17); Loaded.SetResult(true); }
        public async Task WhenLoaded() { await Loaded.Task; GC.KeepAlive(this); }

        public async Task Ring() { for (int i = 0; ; i++) { await Task.Delay(5); Parse(i); Signal.Release(); } }
        public async Task OnRing() { for (; ; ) { await Signal.WaitAsync(); GC.KeepAlive(this); } }

        public async Task Finish() { await Task.Delay(50); Parse(17); Done.Set(); }
        public void OnDone() { Done.Wait(); GC.KeepAlive(this); }

        // of the twins
        public async Task Late() { await Task.Delay(600000); Queue.Add("late"); Loaded.TrySetResult(true); Signal.Release(); Done.Set(); }
    }

    static class M
    {
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static readonly List<object> Keep = new List<object>();

        static void Go(int n, Func<Task> f) { for (int i = 0; i < n; i++) Keep.Add(Task.Run(f)); }

        static void Threads(int n, ThreadStart f)
        {
            for (int i = 0; i < n; i++) new Thread(f) { IsBackground = true, Name = "waiter " + i }.Start();
        }

        static void Main(string[] args)
        {
            var x = new Ledger();
            Keep.Add(x);
            string kind = args[args.Length - 1];
            if (kind.EndsWith("late")) { Go(1, x.Late); kind = kind.Substring(0, kind.Length - 4); }
            if (kind == "collection") { Threads(4, x.Take); Go(1, x.Fill); }
            if (kind == "promise") { Go(6, x.WhenLoaded); Go(1, x.Load); }
            if (kind == "semaphore") { Go(6, x.OnRing); Go(1, x.Ring); }
            if (kind == "event") { Threads(4, x.OnDone); Go(1, x.Finish); }
            Thread.Sleep(2000);
            Say("READY 0");
            Thread.Sleep(-1);
        }
    }
}
