// Programs that look ill and are not, each with a twin that is (C# 7). Each kind says what is true of it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Quay
{
    public sealed class AsyncQueue
    {
        readonly Queue<int> items = new Queue<int>(); readonly Queue<TaskCompletionSource<int>> takers = new Queue<TaskCompletionSource<int>>(); readonly Queue<TaskCompletionSource<int>> room = new Queue<TaskCompletionSource<int>>(); readonly int most;
        public AsyncQueue(int n) { most = n; }
        public Task<int> Take() { lock (items) { if (items.Count > 0) { if (room.Count > 0) room.Dequeue().SetResult(0); return Task.FromResult(items.Dequeue()); } var t = new TaskCompletionSource<int>(); takers.Enqueue(t); return t.Task; } }
        public async Task Put(int x) { while (true) { TaskCompletionSource<int> t; lock (items) { if (takers.Count > 0) { takers.Dequeue().SetResult(x); return; } if (items.Count < most) { items.Enqueue(x); return; } t = new TaskCompletionSource<int>(); room.Enqueue(t); } await t.Task; } }
    }
    public sealed class AsyncGate { volatile TaskCompletionSource<int> t = new TaskCompletionSource<int>(); public Task Wait() { return t.Task; } public void Open() { t.TrySetResult(0); } }
    public static class M
    {
        static readonly object gate = new object(); static readonly List<object> keep = new List<object>(); static readonly TaskCompletionSource<int> news = new TaskCompletionSource<int>();
        static readonly SemaphoreSlim lease = new SemaphoreSlim(1); static readonly Dictionary<int, byte[]> cache = new Dictionary<int, byte[]>(); public static double sum; static int left = 500; static readonly ManualResetEvent ready = new ManualResetEvent(false);
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type k = Type.GetType("System.Console, System.Console"); k.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static async Task Polls() { while (true) { if (await Task.WhenAny(news.Task, Task.Delay(60000)) == news.Task) return; } }
        static async Task Waits() { sum += await news.Task; }
        static readonly CancellationTokenSource stopping = new CancellationTokenSource();
        static async Task Reads(Task<int> t) { sum += await t; }
        static volatile bool enough;
        static void Computes() { for (long i = 0; !enough; i++) sum += Math.Sqrt(i); }
        static void NeverEnds() { for (long i = 0; ; i++) sum += Math.Sqrt(i); }
        static void Counts(object o) { double s = 0; for (int i = 0; i < 30000000; i++) s += Math.Sqrt(i); sum += s; if (Interlocked.Decrement(ref left) == 0) ready.Set(); }
        static async Task Retries() { for (int n = 1; ; n = Math.Min(2 * n, 64)) { try { throw new TimeoutException(); } catch (TimeoutException) { } await Task.Delay(500 * n); } }
        static async Task StandsBy() { while (!await lease.WaitAsync(2000)) sum++; }
        static readonly AsyncQueue jobs = new AsyncQueue(int.MaxValue), full = new AsyncQueue(5); static readonly AsyncGate open = new AsyncGate();
        static async Task Consumes() { while (true) sum += await jobs.Take(); }
        static async Task ConsumesUntil(CancellationToken t) { while (!t.IsCancellationRequested) { int x = await jobs.Take(); if (x > 0) await Task.Delay(x); } }
        static async Task Paused() { while (true) { await open.Wait(); sum++; await Task.Delay(1000); } }
        static async Task All(Func<int, Task> start) { var list = new List<Task>(); for (int i = 0; i < 20; i++) list.Add(start(i)); await Task.WhenAll(list); sum++; }
        static async Task Works() { while (true) { int x = await jobs.Take(); sum += x + await news.Task; } }
        static async Task Produces() { while (true) await full.Put(1); }
        static async Task Five() { for (int i = 0; i < 5; i++) sum += await jobs.Take(); }
        static void Locks(int waiters) { T("holder", () => { lock (gate) Computes(); }); Thread.Sleep(200); for (int i = 0; i < waiters; i++) T("waiter " + i, () => { lock (gate) sum++; }); }
        static readonly string a = new string('a', 2000000);
        static void Searches() { string text = a + a, part = a + "b" + a; sum += text.IndexOf(part.Substring(1000000, 2000000), StringComparison.Ordinal); }
        static void Holds(Action work, int waiters) { T("holder", () => { lease.Wait(); work(); lease.Release(); }); Thread.Sleep(200); for (int i = 0; i < waiters; i++) T("waiter " + i, () => { lease.Wait(); sum++; lease.Release(); }); }
        static void Naps() { while (true) lock (gate) Thread.Sleep(1); }
        static void Watches() { lock (gate) while (!enough) Thread.Sleep(10); }
        public static void Main(string[] args)
        {
            string kind = args.Length > 1 ? args[1] : args[0];
            switch (kind)
            {
                case "polls": for (int i = 0; i < 40; i++) keep.Add(Waiting(Polls())); break; // a minute without news is an answer, too
                case "promise": for (int i = 0; i < 40; i++) keep.Add(Waiting(Waits())); break; // its twin has no other end
                case "canceled": { var t = new TaskCompletionSource<int>(); stopping.Token.Register(o => ((TaskCompletionSource<int>)o).TrySetCanceled(), t); for (int i = 0; i < 40; i++) keep.Add(Reads(t.Task)); break; } // only a token can end it, and its registration has no name
                case "consumers": keep.Add(All(i => i < 10 ? Consumes() : ConsumesUntil(stopping.Token))); break; // there is nothing to consume
                case "paused": keep.Add(All(i => Paused())); break; // nobody has opened the gate
                case "workers": for (int i = 0; i < 20; i++) { jobs.Put(1).Wait(); } keep.Add(All(i => Works())); break; // a twin: they have jobs, and wait for something else
                case "producers": keep.Add(All(i => Produces())); break; // another: the queue is full, and nobody takes from it
                case "five": keep.Add(All(i => Five())); break; // another: each wants five, and then something goes on
                case "straight": T("holder", () => { lock (gate) Searches(); }); Thread.Sleep(200); for (int i = 0; i < 6; i++) T("waiter " + i, () => { lock (gate) sum++; }); break; // no loop of the program is in its lock
                case "naps": for (int i = 0; i < 6; i++) T("napper " + i, Naps); break; // each has it for a millisecond
                case "watches": T("holder", Watches); Thread.Sleep(200); for (int i = 0; i < 6; i++) T("waiter " + i, () => { lock (gate) sum++; }); break; // its twin: the holder sleeps as briefly, and waits for what nobody does
                case "permits": Holds(Searches, 6); break; // who has the permit is in no loop
                case "permitloop": Holds(Computes, 6); break; // its twin: in a loop
                case "passes": Locks(2); break; // two threads wait for one that computes
                case "held": Locks(3); break; // its twin: a third thread waits
                case "endless": T("holder", () => { lock (gate) NeverEnds(); }); Thread.Sleep(200); T("waiter", () => { lock (gate) sum++; }); break; // another twin: no way leads out of the loop
                case "batch": for (int i = 0; i < 500; i++) ThreadPool.QueueUserWorkItem(Counts); T("batch", () => ready.WaitOne()); break;
                case "backoff": for (int i = 0; i < 25; i++) keep.Add(Retries()); break; // each caller sleeps until its next try
                case "standby": lease.Wait(); T("leader", () => { while (true) { Thread.Sleep(500); sum++; } }); keep.Add(StandsBy()); break; // a standby asks every two seconds
                case "timers": for (int i = 0; i < 500; i++) keep.Add(new Timer(o => sum++, null, 3600000 + i, 3600000)); break;
                case "leader": for (int i = 0; i < 3; i++) T("node " + i, () => Leads(true)); break; // one leads and works, the others ask each second
                case "idleleader": for (int i = 0; i < 3; i++) T("node " + i, () => Leads(false)); break; // its twin: it only waits for what nobody does
                case "transfers": for (int i = 0; i < 4; i++) keep.Add(Transfers(i, (i + 1) % 4)); for (int i = 0; i < 4; i++) keep.Add(Transfers(i, (i + 2) % 4)); break; // a circle of four accounts, and four behind it
                case "deposits": for (int i = 0; i < 3; i++) keep.Add(Transfers(i, i + 1)); keep.Add(Deposits(3)); for (int i = 0; i < 4; i++) keep.Add(Transfers(i, (i + 2) % 4)); break; // its twin: no circle, for one of them sleeps an hour
                case "overlaps": keep.Add(new Timer(Prints, null, 10, 50)); Thread.Sleep(2500); break; // each callback takes eight times as long as the period
                case "ticks": keep.Add(new Timer(Ticks, null, 10, 50)); break; // its twin
                case "cache": for (int i = 0; i < 5000; i++) cache[i] = new byte[1200]; break; // 6 MB, and it does not grow
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
        static Task Waiting(Task t) { return t; }
        static readonly Mutex leads = new Mutex(); static volatile bool down;
        static void Leads(bool works) { while (!down) { if (!leads.WaitOne(TimeSpan.FromSeconds(1))) continue; try { if (works) while (!down) { sum++; Thread.Sleep(200); } else while (!down) Thread.Sleep(200); } finally { leads.ReleaseMutex(); } } }
        static SemaphoreSlim Of(int i) { lock (accounts) { SemaphoreSlim s; if (!accounts.TryGetValue(i, out s)) accounts[i] = s = new SemaphoreSlim(1, 1); return s; } }
        static readonly Dictionary<int, SemaphoreSlim> accounts = new Dictionary<int, SemaphoreSlim>();
        static async Task Transfers(int from, int to) { await Of(from).WaitAsync(); try { await Task.Delay(300); await Of(to).WaitAsync(); try { sum++; } finally { Of(to).Release(); } } finally { Of(from).Release(); } }
        static async Task Deposits(int to) { await Of(to).WaitAsync(); try { await Task.Delay(3600000); } finally { Of(to).Release(); } }
        static void Prints(object o) { lock (gate) Thread.Sleep(400); }
        static void Ticks(object o) { lock (gate) Thread.Sleep(5); }
    }
}
