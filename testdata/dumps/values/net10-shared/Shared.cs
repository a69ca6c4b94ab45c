// Elements that two collections share, so that neither owns them: a cache that drops the oldest element from both, and a pair that only grows. (C# 7)
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
namespace Attic
{
    public sealed class Box { public readonly byte[] Data = new byte[4000]; }
    public sealed class Crate { public readonly byte[] Data = new byte[4000]; }
    public static class Program
    {
        static readonly Dictionary<int, Box> boxes = new Dictionary<int, Box>(); static readonly Queue<Box> order = new Queue<Box>();
        static readonly Dictionary<int, Crate> crates = new Dictionary<int, Crate>(); static readonly List<Crate> all = new List<Crate>();
        static void Put(int k) { if (boxes.Count >= 600) { boxes.Remove(k - 600); order.Dequeue(); } var b = new Box(); boxes[k] = b; order.Enqueue(b); }
        static void Add(int k) { var c = new Crate(); crates[k] = c; all.Add(c); }
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        public static void Main(string[] a)
        {
            for (int i = 0; i < 12000; i++) Put(i);
            for (int i = 0; i < 500; i++) Add(i);
            Thread.Sleep(500); GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect();
            Say("READY 0"); Thread.Sleep(Timeout.Infinite);
        }
    }
}
