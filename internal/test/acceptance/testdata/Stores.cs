// Memory that each kind of store keeps, one by kind, and healthy twins of them (C# 7). Some 30 MB of Shed.Item are in the store that
// Shed.Stock.kept refers to, unless the kind says otherwise.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Shed
{
    public sealed class Item : IComparable { public readonly byte[] load; public readonly int id; public Item(int i, int n) { id = i; load = new byte[n]; } public int CompareTo(object o) { return id.CompareTo(((Item)o).id); } }
    public sealed class Session { public readonly Dictionary<int, Item> items = new Dictionary<int, Item>(); public readonly AutoResetEvent ended = new AutoResetEvent(false); public Session() { for (int i = 0; i < 40; i++) items[i] = new Item(i, 4000); } public void Lives() { lock (items) ended.WaitOne(); GC.KeepAlive(this); } }
    public sealed class Hall { public event Action<int> Opened; public Action<int> Calls; public void Open() { if (Opened != null) Opened(1); } public object Subscribers { get { return Opened; } } }
    public sealed class Guest { public readonly byte[] load = new byte[3000]; public void Comes(int n) { GC.KeepAlive(load); } }
    // a cache of the program, which drops its oldest item if it is full, unless it forgets to
    public sealed class Capped { readonly int limit; readonly Dictionary<int, Item> items = new Dictionary<int, Item>(); readonly Queue<Item> order = new Queue<Item>(); public Capped(int n) { limit = n; } public void Add(Item i, bool drops) { if (drops && items.Count >= limit) items.Remove(order.Dequeue().id); items[i.id] = i; order.Enqueue(i); } }
    public static class Stock
    {
        public static object kept, other;
        public static readonly object first = new object();
        public static readonly List<object> keys = new List<object>();
        public static readonly Hall hall = new Hall();
        public static readonly CancellationTokenSource closing = new CancellationTokenSource();
        [ThreadStatic] public static Dictionary<int, Item> mine;
        public static readonly ThreadLocal<List<Item>> each = new ThreadLocal<List<Item>>(() => new List<Item>());
        public static long sum;
    }
    public static class M
    {
        const int Many = 7500, Load = 4000; // 30 MB
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static Type Of(string type, string assembly) { return Type.GetType(assembly == "" ? type : type + ", " + assembly, true); }
        static object New(string type, string assembly, params Type[] of) { return Activator.CreateInstance(Of(type, assembly).MakeGenericType(of)); }
        static MethodInfo Method(object o, string name, int arguments) { foreach (var m in o.GetType().GetMethods()) if (m.Name == name && m.GetParameters().Length == arguments) return m; throw new MissingMethodException(name); }
        static Item I(int i) { return new Item(i, Load); }
        // calls a method of a new store with each item, alone or behind its number
        static object Fill(object store, string method, bool numbered, int many) { var m = Method(store, method, numbered ? 2 : 1); for (int i = 0; i < many; i++) m.Invoke(store, numbered ? new object[] { i, I(i) } : new object[] { I(i) }); return store; }
        // as Fill, of a store whose methods return another one
        static object Chain(string type, string method, bool numbered, int many)
        {
            var t = Of(type, "System.Collections.Immutable").MakeGenericType(numbered ? new[] { typeof(int), typeof(Item) } : new[] { typeof(Item) });
            var field = t.GetField("Empty"); object store = field != null ? field.GetValue(null) : t.GetProperty("Empty").GetValue(null, null);
            var m = Method(store, method, numbered ? 2 : 1);
            for (int i = 0; i < many; i++) store = m.Invoke(store, numbered ? new object[] { i, I(i) } : new object[] { I(i) });
            return store;
        }
        static object Channel() { return Of("System.Threading.Channels.Channel", "System.Threading.Channels").GetMethod("CreateUnbounded", Type.EmptyTypes).MakeGenericMethod(typeof(Item)).Invoke(null, null); }
        static object Writer(object channel) { return channel.GetType().BaseType.GetProperty("Writer").GetValue(channel, null); }
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        const string G = "System.Collections.Generic.", C = "System.Collections.Concurrent.", Im = "System.Collections.Immutable.";
        const string Core = "System.Private.CoreLib", Col = "System.Collections", Con = "System.Collections.Concurrent";
        static bool Store(string kind, int many)
        {
            switch (kind)
            {
                case "list": Stock.kept = Fill(new List<Item>(), "Add", false, many); return true;
                case "dictionary": Stock.kept = Fill(new Dictionary<int, Item>(), "Add", true, many); return true;
                case "queue": Stock.kept = Fill(new Queue<Item>(), "Enqueue", false, many); return true;
                case "stack": Stock.kept = Fill(New(G + "Stack`1", Col, typeof(Item)), "Push", false, many); return true;
                case "hashset": Stock.kept = Fill(New(G + "HashSet`1", Core, typeof(Item)), "Add", false, many); return true;
                case "capped": { var c = new Capped(many); for (int i = 0; i < many; i++) c.Add(I(i), false); Stock.kept = c; return true; }
                case "linkedlist": { var l = New(G + "LinkedList`1", Col, typeof(Item)); for (int i = 0; i < many; i++) ((ICollection<Item>)l).Add(I(i)); Stock.kept = l; return true; }
                case "sortedset": Stock.kept = Fill(New(G + "SortedSet`1", Col, typeof(Item)), "Add", false, many); return true;
                case "sorteddictionary": Stock.kept = Fill(New(G + "SortedDictionary`2", Col, typeof(int), typeof(Item)), "Add", true, many); return true;
                case "sortedlist": Stock.kept = Fill(New(G + "SortedList`2", Col, typeof(int), typeof(Item)), "Add", true, many); return true;
                case "priorityqueue": { var q = New(G + "PriorityQueue`2", Col, typeof(Item), typeof(int)); var m = Method(q, "Enqueue", 2); for (int i = 0; i < many; i++) m.Invoke(q, new object[] { I(i), i }); Stock.kept = q; return true; }
                case "arraylist": { var l = new ArrayList(); for (int i = 0; i < many; i++) l.Add(I(i)); Stock.kept = l; return true; }
                case "hashtable": { var h = new Hashtable(); for (int i = 0; i < many; i++) h[i] = I(i); Stock.kept = h; return true; }
                case "observable": Stock.kept = Fill(New("System.Collections.ObjectModel.ObservableCollection`1", "System.ObjectModel", typeof(Item)), "Add", false, many); return true;
                case "concurrentdictionary": Stock.kept = Fill(New(C + "ConcurrentDictionary`2", Con, typeof(int), typeof(Item)), "TryAdd", true, many); return true;
                case "concurrentqueue": Stock.kept = Fill(New(C + "ConcurrentQueue`1", Core, typeof(Item)), "Enqueue", false, many); return true;
                case "concurrentstack": Stock.kept = Fill(New(C + "ConcurrentStack`1", Con, typeof(Item)), "Push", false, many); return true;
                case "concurrentbag": Stock.kept = Fill(New(C + "ConcurrentBag`1", Con, typeof(Item)), "Add", false, many); return true;
                case "blocking": Stock.kept = Fill(New(C + "BlockingCollection`1", Con, typeof(Item)), "Add", false, many); return true;
                case "immutablelist": Stock.kept = Chain(Im + "ImmutableList`1", "Add", false, many); return true;
                case "immutabledictionary": Stock.kept = Chain(Im + "ImmutableDictionary`2", "Add", true, many); return true;
                case "immutablehashset": Stock.kept = Chain(Im + "ImmutableHashSet`1", "Add", false, many); return true;
                case "immutablesorted": Stock.kept = Chain(Im + "ImmutableSortedDictionary`2", "Add", true, many); return true;
                case "immutablequeue": Stock.kept = Chain(Im + "ImmutableQueue`1", "Enqueue", false, many); return true;
                case "immutablestack": Stock.kept = Chain(Im + "ImmutableStack`1", "Push", false, many); return true;
                case "channel": { var c = Channel(); Fill(Writer(c), "TryWrite", false, many); Stock.kept = c; return true; }
                case "lists": { var d = new Dictionary<int, List<Item>>(); for (int i = 0; i < 100; i++) d[i] = (List<Item>)Fill(new List<Item>(), "Add", false, many / 100); Stock.kept = d; return true; }
                // a value for each of the keys that Stock.keys has
                case "weaktable": { var t = new ConditionalWeakTable<object, Item>(); for (int i = 0; i < many; i++) { var k = new object(); Stock.keys.Add(k); t.Add(k, I(i)); } Stock.kept = t; return true; }
                // all values belong to one key, Stock.first, and refer to their tables
                case "weaktables": for (int i = 0; i < many / 10; i++) Attach(i); return true;
                // the same items in two stores: each of them keeps all
                case "twice": { var d = new Dictionary<int, Item>(); var l = new List<Item>(); for (int i = 0; i < many; i++) { var x = I(i); d[i] = x; l.Add(x); } Stock.kept = d; Stock.other = l; return true; }
                // one store, two fields
                case "twofields": Stock.kept = Stock.other = Fill(new List<Item>(), "Add", false, many); return true;
                // handlers of Stock.hall.Opened
                case "calls": { for (int i = 0; i < many; i++) Stock.hall.Calls += new Guest().Comes; return true; }
                case "handlers": for (int i = 0; i < many; i++) Stock.hall.Opened += new Guest().Comes; return true;
                // registrations with Stock.closing
                case "registrations": for (int i = 0; i < many; i++) { var x = I(i); Stock.closing.Token.Register(o => GC.KeepAlive(o), x); } return true;
                // a dictionary of Stock.mine in each of 20 threads
                case "threads": for (int i = 0; i < 20; i++) T("clerk " + i, () => { Stock.mine = (Dictionary<int, Item>)Fill(new Dictionary<int, Item>(), "Add", true, many / 20); Thread.Sleep(-1); }); Thread.Sleep(3000); return true;
                // a list of Stock.each in each of 20 threads
                case "locals": for (int i = 0; i < 20; i++) T("clerk " + i, () => { Fill(Stock.each.Value, "Add", false, many / 20); Thread.Sleep(-1); }); Thread.Sleep(3000); return true;
                // 190 sessions of 160 KB, each on the stack of its thread
                case "sessions": for (int i = 0; i < many / 40; i++) T("session " + i, () => { var s = new Session(); s.Lives(); }); Thread.Sleep(3000); return true;
                // 190 sessions, each kept by the tasks that serve it
                case "served": for (int i = 0; i < many / 40; i++) Serves(new Session()); return true;
            }
            return false;
        }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Attach(int i) { var t = new ConditionalWeakTable<object, List<object>>(); var l = new List<object> { t }; for (int k = 0; k < 10; k++) l.Add(I(i)); t.Add(Stock.first, l); }
        static async void Serves(Session s) { while (true) { await Task.Delay(60000); Stock.sum += s.items.Count; } }

        // stores of 400 items of 45 KB, 18 MB, that are replaced again and again
        const int Few = 400, Big = 45000;
        static Item B(int i) { return new Item(i, Big); }
        static bool Turns(string kind)
        {
            var r = new Random(7);
            switch (kind)
            {
                case "concurrentdictionary": { var d = New(C + "ConcurrentDictionary`2", Con, typeof(int), typeof(Item)); Stock.kept = d; var x = (IDictionary<int, Item>)d; for (int i = 0; i < 20000; i++) x[r.Next(Few)] = B(i); return true; }
                case "dictionary": { var d = new Dictionary<int, Item>(); Stock.kept = d; for (int i = 0; i < 20000; i++) d[r.Next(Few)] = B(i); return true; }
                case "fifo": { var d = new Dictionary<int, Item>(); var q = new Queue<int>(); Stock.kept = d; Stock.other = q; for (int i = 0; i < 20000; i++) { if (d.Count == Few) d.Remove(q.Dequeue()); d[i] = B(i); q.Enqueue(i); } return true; }
                case "queue": { var q = new Queue<Item>(); Stock.kept = q; for (int i = 0; i < 20000; i++) { if (q.Count == Few) q.Dequeue(); q.Enqueue(B(i)); } return true; }
                case "list": { var l = new List<Item>(); Stock.kept = l; for (int i = 0; i < 20000; i++) { if (l.Count == Few) l.RemoveAt(0); l.Add(B(i)); } return true; }
                case "capped": { var c = new Capped(Many); Stock.kept = c; for (int i = 0; i < 20000; i++) c.Add(I(i), true); return true; }
                case "linkedlist": { var l = (ICollection<Item>)New(G + "LinkedList`1", Col, typeof(Item)); Stock.kept = l; var m = Method(l, "RemoveFirst", 0); for (int i = 0; i < 20000; i++) { if (l.Count == Few) m.Invoke(l, null); l.Add(B(i)); } return true; }
            }
            return false;
        }
        public static int Main(string[] a) // trial KIND [few|turns]
        {
            var how = a.Length > 2 ? a[2] : "";
            if (how == "turns" ? !Turns(a[1]) : !Store(a[1], how == "few" ? 400 : Many)) return 1;
            if (how != "turns") { GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); }
            Thread.Sleep(600); Say("READY 0"); Thread.Sleep(-1);
            return 0;
        }
    }
}
