// Caches with a limit that are full: an LRU cache of the program, and a MemoryCache.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Reflection;
class System_Private_CoreLib { const ulong A = 0x8e79a7bed785ec7c; const ulong B = 0x3a0ad5117f5f3fb0; }
class System_Collections_Concurrent { System.Uri u; }
class System_Collections { System.Linq.Expressions.Expression u; }
namespace Mart
{
    public sealed class Page { public int Number; public byte[] Bytes = new byte[Program.Load]; }
    public sealed class Lru
    {
        readonly int capacity; readonly Dictionary<int, LinkedListNode<Page>> index = new Dictionary<int, LinkedListNode<Page>>(); readonly LinkedList<Page> order = new LinkedList<Page>();
        public int Hits, Misses;
        public Lru(int capacity) { this.capacity = capacity; }
        public Page Get(int n)
        {
            lock (index)
            {
                LinkedListNode<Page> node;
                if (index.TryGetValue(n, out node)) { Hits++; order.Remove(node); order.AddFirst(node); return node.Value; }
                Misses++;
                if (index.Count >= capacity) { var last = order.Last; order.RemoveLast(); index.Remove(last.Value.Number); }
                node = order.AddFirst(new Page { Number = n }); index[n] = node; return node.Value;
            }
        }
        public Page Put(int n) // never evicts: a leak
        {
            lock (index) { var node = order.AddFirst(new Page { Number = n }); index[n] = node; return node.Value; }
        }
    }
    public static class Program
    {
        public static Lru Pages; static object memory; public static int Sum, Load = 7000;
        public static void Main(string[] args)
        {
            string kind = args[0]; int capacity = args.Length > 2 ? int.Parse(args[2]) : 5000; if (args.Length > 3) Load = int.Parse(args[3]); int rounds = args.Length > 1 ? int.Parse(args[1]) : 3;
            if (kind == "lru" || kind == "both" || kind == "grow" || kind == "hits")
            {
                Pages = new Lru(capacity); var r = new Random(7);
                if (kind == "lru" || kind == "both") for (int i = 0; i < rounds * capacity; i++) Sum += Pages.Get(r.Next(40000)).Number;
                if (kind == "hits") { for (int i = 0; i < capacity; i++) Pages.Get(i); for (int i = 0; i < 20000; i++) Sum += Pages.Get(r.Next(capacity)).Number; for (int i = 0; i < 300; i++) Pages.Get(50000 + i); }
                if (kind == "grow") for (int i = 0; i < capacity; i++) Sum += Pages.Put(i).Number;
            }
            if (kind == "memory" || kind == "both" || kind == "unbounded")
            {
                Assembly a = Assembly.Load("Microsoft.Extensions.Caching.Memory"), b = Assembly.Load("Microsoft.Extensions.Caching.Abstractions");
                object o = Activator.CreateInstance(a.GetType("Microsoft.Extensions.Caching.Memory.MemoryCacheOptions"));
                if (kind != "unbounded") o.GetType().GetProperty("SizeLimit").SetValue(o, (long?)(capacity * (long)Load * 7 / 10));
                memory = Activator.CreateInstance(a.GetType("Microsoft.Extensions.Caching.Memory.MemoryCache"), o);
                var create = memory.GetType().GetMethod("CreateEntry");
                int n = kind != "unbounded" ? rounds * capacity * 7 / 10 : capacity * 7 / 10;
                for (int i = 0; i < n; i++)
                {
                    object e = create.Invoke(memory, new object[] { "page " + i });
                    e.GetType().GetProperty("Value", BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance);
                    var t = b.GetType("Microsoft.Extensions.Caching.Memory.ICacheEntry");
                    t.GetProperty("Value").SetValue(e, new Page { Number = i });
                    t.GetProperty("Size").SetValue(e, (long?)Load);
                    ((IDisposable)e).Dispose();
                    if (i % 500 == 0) Thread.Sleep(50);
                }
            }
            Thread.Sleep(1500);
            Type con = Type.GetType("System.Console, System.Console");
            con.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "FACT hits " + (Pages == null ? 0 : Pages.Hits) + " misses " + (Pages == null ? 0 : Pages.Misses) });
            con.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY 1" });
            Thread.Sleep(3600000);
        }
    }
}
