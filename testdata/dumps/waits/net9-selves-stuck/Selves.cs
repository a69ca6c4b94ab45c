// Waits of things for themselves. "stuck": each of four couriers waits for its own end, and callbacks of timers wait until their timers have ended. "moves": the same code where
// the timer is disposed of by another thread, or nobody waits inside of what he waits for.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Harbor
{
    public sealed class Courier : IAsyncDisposable
    {
        readonly int most;
        Task loop;
        int rounds;
        public Courier(int most) { this.most = most; }
        public void Start() => loop = Loop();
        async Task Loop()
        {
            while (true)
            {
                await Task.Delay(20);
                if (++rounds == most) { await DisposeAsync(); return; } // waits for itself
            }
        }
        public async ValueTask DisposeAsync() { await loop; }
    }

    // A tide table that stops at its last entry.
    public sealed class Tide
    {
        readonly int most;
        readonly bool asTask;
        Timer timer;
        int ticks;
        public Tide(int most, bool asTask) { this.most = most; this.asTask = asTask; }
        public void Start() => timer = new Timer(Tick, null, 20, most == 0 ? 5000 : 20);
        void Tick(object _)
        {
            int n = Interlocked.Increment(ref ticks);
            if (n == most) Stop();
            if (most == 0) Thread.Sleep(400); // another thread waits until it has ended
        }
        public void Stop()
        {
            if (asTask) { timer.DisposeAsync().AsTask().GetAwaiter().GetResult(); return; }
            using var ended = new ManualResetEvent(false);
            timer.Dispose(ended);
            ended.WaitOne();
        }
    }

    public static class Program
    {
        static readonly List<Courier> couriers = new();
        static readonly List<Tide> tides = new();
        public static void Main(string[] args)
        {
            bool stuck = args[0] == "stuck";
            for (int i = 0; i < 4; i++) { var c = new Courier(stuck ? 10 : -1); couriers.Add(c); c.Start(); }
            for (int i = 0; i < 2; i++) { var t = new Tide(stuck ? 5 : 0, i == 1); tides.Add(t); t.Start(); }
            Thread.Sleep(300);
            if (!stuck)
                foreach (var t in tides) new Thread(() => { while (true) { t.Stop(); t.Start(); Thread.Sleep(100); } }) { Name = "harbor master", IsBackground = true }.Start();
            Thread.Sleep(-1);
        }
    }
}
