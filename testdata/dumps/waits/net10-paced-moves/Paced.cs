// Queues with consumers that others pace (.NET 10). What has a name that ends in Well goes on for ever; its twins are stuck.
using System; using System.Collections.Concurrent; using System.Collections.Generic; using System.Threading; using System.Threading.Channels; using System.Threading.Tasks;
namespace Paced
{
    class Job { public int Number; public readonly TaskCompletionSource<bool> Done = new TaskCompletionSource<bool>(); }

    // A source waits for room in first; a stage reads it, writes a job to second and waits for its promise, which Acks completes 5 ms later.
    class AckWell
    {
        protected readonly Channel<int> first = Channel.CreateBounded<int>(8); protected readonly Channel<Job> second = Channel.CreateBounded<Job>(8);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Stage()); All.Keep.Add(Acks()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage()
        {
            while (true)
            {
                int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
                var job = new Job { Number = x };
                await second.Writer.WriteAsync(job, CancellationToken.None).ConfigureAwait(false);
                await job.Done.Task.ConfigureAwait(false);
                All.Count++;
            }
        }
        async Task Acks() { while (true) { var job = await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(5).ConfigureAwait(false); job.Done.SetResult(true); } }
    }

    // The twin: what acknowledges has ended after five jobs.
    class AckDead
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); readonly Channel<Job> second = Channel.CreateBounded<Job>(8);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Stage()); All.Keep.Add(Acks()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage()
        {
            while (true)
            {
                int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
                var job = new Job { Number = x };
                await second.Writer.WriteAsync(job, CancellationToken.None).ConfigureAwait(false);
                await job.Done.Task.ConfigureAwait(false);
                All.Count++;
            }
        }
        async Task Acks() { for (int i = 0; i < 5; i++) { var job = await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(5).ConfigureAwait(false); job.Done.SetResult(true); } }
    }

    // The twin: what acknowledges writes a receipt to first before, which is full.
    class AckRing
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); readonly Channel<Job> second = Channel.CreateBounded<Job>(8);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Stage()); All.Keep.Add(Acks()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage()
        {
            while (true)
            {
                int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
                var job = new Job { Number = x };
                await second.Writer.WriteAsync(job, CancellationToken.None).ConfigureAwait(false);
                await job.Done.Task.ConfigureAwait(false);
                All.Count++;
            }
        }
        async Task Acks()
        {
            while (true)
            {
                var job = await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false);
                await Task.Delay(5).ConfigureAwait(false);
                await first.Writer.WriteAsync(-job.Number, CancellationToken.None).ConfigureAwait(false);
                job.Done.SetResult(true);
            }
        }
    }

    // A timer completes the promise of the present item.
    class TimerAckWell
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); volatile TaskCompletionSource<bool> now; Timer timer;
        public void Start() { All.Keep.Add(this); timer = new Timer(Ring, null, 10, 10); All.Keep.Add(Source()); All.Keep.Add(Stage()); }
        void Ring(object o) { var p = now; if (p != null) p.TrySetResult(true); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); var p = new TaskCompletionSource<bool>(); now = p; await p.Task.ConfigureAwait(false); All.Count++; } }
    }

    // The twin: the timer has been disposed of.
    class TimerAckDead
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); volatile TaskCompletionSource<bool> now; Timer timer;
        public void Start() { All.Keep.Add(this); timer = new Timer(Ring, null, 10, 10); All.Keep.Add(Source()); All.Keep.Add(Stage()); Thread.Sleep(200); timer.Dispose(); timer = null; }
        void Ring(object o) { var p = now; if (p != null) p.TrySetResult(true); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); var p = new TaskCompletionSource<bool>(); now = p; await p.Task.ConfigureAwait(false); All.Count++; } }
    }

    // Three sources wait for room; the consumer hands each item to a worker and waits until it is done, 5 ms later.
    class HandWell
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly AutoResetEvent ready = new AutoResetEvent(false), done = new AutoResetEvent(false); int item;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("hand source " + i, Source); All.Run("hand consumer", Consume); All.Run("hand worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { item = x; ready.Set(); done.WaitOne(); All.Count++; } }
        void Work() { while (true) { ready.WaitOne(); Thread.Sleep(5); item = 0; done.Set(); } }
    }

    // The twin: the worker has ended.
    class HandDead
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly AutoResetEvent ready = new AutoResetEvent(false), done = new AutoResetEvent(false); int item;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("dead source " + i, Source); All.Run("dead consumer", Consume); All.Run("dead worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { item = x; ready.Set(); done.WaitOne(); All.Count++; } }
        void Work() { for (int i = 0; i < 5; i++) { ready.WaitOne(); Thread.Sleep(5); item = 0; done.Set(); } }
    }

    // The twin: the worker adds a receipt to the full collection first.
    class HandRing
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly AutoResetEvent ready = new AutoResetEvent(false), done = new AutoResetEvent(false); int item;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("ring source " + i, Source); All.Run("ring consumer", Consume); All.Run("ring worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { item = x; ready.Set(); done.WaitOne(); All.Count++; } }
        void Work() { while (true) { ready.WaitOne(); Thread.Sleep(5); belt.Add(-item); done.Set(); } }
    }

    // The twin: the worker waits for an event that nobody sets.
    class HandStuck
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly AutoResetEvent ready = new AutoResetEvent(false), done = new AutoResetEvent(false); readonly ManualResetEventSlim never = new ManualResetEventSlim(); int item;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("stuck source " + i, Source); All.Run("stuck consumer", Consume); All.Run("stuck worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { item = x; ready.Set(); done.WaitOne(); All.Count++; } }
        void Work() { while (true) { ready.WaitOne(); if (item > 5) never.Wait(); done.Set(); } }
    }

    // The consumer waits for a tick for each item, which a timer gives.
    class TickWell
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly ManualResetEvent tick = new ManualResetEvent(false); Timer timer;
        public void Start() { All.Keep.Add(this); timer = new Timer(Ring, null, 20, 20); for (int i = 0; i < 3; i++) All.Run("tick source " + i, Source); All.Run("tick consumer", Consume); }
        void Ring(object o) { tick.Set(); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { while (true) { int x = belt.Take(); tick.WaitOne(); tick.Reset(); All.Count++; } }
    }

    // A thread gives the ticks, with an event of the class library.
    class BeatWell
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly ManualResetEventSlim tick = new ManualResetEventSlim(false);
        public void Start() { All.Keep.Add(this); All.Run("beat", Beat); for (int i = 0; i < 3; i++) All.Run("beat source " + i, Source); All.Run("beat consumer", Consume); }
        void Beat() { while (true) { Thread.Sleep(20); tick.Set(); } }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { while (true) { int x = belt.Take(); tick.Wait(); tick.Reset(); All.Count++; } }
    }

    // The twin: the timer has been disposed of.
    class TickDead
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly ManualResetEvent tick = new ManualResetEvent(false); Timer timer;
        public void Start() { All.Keep.Add(this); timer = new Timer(Ring, null, 20, 20); for (int i = 0; i < 3; i++) All.Run("still source " + i, Source); All.Run("still consumer", Consume); Thread.Sleep(200); timer.Dispose(); timer = null; }
        void Ring(object o) { tick.Set(); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { while (true) { int x = belt.Take(); tick.WaitOne(); tick.Reset(); All.Count++; } }
    }

    // The twin: the thread that gave the ticks has ended.
    class BeatDead
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly ManualResetEventSlim tick = new ManualResetEventSlim(false);
        public void Start() { All.Keep.Add(this); All.Run("late", Beat); for (int i = 0; i < 3; i++) All.Run("late source " + i, Source); All.Run("late consumer", Consume); }
        void Beat() { for (int i = 0; i < 5; i++) { Thread.Sleep(20); tick.Set(); } }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { while (true) { int x = belt.Take(); tick.Wait(); tick.Reset(); All.Count++; } }
    }

    // A sender needs a ticket for each item; the receiver gives it back 10 ms later.
    class WindowWell
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8), link = Channel.CreateUnbounded<int>(); readonly SemaphoreSlim tickets = new SemaphoreSlim(4);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Send()); All.Keep.Add(Receive()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Send() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await tickets.WaitAsync().ConfigureAwait(false); link.Writer.TryWrite(x); } }
        async Task Receive() { while (true) { await link.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(10).ConfigureAwait(false); tickets.Release(); All.Count++; } }
    }

    // The same with threads.
    class GateWell
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10), link = new BlockingCollection<int>(); readonly SemaphoreSlim tickets = new SemaphoreSlim(4);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("gate source " + i, Source); All.Run("gate sender", Send); All.Run("gate receiver", Receive); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Send() { foreach (int x in belt.GetConsumingEnumerable()) { tickets.Wait(); link.Add(x); } }
        void Receive() { foreach (int x in link.GetConsumingEnumerable()) { Thread.Sleep(10); tickets.Release(); All.Count++; } }
    }

    // The twin: the receiver has failed.
    class WindowDead
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8), link = Channel.CreateUnbounded<int>(); readonly SemaphoreSlim tickets = new SemaphoreSlim(4);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Send()); All.Keep.Add(Receive()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Send() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await tickets.WaitAsync().ConfigureAwait(false); link.Writer.TryWrite(x); } }
        async Task Receive() { for (int i = 0; i < 5; i++) { await link.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(10).ConfigureAwait(false); tickets.Release(); All.Count++; } }
    }

    // The twin: the receiver writes a receipt to the full channel before it gives the ticket back.
    class WindowRing
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8), link = Channel.CreateUnbounded<int>(); readonly SemaphoreSlim tickets = new SemaphoreSlim(4);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Send()); All.Keep.Add(Receive()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Send() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await tickets.WaitAsync().ConfigureAwait(false); link.Writer.TryWrite(x); } }
        async Task Receive() { while (true) { int x = await link.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(10).ConfigureAwait(false); for (int i = 0; i < 3; i++) await first.Writer.WriteAsync(-x, CancellationToken.None).ConfigureAwait(false); tickets.Release(); All.Count++; } }
    }

    // The twin: the receiver, a thread, has ended.
    class GateDead
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10), link = new BlockingCollection<int>(); readonly SemaphoreSlim tickets = new SemaphoreSlim(4);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("shut source " + i, Source); All.Run("shut sender", Send); All.Run("shut receiver", Receive); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Send() { foreach (int x in belt.GetConsumingEnumerable()) { tickets.Wait(); link.Add(x); } }
        void Receive() { for (int i = 0; i < 5; i++) { link.Take(); Thread.Sleep(10); tickets.Release(); All.Count++; } }
    }

    // The consumer and the worker wake each other by pulses.
    class PulseWell
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly object gate = new object(); int item = -1; bool done;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("pulse source " + i, Source); All.Run("pulse consumer", Consume); All.Run("pulse worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) lock (gate) { item = x; done = false; Monitor.PulseAll(gate); while (!done) Monitor.Wait(gate); All.Count++; } }
        void Work() { while (true) { lock (gate) while (item < 0) Monitor.Wait(gate); Thread.Sleep(5); lock (gate) { item = -1; done = true; Monitor.PulseAll(gate); } } }
    }

    // The twin: the worker has ended.
    class PulseDead
    {
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly object gate = new object(); int item = -1; bool done;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("mute source " + i, Source); All.Run("mute consumer", Consume); All.Run("mute worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) lock (gate) { item = x; done = false; Monitor.PulseAll(gate); while (!done) Monitor.Wait(gate); All.Count++; } }
        void Work() { for (int i = 0; i < 5; i++) { lock (gate) while (item < 0) Monitor.Wait(gate); Thread.Sleep(5); lock (gate) { item = -1; done = true; Monitor.PulseAll(gate); } } }
    }

    // A method of the worker's sets the event, in a static field; the worker works in another method.
    class StaticWell
    {
        static readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); static readonly AutoResetEvent ready = new AutoResetEvent(false); static readonly ManualResetEventSlim done = new ManualResetEventSlim();
        public void Start() { for (int i = 0; i < 3; i++) All.Run("static source " + i, Source); All.Run("static consumer", Consume); All.Run("static worker", Work); }
        static void Source() { for (int k = 0; ; k++) belt.Add(k); }
        static void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { done.Reset(); ready.Set(); done.Wait(); All.Count++; } }
        static void Work() { while (true) { ready.WaitOne(); Steps(); Finish(); } }
        static void Steps() { for (int i = 0; i < 3; i++) Thread.Sleep(2); }
        static void Finish() { All.Count++; done.Set(); }
    }

    // The twin: the worker waits again and again for a flag that nobody sets.
    class PollDead
    {
        static readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); static readonly AutoResetEvent ready = new AutoResetEvent(false); static readonly ManualResetEventSlim done = new ManualResetEventSlim(); static volatile bool flag;
        public void Start() { for (int i = 0; i < 3; i++) All.Run("poll source " + i, Source); All.Run("poll consumer", Consume); All.Run("poll worker", Work); }
        static void Source() { for (int k = 0; ; k++) belt.Add(k); }
        static void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { done.Reset(); ready.Set(); done.Wait(); All.Count++; } }
        static void Work() { while (true) { ready.WaitOne(); Steps(); Finish(); } }
        static void Steps() { while (!flag) Thread.Sleep(20); }
        static void Finish() { All.Count++; done.Set(); }
    }

    // Four stages write jobs, and each waits for its own; what acknowledges gathers four, and completes them together after 10 ms.
    class BatchWell
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); readonly Channel<Job> second = Channel.CreateUnbounded<Job>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Keep.Add(Source()); for (int i = 0; i < 4; i++) All.Keep.Add(Stage()); All.Keep.Add(Acks()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Sends(x).ConfigureAwait(false); All.Count++; } }
        async Task Sends(int x) { var job = new Job { Number = x }; second.Writer.TryWrite(job); await job.Done.Task.ConfigureAwait(false); }
        async Task Acks()
        {
            var batch = new List<Job>();
            while (true)
            {
                while (batch.Count < 4) batch.Add(await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false));
                await Task.Delay(10).ConfigureAwait(false);
                foreach (var job in batch) job.Done.SetResult(true);
                batch.Clear();
            }
        }
    }

    // The twin: it gathers five, but only four can be on their way.
    class BatchStuck
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8); readonly Channel<Job> second = Channel.CreateUnbounded<Job>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Keep.Add(Source()); for (int i = 0; i < 4; i++) All.Keep.Add(Stage()); All.Keep.Add(Acks()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Sends(x).ConfigureAwait(false); All.Count++; } }
        async Task Sends(int x) { var job = new Job { Number = x }; second.Writer.TryWrite(job); await job.Done.Task.ConfigureAwait(false); }
        async Task Acks()
        {
            var batch = new List<Job>();
            while (true)
            {
                while (batch.Count < 5) batch.Add(await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false));
                await Task.Delay(10).ConfigureAwait(false);
                foreach (var job in batch) job.Done.SetResult(true);
                batch.Clear();
            }
        }
    }

    // The consumer hands a task to the pool for each item, which waits for a worker's event: the worker has the item in a queue of jobs.
    class BoxWell
    {
        class Item { public int Number; public readonly ManualResetEventSlim Done = new ManualResetEventSlim(); }
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly BlockingCollection<Item> jobs = new BlockingCollection<Item>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("box source " + i, Source); for (int i = 0; i < 2; i++) All.Run("box consumer " + i, Consume); All.Run("box worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { var item = new Item { Number = x }; jobs.Add(item); item.Done.Wait(); All.Count++; } }
        void Work() { foreach (var item in jobs.GetConsumingEnumerable()) { Thread.Sleep(5); item.Done.Set(); } }
    }

    // The twin: the worker adds a receipt to the full collection before.
    class BoxRing
    {
        class Item { public int Number; public readonly ManualResetEventSlim Done = new ManualResetEventSlim(); }
        readonly BlockingCollection<int> belt = new BlockingCollection<int>(10); readonly BlockingCollection<Item> jobs = new BlockingCollection<Item>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 3; i++) All.Run("lot source " + i, Source); for (int i = 0; i < 2; i++) All.Run("lot consumer " + i, Consume); All.Run("lot worker", Work); }
        void Source() { for (int k = 0; ; k++) belt.Add(k); }
        void Consume() { foreach (int x in belt.GetConsumingEnumerable()) { var item = new Item { Number = x }; jobs.Add(item); item.Done.Wait(); All.Count++; } }
        void Work() { foreach (var item in jobs.GetConsumingEnumerable()) { Thread.Sleep(5); for (int i = 0; i < 3; i++) belt.Add(-item.Number); item.Done.Set(); } }
    }

    static class All
    {
        public static readonly List<object> Keep = new List<object>(); public static int Count; static readonly ManualResetEventSlim stop = new ManualResetEventSlim();
        public static Thread Run(string name, ThreadStart body) { var t = new Thread(body) { Name = name, IsBackground = true }; t.Start(); return t; }
        static bool Is(string kind, string name) { return kind == name || kind == "moves" && name.EndsWith("Well") || kind == "stuck" && !name.EndsWith("Well"); }
        static void Main(string[] a)
        {
            string k = a[a.Length - 1];
            if (Is(k, "AckWell")) new AckWell().Start(); if (Is(k, "AckDead")) new AckDead().Start(); if (Is(k, "AckRing")) new AckRing().Start();
            if (Is(k, "TimerAckWell")) new TimerAckWell().Start(); if (Is(k, "TimerAckDead")) new TimerAckDead().Start();
            if (Is(k, "HandWell")) new HandWell().Start(); if (Is(k, "HandDead")) new HandDead().Start(); if (Is(k, "HandRing")) new HandRing().Start(); if (Is(k, "HandStuck")) new HandStuck().Start();
            if (Is(k, "TickWell")) new TickWell().Start(); if (Is(k, "TickDead")) new TickDead().Start(); if (Is(k, "BeatWell")) new BeatWell().Start(); if (Is(k, "BeatDead")) new BeatDead().Start();
            if (Is(k, "WindowWell")) new WindowWell().Start(); if (Is(k, "WindowDead")) new WindowDead().Start(); if (Is(k, "WindowRing")) new WindowRing().Start(); if (Is(k, "GateWell")) new GateWell().Start(); if (Is(k, "GateDead")) new GateDead().Start();
            if (Is(k, "PulseWell")) new PulseWell().Start(); if (Is(k, "PulseDead")) new PulseDead().Start(); if (Is(k, "StaticWell")) new StaticWell().Start(); if (Is(k, "PollDead")) new PollDead().Start(); if (Is(k, "BatchWell")) new BatchWell().Start(); if (Is(k, "BatchStuck")) new BatchStuck().Start(); if (Is(k, "BoxWell")) new BoxWell().Start(); if (Is(k, "BoxRing")) new BoxRing().Start();
            Thread.Sleep(2000); Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" }); stop.Wait();
        }
    }
}
