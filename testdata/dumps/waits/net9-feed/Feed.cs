// Feed: the producer of a BlockingCollection has failed, and Parallel.ForEach waits for more items: one of its threads waits for an item and holds
// the lock of the partitioner, for which the others wait. A ConditionalWeakTable attaches a page of 2 KB to each of 400 keys, and each page refers to the
// next key, so a static field keeps all of them alive.
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace Clerk
{
    public class Key { public int Id; }
    public class Page { public byte[] Data = new byte[2048]; public Key Next; }
    public static class Feed
    {
        static readonly ConditionalWeakTable<Key, Page> pages = new ConditionalWeakTable<Key, Page>();
        static Key head;
        static void Attach()
        {
            Key at = head = new Key();
            for (int i = 0; i < 400; i++) { var next = new Key { Id = i }; pages.Add(at, new Page { Next = next }); at = next; }
        }
        static void Produce(BlockingCollection<string> to)
        {
            try { for (int i = 0; ; i++) { if (i == 20) throw new IOException("feed"); to.Add("x" + i); } }
            catch (IOException e) { Console.WriteLine(e.Message); }
        }
        public static void Main()
        {
            new Thread(Attach).Start();
            var items = new BlockingCollection<string>();
            new Thread(() => Produce(items)).Start();
            new Thread(() => { Thread.Sleep(2500); Console.WriteLine("READY"); Thread.Sleep(-1); }) { IsBackground = true }.Start();
            Parallel.ForEach(items.GetConsumingEnumerable(), s => Thread.Sleep(2));
        }
    }
}
