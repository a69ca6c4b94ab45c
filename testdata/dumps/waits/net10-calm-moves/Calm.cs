// Chains of who waits for whom that end in something that goes on ("moves"), and in something that does not, though it looks alike ("stuck").
// It uses only types of the core library (compile-debuggee).
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

namespace Calm
{
    // A cell of a list that is locked hand over hand: the next cell is entered before this one is left.
    public sealed class Cell { public readonly SemaphoreSlim Gate = new SemaphoreSlim(1, 1); public Cell Next; }

    public sealed class Walks
    {
        public readonly Cell Head; readonly Task never; readonly bool stuck;
        public Walks(int cells, bool stuck, Task never) { this.stuck = stuck; this.never = never; for (int i = 0; i < cells; i++) Head = new Cell { Next = Head }; }

        // Stuck: what has the last cell waits for a promise that nobody completes.
        public async Task Walk()
        {
            while (true)
            {
                var c = Head;
                await c.Gate.WaitAsync().ConfigureAwait(false);
                while (c.Next != null)
                {
                    var n = c.Next;
                    await n.Gate.WaitAsync().ConfigureAwait(false);
                    if (stuck && n.Next == null) await never.ConfigureAwait(false);
                    else await Task.Delay(3).ConfigureAwait(false);
                    c.Gate.Release();
                    c = n;
                }
                c.Gate.Release();
            }
        }

        // The same with threads. Stuck: the one that has the last cell sleeps for ever.
        public void Run()
        {
            while (true)
            {
                var c = Head;
                c.Gate.Wait();
                while (c.Next != null)
                {
                    var n = c.Next;
                    n.Gate.Wait();
                    if (stuck && n.Next == null) Thread.Sleep(-1);
                    else Thread.Sleep(2);
                    c.Gate.Release();
                    c = n;
                }
                c.Gate.Release();
            }
        }
    }

    // A Mutex that is entered by a constructor, and released by a delegate.
    public sealed class Guard : IDisposable
    {
        readonly Mutex mutex;
        public Guard(Mutex m) { mutex = m; m.WaitOne(); }
        public void Dispose() { Action release = mutex.ReleaseMutex; release(); }
    }

    // Threads that write one after the other, each for 3 ms. Stuck: the first one sleeps for ever.
    public sealed class Files
    {
        readonly Mutex mutex = new Mutex(); readonly bool stuck; int count;
        public Files(bool stuck) { this.stuck = stuck; }
        public void First() { while (true) using (new Guard(mutex)) { if (stuck) Thread.Sleep(-1); Thread.Sleep(3); } }
        public void Write() { while (true) using (new Guard(mutex)) { count++; Thread.Sleep(3); } }
    }

    // What one thread makes for all: it computes. Stuck: it waits by running for a flag that nobody sets, or waits for an event.
    public static class Models
    {
        static bool ready, stuck; static readonly ManualResetEvent nobody = new ManualResetEvent(false); public static long Sum;
        static long Compute() { long h = 7; for (long i = 0; i < 300000000000; i++) h = h * 31 + i; return h; }
        static long Spin() { while (!Volatile.Read(ref ready)) { } return 1; }
        static readonly Lazy<long> model = new Lazy<long>(() => Compute()), never = new Lazy<long>(() => Spin());
        static class Tables { public static readonly long Size; static Tables() { if (stuck) nobody.WaitOne(); Size = Compute(); } public static long Get() { return Size; } }
        public static void Use(bool isStuck) { Sum += isStuck ? never.Value : model.Value; }
        public static void Look(bool isStuck) { stuck = isStuck; Sum += Tables.Get(); }
    }

    public static class Program
    {
        static readonly List<object> keep = new List<object>();
        static void Say(string text) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { text }); }
        static void Start(string name, ThreadStart run) { new Thread(run) { Name = name, IsBackground = true }.Start(); }
        public static void Main(string[] a)
        {
            bool stuck = a[0] == "stuck";
            var never = new TaskCompletionSource<int>(); keep.Add(never);
            var walks = new Walks(10, stuck, never.Task); var runs = new Walks(6, stuck, never.Task); var files = new Files(stuck); keep.Add(walks); keep.Add(runs); keep.Add(files);
            for (int i = 0; i < 14; i++) keep.Add(walks.Walk());
            Start("first", files.First); Thread.Sleep(200);
            for (int i = 0; i < 6; i++)
            {
                Start("walk " + i, runs.Run); Start("write " + i, files.Write);
                Start("use " + i, () => Models.Use(stuck)); Start("look " + i, () => Models.Look(stuck));
            }
            Thread.Sleep(1500);
            Say("READY 0");
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
