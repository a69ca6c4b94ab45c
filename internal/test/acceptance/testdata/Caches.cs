// Caches with a bound that are as large as they get, and twins that only grow.
using System; using System.Collections.Concurrent; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks;
namespace Caches
{
    class Entry { public string Key; public byte[] Data; public long Used; }

    // The least recently used goes when there are too many: a map of the nodes of a list.
    class Lru
    {
        readonly int capacity; readonly ConcurrentDictionary<string, LinkedListNode<Entry>> map = new ConcurrentDictionary<string, LinkedListNode<Entry>>(); readonly LinkedList<Entry> order = new LinkedList<Entry>(); readonly object gate = new object();
        public Lru(int n) { capacity = n; }
        public void Add(string key, byte[] data)
        {
            lock (gate)
            {
                var node = order.AddFirst(new Entry { Key = key, Data = data });
                map[key] = node;
                if (map.Count > capacity) { var last = order.Last; order.RemoveLast(); LinkedListNode<Entry> x; map.TryRemove(last.Value.Key, out x); }
            }
        }
        public byte[] Get(string key) { LinkedListNode<Entry> n; if (!map.TryGetValue(key, out n)) return null; lock (gate) { if (n.List != null) { order.Remove(n); order.AddFirst(n); } } return n.Value.Data; }
    }

    // The same with a constant.
    class ConstLru
    {
        const int Most = 3000; readonly ConcurrentDictionary<string, LinkedListNode<Entry>> map = new ConcurrentDictionary<string, LinkedListNode<Entry>>(); readonly LinkedList<Entry> order = new LinkedList<Entry>();
        public void Add(string key, byte[] data)
        {
            lock (order)
            {
                map[key] = order.AddLast(new Entry { Key = key, Data = data });
                while (order.Count > Most) { Entry first = order.First.Value; order.RemoveFirst(); LinkedListNode<Entry> x; map.TryRemove(first.Key, out x); }
            }
        }
    }

    // The twin: nothing removes, and there is no bound; but the class has a method for one item.
    class Grows
    {
        readonly ConcurrentDictionary<string, LinkedListNode<Entry>> map = new ConcurrentDictionary<string, LinkedListNode<Entry>>(); readonly LinkedList<Entry> order = new LinkedList<Entry>();
        public void Add(string key, byte[] data) { lock (order) map[key] = order.AddFirst(new Entry { Key = key, Data = data }); }
        public void Drop(string key) { LinkedListNode<Entry> x; if (map.TryRemove(key, out x)) lock (order) order.Remove(x); }
    }

    // A dictionary from which a timer's callback takes the old ones.
    class Swept
    {
        readonly Dictionary<string, Entry> map = new Dictionary<string, Entry>(); long now; Timer timer;
        public Swept() { timer = new Timer(Sweep, null, 20, 20); }
        public void Add(string key, byte[] data) { lock (map) map[key] = new Entry { Key = key, Data = data, Used = now++ }; }
        void Sweep(object o)
        {
            lock (map)
            {
                var old = new List<string>();
                foreach (var e in map.Values) if (e.Used < now - 3000) old.Add(e.Key);
                foreach (var k in old) map.Remove(k);
            }
        }
    }

    // The twin: what it takes is never old enough.
    class SweptNot
    {
        readonly Dictionary<string, Entry> map = new Dictionary<string, Entry>(); long now; Timer timer;
        public SweptNot() { timer = new Timer(Sweep, null, 20, 20); }
        public void Add(string key, byte[] data) { lock (map) map[key] = new Entry { Key = key, Data = data, Used = now++ }; }
        void Sweep(object o)
        {
            lock (map)
            {
                var old = new List<string>();
                foreach (var e in map.Values) if (e.Used < now - 3000000) old.Add(e.Key);
                foreach (var k in old) map.Remove(k);
            }
        }
    }

    // The bound can be set, and the dictionary has the values; the list has the keys in the order of use. The method that adds removes what is too much.
    class Settable<K, V>
    {
        public int Capacity { get; set; } readonly ConcurrentDictionary<K, V> map = new ConcurrentDictionary<K, V>(); readonly LinkedList<K> order = new LinkedList<K>();
        public Settable(int n) { Capacity = n; }
        public void Add(K key, V value)
        {
            lock (order)
            {
                if (map.Count >= Capacity) { V x; map.TryRemove(order.Last.Value, out x); order.RemoveLast(); }
                map[key] = value; order.AddFirst(key);
            }
        }
    }

    // The bound is a field of the options.
    class Options { public int MaxEntries = 3000; public string Name = "pages"; }
    class ByOptions
    {
        readonly Options options; readonly ConcurrentDictionary<string, Entry> map = new ConcurrentDictionary<string, Entry>(); readonly LinkedList<string> order = new LinkedList<string>();
        public ByOptions(Options o) { options = o; }
        public void Add(string key, byte[] data) { lock (order) { map[key] = new Entry { Key = key, Data = data }; order.AddLast(key); Trim(); } }
        void Trim() { while (order.Count > options.MaxEntries) { string k = order.First.Value; order.RemoveFirst(); Entry x; map.TryRemove(k, out x); } }
    }

    // No list: the oldest is sought among the values.
    class Sought
    {
        readonly int capacity; readonly ConcurrentDictionary<string, Entry> map = new ConcurrentDictionary<string, Entry>(); long now;
        public Sought(int n) { capacity = n; }
        public void Add(string key, byte[] data)
        {
            map[key] = new Entry { Key = key, Data = data, Used = now++ };
            if (map.Count > capacity) { int left = 64; foreach (var e in map) { Entry x; if (left-- == 0) break; if (map.Count <= capacity) break; map.TryRemove(e.Key, out x); } }
        }
    }

    // The twin: the capacity is only what the map is made for.
    class Sized
    {
        readonly int capacity = 4000; readonly ConcurrentDictionary<string, Entry> map; readonly LinkedList<string> order = new LinkedList<string>();
        public Sized() { map = new ConcurrentDictionary<string, Entry>(2, capacity); }
        public void Add(string key, byte[] data) { map[key] = new Entry { Key = key, Data = data }; order.AddFirst(key); }
        public void Drop(string key) { Entry x; map.TryRemove(key, out x); order.Remove(key); }
    }

    // A dictionary that is swept when it is asked: the method that adds takes what has expired, every thousand items.
    class Expiring
    {
        readonly ConcurrentDictionary<string, Entry> map = new ConcurrentDictionary<string, Entry>(); long now;
        public void Add(string key, byte[] data) { map[key] = new Entry { Key = key, Data = data, Used = now++ }; if (now % 1000 == 0) Expire(); }
        void Expire() { foreach (var e in map) { Entry x; if (e.Value.Used < now - 3000) map.TryRemove(e.Key, out x); } }
    }

    static class All
    {
        static Lru lru; static ConstLru fixedLru; static Grows grows; static Swept swept; static SweptNot sweptNot; static Settable<string, Entry> settable; static ByOptions byOptions; static Sought sought; static Sized sized; static Expiring expiring;
        static int n; static readonly Random random = new Random(7);
        static byte[] Data() { return new byte[8000 + random.Next(2000)]; }
        static void Main(string[] a)
        {
            string k = a[a.Length - 1];
            int turns = k == "Grows" || k == "SweptNot" || k == "Sized" ? 4000 : 60000;
            if (k == "Lru") lru = new Lru(3000); if (k == "ConstLru") fixedLru = new ConstLru(); if (k == "Grows") grows = new Grows(); if (k == "Swept") swept = new Swept(); if (k == "SweptNot") sweptNot = new SweptNot();
            if (k == "Settable") settable = new Settable<string, Entry>(3000); if (k == "ByOptions") byOptions = new ByOptions(new Options()); if (k == "Sought") sought = new Sought(3000); if (k == "Sized") sized = new Sized(); if (k == "Expiring") expiring = new Expiring();
            for (; n < turns; n++)
            {
                string key = "item " + n;
                if (lru != null) { lru.Add(key, Data()); lru.Get("item " + (n - random.Next(100))); }
                if (fixedLru != null) fixedLru.Add(key, Data());
                if (settable != null) settable.Add(key, new Entry { Key = key, Data = Data() });
                if (byOptions != null) byOptions.Add(key, Data());
                if (sought != null) sought.Add(key, Data());
                if (sized != null) sized.Add(key, Data());
                if (expiring != null) expiring.Add(key, Data());
                if (grows != null) grows.Add(key, Data());
                if (swept != null) { swept.Add(key, Data()); if (n % 50 == 0) Thread.Sleep(1); }
                if (sweptNot != null) { sweptNot.Add(key, Data()); if (n % 50 == 0) Thread.Sleep(1); }
            }
            GC.Collect();
            Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" }); new ManualResetEventSlim().Wait();
        }
    }
}
