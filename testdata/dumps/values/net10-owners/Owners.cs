// Memory by its owner: caches with a limit that are full, one that only grows, a chain of objects, and the values of a ThreadLocal, half of them of
// threads that have ended. (C# 7)
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
namespace Farm
{
    // drops the oldest entries; the limit is an ordinary field, and the queue records how many were dropped
    public sealed class Queued { public int Limit = 500; readonly ConcurrentDictionary<int, byte[]> map = new ConcurrentDictionary<int, byte[]>(); readonly ConcurrentQueue<int> order = new ConcurrentQueue<int>(); public void Put(int k) { if (map.TryAdd(k, new byte[8000])) { order.Enqueue(k); int old; byte[] x; if (map.Count > Limit && order.TryDequeue(out old)) map.TryRemove(old, out x); } } }
    // the same with a constant, and a list of what was used last: the dictionary records 1,500 additions
    public sealed class Constant { readonly Dictionary<int, LinkedListNode<byte[]>> map = new Dictionary<int, LinkedListNode<byte[]>>(); readonly LinkedList<byte[]> order = new LinkedList<byte[]>(); readonly Queue<int> keys = new Queue<int>(); public void Put(int k) { map[k] = order.AddFirst(new byte[8000]); keys.Enqueue(k); if (map.Count > 450) { map.Remove(keys.Dequeue()); order.RemoveLast(); } } }
    // forgets to drop: a leak, though a queue of its keys and a limit are there
    public sealed class Growing { readonly ConcurrentDictionary<int, byte[]> map = new ConcurrentDictionary<int, byte[]>(); readonly ConcurrentQueue<int> order = new ConcurrentQueue<int>(); public void Put(int k) { map[k] = new byte[8000]; order.Enqueue(k); } public void Trim() { int old; byte[] x; while (map.Count > 1000 && order.TryDequeue(out old)) map.TryRemove(old, out x); } }
    public sealed class Doc { public Doc Next; public readonly byte[] Text = new byte[20000]; }
    public static class History { public static Doc Head; public static void Run() { for (int i = 0; i < 300; i++) Head = new Doc { Next = Head }; } }
    public static class Locals
    {
        static readonly ThreadLocal<List<byte[]>> scratch = new ThreadLocal<List<byte[]>>(() => new List<byte[]>(), true);
        public static void Run() { for (int t = 0; t < 6; t++) { int n = t; var th = new Thread(() => { for (int i = 0; i < 100; i++) scratch.Value.Add(new byte[20000]); if (n % 2 == 0) Thread.Sleep(Timeout.Infinite); }) { Name = "render " + n, IsBackground = true }; th.Start(); if (n % 2 == 1) th.Join(); } }
    }
    public static class Program
    {
        static readonly Queued queued = new Queued(); static readonly Constant constant = new Constant(); static readonly Growing growing = new Growing();
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        public static void Main(string[] a)
        {
            for (int i = 0; i < 20000; i++) queued.Put(i);
            for (int i = 0; i < 1500; i++) constant.Put(i);
            for (int i = 0; i < 480; i++) growing.Put(i);
            growing.Trim();
            History.Run(); Locals.Run();
            Thread.Sleep(500); GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); GC.WaitForPendingFinalizers();
            Say("READY 0"); Thread.Sleep(Timeout.Infinite);
        }
    }
}
