// Waits with chains of who waits for whom (.NET 10). Each class with a name that ends in Well goes on for ever; its twins are stuck.
using System; using System.Collections.Concurrent; using System.Collections.Generic; using System.Threading; using System.Threading.Channels; using System.Threading.Tasks;
namespace Onward
{
    // Source waits for room in first; Stage reads it and waits for room in second; Sink reads that and takes 20 ms for an item.
    class LaneWell
    {
        protected readonly Channel<int> first = Channel.CreateBounded<int>(8), second = Channel.CreateBounded<int>(8);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Stage()); All.Keep.Add(Sink()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await second.Writer.WriteAsync(x, CancellationToken.None).ConfigureAwait(false); } }
        async Task Sink() { while (true) { await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await Task.Delay(20).ConfigureAwait(false); All.Count++; } }
    }

    // The twin: the method that reads second has failed.
    class LaneDead
    {
        readonly Channel<int> first = Channel.CreateBounded<int>(8), second = Channel.CreateBounded<int>(8);
        public void Start() { All.Keep.Add(this); All.Keep.Add(Source()); All.Keep.Add(Stage()); All.Keep.Add(Sink()); }
        async Task Source() { for (int i = 0; ; i++) await first.Writer.WriteAsync(i, CancellationToken.None).ConfigureAwait(false); }
        async Task Stage() { while (true) { int x = await first.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); await second.Writer.WriteAsync(x, CancellationToken.None).ConfigureAwait(false); } }
        async Task Sink() { while (true) { int x = await second.Reader.ReadAsync(CancellationToken.None).ConfigureAwait(false); if (x == 5) throw new FormatException("item " + x); All.Count++; } }
    }

    // The twin: two stages, each of which reads one channel and waits for room in the other.
    class LaneRing
    {
        readonly Channel<int> left = Channel.CreateBounded<int>(8), right = Channel.CreateBounded<int>(8);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 8; i++) { left.Writer.TryWrite(i); right.Writer.TryWrite(i); } All.Keep.Add(Pump(left.Reader, right.Writer)); All.Keep.Add(Pump(right.Reader, left.Writer)); }
        async Task Pump(ChannelReader<int> from, ChannelWriter<int> to) { while (true) { int x = await from.ReadAsync(CancellationToken.None).ConfigureAwait(false); await to.WriteAsync(x, CancellationToken.None).ConfigureAwait(false); await to.WriteAsync(x, CancellationToken.None).ConfigureAwait(false); } }
    }

    // Four sources wait for room in first; three stages take from it and wait for room in second; one thread takes from that and sleeps 20 ms for an item.
    class BeltWell
    {
        readonly BlockingCollection<int> first = new BlockingCollection<int>(10), second = new BlockingCollection<int>(10);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 4; i++) All.Run("belt source " + i, Source); for (int i = 0; i < 3; i++) All.Run("belt stage " + i, Stage); All.Run("belt last", Last); }
        void Source() { for (int k = 0; ; k++) first.Add(k); }
        void Stage() { foreach (int x in first.GetConsumingEnumerable()) second.Add(x + 1); }
        void Last() { foreach (int x in second.GetConsumingEnumerable()) { Thread.Sleep(20); All.Count++; } }
    }

    // The twin: the thread that takes from second has ended.
    class BeltDead
    {
        readonly BlockingCollection<int> first = new BlockingCollection<int>(10), second = new BlockingCollection<int>(10);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 4; i++) All.Run("dead source " + i, Source); for (int i = 0; i < 3; i++) All.Run("dead stage " + i, Stage); All.Run("dead last", Last); }
        void Source() { for (int k = 0; ; k++) first.Add(k); }
        void Stage() { foreach (int x in first.GetConsumingEnumerable()) second.Add(x + 1); }
        void Last() { foreach (int x in second.GetConsumingEnumerable()) { if (x == 5) return; All.Count++; } }
    }

    // 20 methods enter outer (4) and inner (2) in this order, and hold both for 10 ms.
    class NestWell
    {
        readonly SemaphoreSlim outer = new SemaphoreSlim(4, 4), inner = new SemaphoreSlim(2, 2);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 20; i++) All.Keep.Add(Run()); }
        async Task Run() { while (true) { await outer.WaitAsync().ConfigureAwait(false); try { await inner.WaitAsync().ConfigureAwait(false); try { await Task.Delay(10).ConfigureAwait(false); All.Count++; } finally { inner.Release(); } } finally { outer.Release(); } } }
    }

    // The twin: those that hold inner wait for a promise that nobody completes.
    class NestStuck
    {
        readonly SemaphoreSlim outer = new SemaphoreSlim(4, 4), inner = new SemaphoreSlim(2, 2); readonly TaskCompletionSource<bool> never = new TaskCompletionSource<bool>();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 20; i++) All.Keep.Add(Run()); }
        async Task Run() { while (true) { await outer.WaitAsync().ConfigureAwait(false); try { await inner.WaitAsync().ConfigureAwait(false); try { await never.Task.ConfigureAwait(false); All.Count++; } finally { inner.Release(); } } finally { outer.Release(); } } }
    }

    // Thread "well top" joins "well middle", which joins "well bottom", which sleeps 1 ms again and again.
    class JoinWell
    {
        Thread middle, bottom;
        public void Start() { All.Keep.Add(this); bottom = All.Run("well bottom", Bottom); middle = All.Run("well middle", Middle); All.Run("well top", Top); }
        void Top() { middle.Join(); } void Middle() { bottom.Join(); }
        void Bottom() { for (int i = 0; i < 1000000; i++) { All.Hash(i, 1000); Thread.Sleep(1); } }
    }

    // The twin: "stuck bottom" waits for an event that nobody sets.
    class JoinStuck
    {
        Thread middle, bottom; readonly ManualResetEventSlim never = new ManualResetEventSlim();
        public void Start() { All.Keep.Add(this); bottom = All.Run("stuck bottom", Bottom); middle = All.Run("stuck middle", Middle); All.Run("stuck top", Top); }
        void Top() { middle.Join(); } void Middle() { bottom.Join(); } void Bottom() { never.Wait(); }
    }

    // Ten threads take turns with the four permits of a semaphore of the operating system, each for 10 ms.
    class KernelWell
    {
        readonly Semaphore turns = new Semaphore(4, 4);
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 10; i++) All.Run("turn " + i, Run); }
        void Run() { while (true) { turns.WaitOne(); Thread.Sleep(10); All.Count++; turns.Release(); } }
    }

    // The twin: three threads have ended with its permits.
    class KernelLeak
    {
        readonly Semaphore leases = new Semaphore(3, 3); int number;
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 9; i++) All.Run("lease " + i, Run); }
        void Run() { int n = Interlocked.Increment(ref number); leases.WaitOne(); if (n > 0) return; All.Count++; leases.Release(); }
    }

    // The twin: the two threads that have its permits wait for an event that nobody sets.
    class KernelStuck
    {
        readonly Semaphore slots = new Semaphore(2, 2); readonly ManualResetEventSlim never = new ManualResetEventSlim();
        public void Start() { All.Keep.Add(this); for (int i = 0; i < 6; i++) All.Run("slot " + i, Run); }
        void Run() { while (true) { slots.WaitOne(); never.Wait(); All.Count++; slots.Release(); } }
    }

    static class All
    {
        public static readonly List<object> Keep = new List<object>(); public static int Count; static readonly ManualResetEventSlim stop = new ManualResetEventSlim();
        public static Thread Run(string name, ThreadStart body) { var t = new Thread(body) { Name = name, IsBackground = true }; t.Start(); return t; }
        public static uint Hash(int id, int n) { uint h = 2166136261; for (int i = 0; i < n; i++) h = (h ^ (uint)(i + id)) * 16777619; return h; }
        static void Main()
        {
            new LaneWell().Start(); new LaneDead().Start(); new LaneRing().Start(); new BeltWell().Start(); new BeltDead().Start(); new NestWell().Start(); new NestStuck().Start();
            new JoinWell().Start(); new JoinStuck().Start(); new KernelWell().Start(); new KernelLeak().Start(); new KernelStuck().Start();
            Thread.Sleep(3000); Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" }); stop.Wait();
        }
    }
}
