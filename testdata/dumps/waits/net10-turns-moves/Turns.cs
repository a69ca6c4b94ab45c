// Code that waits for what soon comes ("moves"), and for what never comes, though it looks alike ("stuck").
// It uses only types of the core library (compile-debuggee).
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

namespace Turns
{
    // Writers of a log share an asynchronous lock. Stuck: the one inside reads a pipe that nobody writes to.
    public sealed class Log
    {
        readonly SemaphoreSlim gate = new SemaphoreSlim(1, 1);
        readonly FileStream file;
        readonly bool stuck;

        public Log(string path, bool stuck)
        {
            this.stuck = stuck;
            file = new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.ReadWrite, 4096, true);
        }

        public async Task Run()
        {
            var b = new byte[6000];
            while (true)
            {
                await gate.WaitAsync().ConfigureAwait(false);
                try
                {
                    if (stuck) await file.ReadAsync(b, 0, b.Length).ConfigureAwait(false);
                    else
                    {
                        if (file.Length > 1 << 20) file.SetLength(0);
                        await file.WriteAsync(b, 0, b.Length).ConfigureAwait(false);
                        await file.FlushAsync().ConfigureAwait(false);
                    }
                }
                finally { gate.Release(); }
            }
        }
    }

    // A timer completes the promise of a batch. Stuck: nothing refers to the timer, and it was collected.
    public sealed class Group
    {
        readonly object sync = new object();
        TaskCompletionSource<int> batch = Make.Promise();
        Timer timer;

        public void Start(bool stuck)
        {
            if (stuck) new Timer(_ => Flush(), null, 100000000, 300);
            else timer = new Timer(_ => Flush(), null, 300, 300);
        }

        void Flush()
        {
            TaskCompletionSource<int> b;
            lock (sync) { b = batch; batch = Make.Promise(); }
            b.SetResult(1);
        }

        public Task<int> Append() { lock (sync) return batch.Task; }
    }

    // A method completes one promise for all who saved meanwhile. Stuck: it waits for ever first.
    public sealed class Coalescer
    {
        readonly bool stuck;
        TaskCompletionSource<int> next;
        public Coalescer(bool stuck) { this.stuck = stuck; }

        public Task<int> Save()
        {
            lock (this)
            {
                if (next == null) { next = Make.Promise(); Later(); }
                return next.Task;
            }
        }

        async void Later()
        {
            await Task.Delay(stuck ? -1 : 400).ConfigureAwait(false);
            TaskCompletionSource<int> t;
            lock (this) { t = next; next = null; }
            await Task.Delay(30).ConfigureAwait(false);
            t.SetResult(1);
        }
    }

    // A method completes the promises of a batch. A dead list has them, too. Stuck: it polls for what nobody sets.
    public sealed class Loader
    {
        readonly List<TaskCompletionSource<int>> pending = new List<TaskCompletionSource<int>>();
        readonly bool stuck;
        bool scheduled, ready;
        public int Seen;
        public Loader(bool stuck) { this.stuck = stuck; }

        public Task<int> Load()
        {
            lock (pending)
            {
                var t = Make.Promise();
                pending.Add(t);
                if (!scheduled) { scheduled = true; Dispatch(); }
                return t.Task;
            }
        }

        void Count(TaskCompletionSource<int>[] batch) { Seen += new List<TaskCompletionSource<int>>(batch).Count; }

        async void Dispatch()
        {
            await Task.Delay(10).ConfigureAwait(false);
            TaskCompletionSource<int>[] batch;
            lock (pending) { batch = pending.ToArray(); pending.Clear(); scheduled = false; }
            Count(batch);
            if (stuck) while (!ready) await Task.Delay(50).ConfigureAwait(false);
            await Task.Delay(400).ConfigureAwait(false);
            foreach (var b in batch) b.TrySetResult(1);
        }
    }

    // One renews a token for all. Stuck: it polls for one that nobody makes.
    public sealed class Tokens
    {
        readonly SemaphoreSlim gate = new SemaphoreSlim(1, 1);
        readonly bool stuck;
        string token;
        int until;
        public Tokens(bool stuck) { this.stuck = stuck; }

        public async Task<string> Get()
        {
            await gate.WaitAsync().ConfigureAwait(false);
            try
            {
                if (token == null || Environment.TickCount >= until)
                {
                    if (stuck) while (token == null) await Task.Delay(120).ConfigureAwait(false);
                    await Task.Delay(120).ConfigureAwait(false);
                    token = "t";
                    until = Environment.TickCount + 20;
                }
                return token;
            }
            finally { gate.Release(); }
        }
    }

    // A thread completes the promise of a batch. Stuck: it waits for an event first.
    public sealed class Flusher
    {
        readonly ManualResetEventSlim go = new ManualResetEventSlim(false);
        readonly bool stuck;
        TaskCompletionSource<int> done = Make.Promise();
        public Flusher(bool stuck) { this.stuck = stuck; }
        public Task<int> Append() { lock (this) return done.Task; }

        public void Run()
        {
            while (true)
            {
                if (stuck) go.Wait(); else Thread.Sleep(200);
                TaskCompletionSource<int> d;
                lock (this) { d = done; done = Make.Promise(); }
                d.SetResult(1);
            }
        }
    }

    public static class Make
    {
        public static TaskCompletionSource<int> Promise() { return new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously); }
    }

    public static class Program
    {
        [DllImport("libc")] static extern int mkfifo(string path, uint mode);
        [DllImport("libc")] static extern int puts(string text);
        [DllImport("libc")] static extern int fflush(IntPtr file);

        static readonly List<object> keep = new List<object>();
        static long n;

        static async Task Commit(Group g) { do n += await g.Append().ConfigureAwait(false); while (n >= 0); }
        static async Task Edit(Coalescer c, int i) { while (n >= 0) { await Task.Delay(i).ConfigureAwait(false); n += await c.Save().ConfigureAwait(false); } }
        static async Task Resolve(Loader l) { do n += await l.Load().ConfigureAwait(false); while (n >= 0); }
        static async Task Call(Tokens t, int i) { while (n >= 0) { n += (await t.Get().ConfigureAwait(false)).Length; await Task.Delay(5 + i % 9).ConfigureAwait(false); } }
        static async Task Write(Flusher f) { do n += await f.Append().ConfigureAwait(false); while (n >= 0); }

        static void Start(bool stuck)
        {
            string path = "/tmp/turns-" + Environment.TickCount;
            if (stuck) mkfifo(path, 0x180);
            var log = new Log(path, stuck);
            File.Delete(path);
            var group = new Group();
            group.Start(stuck);
            var coalescer = new Coalescer(stuck);
            var loader = new Loader(stuck);
            var tokens = new Tokens(stuck);
            var flusher = new Flusher(stuck);
            foreach (var o in new object[] { log, group, coalescer, loader, tokens, flusher }) keep.Add(o);
            new Thread(flusher.Run) { IsBackground = true, Name = "flusher" }.Start();
            for (int i = 0; i < 20; i++)
                foreach (var t in new[] { log.Run(), Commit(group), Edit(coalescer, i), Resolve(loader), Call(tokens, i), Write(flusher) }) keep.Add(t);
        }

        public static void Main(string[] args)
        {
            Start(args[0] == "stuck");
            Thread.Sleep(600);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            Thread.Sleep(300);
            puts("READY");
            fflush(IntPtr.Zero);
            Thread.Sleep(-1);
        }
    }
}
