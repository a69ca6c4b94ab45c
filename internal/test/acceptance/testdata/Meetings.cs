// Threads that meet at a CountdownEvent: some can never, others only look so (C# 7).
using System;
using System.Reflection;
using System.Threading;
namespace Quarry
{
    public static class Pit
    {
        public static readonly CountdownEvent clear = new CountdownEvent(2);
        public static readonly ManualResetEventSlim siren = new ManualResetEventSlim();
        public static readonly AutoResetEvent lamp = new AutoResetEvent(false);
        public static readonly object drill = new object();
        public static readonly System.Collections.Generic.Queue<string> carts = new System.Collections.Generic.Queue<string>();
        public static volatile bool shift;
        public static long rock;
    }
    public static class M
    {
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static Thread T(string name, ThreadStart run) { var t = new Thread(run) { Name = name, IsBackground = true }; t.Start(); return t; }

        // The blaster sounds the siren once the pit is clear, and the miners leave once they hear it.
        static void Blasts() { Pit.clear.Wait(); Pit.siren.Set(); Pit.rock++; }
        static void Leaves() { Pit.siren.Wait(); Pit.rock++; Pit.clear.Signal(); }
        // The same by an event of the system.
        static void Lights() { Pit.clear.Wait(); Pit.lamp.Set(); }
        static void LeavesByLamp() { Pit.lamp.WaitOne(); Pit.rock++; Pit.clear.Signal(); }
        // Behind a lock that the blaster holds.
        static void BlastsLocked() { lock (Pit.drill) { Pit.clear.Wait(); Pit.rock++; } }
        static void LeavesLocked() { lock (Pit.drill) Pit.rock++; Pit.clear.Signal(); }

        // A pulse that came before the wait, or none.
        static void Crushes() { while (true) { string s; lock (Pit.carts) { while (Pit.carts.Count == 0) Monitor.Wait(Pit.carts); s = Pit.carts.Dequeue(); } Pit.rock += s.Length; } }
        static void CrushesIf() { while (true) { lock (Pit.carts) { if (Pit.carts.Count < 1) Monitor.Wait(Pit.carts); if (Pit.carts.Count > 0) Pit.rock += Pit.carts.Dequeue().Length; } } }
        static void Fills(int n) { lock (Pit.carts) for (int i = 0; i < n; i++) Pit.carts.Enqueue("cart " + i); }
        // Healthy where the foreman comes: it waits until the shift begins, or until all carts are empty. Without him nobody begins the shift or empties them.
        static void Foreman() { Thread.Sleep(600000); lock (Pit.carts) { Pit.shift = true; Pit.carts.Clear(); Monitor.PulseAll(Pit.carts); } }
        static void CrushesInShift() { lock (Pit.carts) { while (Pit.carts.Count == 0 || !Pit.shift) Monitor.Wait(Pit.carts); Pit.rock += Pit.carts.Dequeue().Length; } }
        static void Closes() { lock (Pit.carts) { while (Pit.carts.Count > 0) Monitor.Wait(Pit.carts); Pit.rock++; } }
        // Healthy: the crushers that are awake take the carts one by one.
        static void CrushesSlowly() { while (true) { string s; lock (Pit.carts) { while (Pit.carts.Count == 0) Monitor.Wait(Pit.carts); s = Pit.carts.Dequeue(); } Thread.Sleep(600000); Pit.rock += s.Length; } }

        // Healthy: the carrier that is awake comes back for the next one.
        static string Takes() { lock (Pit.carts) { while (Pit.carts.Count == 0) Monitor.Wait(Pit.carts); return Pit.carts.Dequeue(); } }
        static void Carries() { while (true) { string s = Takes(); Thread.Sleep(600000); Pit.rock += s.Length; } }

        // Healthy: another thread sounds the siren every few seconds.
        static void Sounds() { while (true) { Thread.Sleep(60000); Pit.siren.Set(); } }
        static void SoundsAtLast() { Thread.Sleep(600000); Ring(); }
        static void Ring() { Pit.siren.Set(); }
        // Healthy: it sounds the siren by a method that does more.
        static void SoundsByOthers() { Thread.Sleep(600000); Evening(); }
        static void Evening() { Dig(); Ring(); Fills(0); }
        // Healthy: a miner digs on, and leaves later.
        static void Digs() { Dig(); Pit.clear.Signal(); }
        static void Dig() { for (var until = DateTime.UtcNow.AddMinutes(10); DateTime.UtcNow < until; Thread.Sleep(1)) Pit.rock++; }
        // Healthy: the blaster looks every second.
        static void Looks() { while (!Pit.clear.Wait(1000)) Pit.rock++; Pit.siren.Set(); }
        // Healthy: a wait for work that ends nothing.
        static void Hauls() { Pit.lamp.WaitOne(); Pit.rock++; }

        public static void Main(string[] a)
        {
            switch (a[a.Length - 1])
            {
                case "siren": T("blaster", Blasts); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); break;
                case "lamp": T("blaster", Lights); for (int i = 0; i < 2; i++) T("miner " + i, LeavesByLamp); break;
                case "locked": T("blaster", BlastsLocked); Thread.Sleep(300); for (int i = 0; i < 2; i++) T("miner " + i, LeavesLocked); break;
                case "lost": for (int i = 0; i < 3; i++) T("crusher " + i, Crushes); Thread.Sleep(300); Fills(40); break;
                case "lostif": for (int i = 0; i < 3; i++) T("crusher " + i, CrushesIf); Thread.Sleep(300); Fills(40); break;
                case "noshift": for (int i = 0; i < 3; i++) T("crusher " + i, CrushesInShift); Thread.Sleep(300); Fills(40); break;
                case "neverempty": Fills(40); T("clerk", Closes); break;
                // healthy
                case "empty": for (int i = 0; i < 3; i++) T("crusher " + i, Crushes); break;
                case "shift": T("foreman", Foreman); for (int i = 0; i < 3; i++) T("crusher " + i, CrushesInShift); Thread.Sleep(300); Fills(40); break;
                case "closes": T("foreman", Foreman); T("clerk", Closes); Fills(40); T("clerk 2", Closes); break;
                case "slow": for (int i = 0; i < 3; i++) T("crusher " + i, CrushesSlowly); Thread.Sleep(300); Fills(40); lock (Pit.carts) Monitor.Pulse(Pit.carts); break;
                case "carries": for (int i = 0; i < 3; i++) T("carrier " + i, Carries); Thread.Sleep(300); Fills(40); lock (Pit.carts) Monitor.Pulse(Pit.carts); break;
                case "others": T("blaster", Blasts); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); T("watch", SoundsByOthers); break;
                case "sounds": T("blaster", Blasts); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); T("watch", Sounds); break;
                case "digs": T("blaster", Blasts); T("miner 0", Leaves); T("miner 1", Digs); break;
                case "looks": T("blaster", Looks); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); break;
                case "hauls": T("blaster", Blasts); for (int i = 0; i < 2; i++) T("hauler " + i, Hauls); break;
                case "timer": T("blaster", Blasts); var t = new Timer(_ => Pit.clear.Signal(), null, 600000, 600000); Thread.Sleep(1500); Say("READY 0"); Thread.Sleep(-1); GC.KeepAlive(t); break;
                case "queued": T("blaster", Blasts); for (int i = 0; i < 2; i++) T("miner " + i, Leaves); for (int i = 0; i < 200; i++) ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(600000); Ring(); }); break;
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
