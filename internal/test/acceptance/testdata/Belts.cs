// Full collections: behind one that is full by design, who takes from it runs; in the twin he never comes back (C# 7).
using System;
using System.Collections.Concurrent;
using System.Reflection;
using System.Threading;
namespace Quarry
{
    public static class M
    {
        static readonly BlockingCollection<string> belt = new BlockingCollection<string>(20);
        public static double rock;
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static Thread T(string name, ThreadStart run) { var t = new Thread(run) { Name = name, IsBackground = true }; t.Start(); return t; }
        static void Loads() { for (int i = 0; ; i++) belt.Add("cart " + i); }
        // Healthy: the crusher is the slower side, and works.
        static void Crushes() { foreach (var s in belt.GetConsumingEnumerable()) for (int i = 0; i < 20000000; i++) rock += Math.Sqrt(i + s.Length); }
        // It takes one and runs for ever.
        static void Jams() { foreach (var s in belt.GetConsumingEnumerable()) Grinds(s.Length); }
        static void Grinds(int n) { for (long i = 0; ; i++) rock += Math.Sqrt(i + n); }

        public static void Main(string[] a)
        {
            T("crusher", a[a.Length - 1] == "crushes" ? (ThreadStart)Crushes : Jams);
            for (int i = 0; i < 5; i++) T("loader " + i, Loads);
            Thread.Sleep(1000);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
