// Threads that seem to wait for what nobody does, and that other code wakes later: all are healthy (C# 7).
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
namespace Mill
{
    public interface IBell { void Ring(); }
    public sealed class Bell : IBell { public void Ring() { lock (M.carts) Monitor.PulseAll(M.carts); } }
    public sealed class Horn : IBell { public void Ring() { M.siren.Set(); } }
    public static class M
    {
        public static readonly Queue<string> carts = new Queue<string>();
        public static readonly CountdownEvent clear = new CountdownEvent(2);
        public static readonly ManualResetEventSlim siren = new ManualResetEventSlim();
        public static readonly Barrier gate = new Barrier(3);
        public static readonly List<object> keep = new List<object>();
        public static long rock;
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static Thread T(string name, ThreadStart run) { var t = new Thread(run) { Name = name, IsBackground = true }; t.Start(); return t; }
        static void Crushes() { while (true) { string s; lock (carts) { while (carts.Count == 0) Monitor.Wait(carts); s = carts.Dequeue(); } rock += s.Length; } }
        static void Fills(int n) { lock (carts) for (int i = 0; i < n; i++) carts.Enqueue("cart " + i); }
        static void Batches() { while (true) { for (int i = 0; i < 40; i++) lock (carts) carts.Enqueue("cart " + i); Thread.Sleep(600000); lock (carts) Monitor.PulseAll(carts); } }
        static void BatchesByBell(IBell b) { while (true) { Fills(40); Thread.Sleep(600000); b.Ring(); } }
        static async Task BatchesAsync() { while (true) { Fills(40); await Task.Delay(600000); lock (carts) Monitor.PulseAll(carts); } }
        static void Busy() { while (true) { Fills(100); lock (carts) Monitor.PulseAll(carts); Thread.Sleep(3); } }
        static void Burns() { for (long i = 0; ; i++) rock += i; }
        static void Blasts() { clear.Wait(); siren.Set(); rock++; }
        static void Leaves() { siren.Wait(); rock++; clear.Signal(); }
        static void RingsAtLast(IBell b) { Thread.Sleep(600000); b.Ring(); }
        static async Task SoundsAsync() { await Task.Delay(600000); siren.Set(); }
        static async Task SoundsAsyncDeep() { await Task.Delay(600000); new Horn().Ring(); }
        static void Meets() { gate.SignalAndWait(); rock++; }
        static void MeetsLate() { for (long i = 0; i < 9000000000000; i++) rock += i; Meets(); }
        static void SleepsThenMeets() { Thread.Sleep(600000); Meets(); }
        static void Pit() { T("blaster", Blasts); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); }
        static void Crushers() { for (int i = 0; i < 3; i++) T("crusher " + i, Crushes); Thread.Sleep(300); }
        public static void Main(string[] a)
        {
            switch (a[a.Length - 1])
            {
                case "batches": Crushers(); T("producer", Batches); break;
                case "bell": Crushers(); T("producer", () => BatchesByBell(new Bell())); break;
                case "flush": Crushers(); Fills(40); keep.Add(new Timer(_ => { lock (carts) Monitor.PulseAll(carts); }, null, 600000, 600000)); break;
                case "pulseasync": Crushers(); keep.Add(BatchesAsync()); break;
                case "busy": Crushers(); for (int i = 0; i < 6; i++) T("burner " + i, Burns); T("producer", Busy); break;
                case "cts": { Pit(); var c = new CancellationTokenSource(600000); c.Token.Register(() => siren.Set()); keep.Add(c); break; }
                case "sirentimer": Pit(); keep.Add(new Timer(_ => siren.Set(), null, 600000, 600000)); break;
                case "sirenasync": Pit(); keep.Add(SoundsAsync()); break;
                case "sirenasyncdeep": Pit(); keep.Add(SoundsAsyncDeep()); break;
                case "horn": Pit(); T("watch", () => RingsAtLast(new Horn())); break;
                case "pool": Pit(); ThreadPool.QueueUserWorkItem(_ => RingsAtLast(new Horn())); break;
                case "barrier": T("a", Meets); T("b", Meets); T("c", SleepsThenMeets); break;
                case "barrierlate": T("a", Meets); T("b", Meets); T("c", MeetsLate); break;
                case "barriertimer": T("a", Meets); T("b", Meets); keep.Add(new Timer(_ => Meets(), null, 600000, 600000)); break;
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
