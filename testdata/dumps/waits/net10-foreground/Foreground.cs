// Main returns while a foreground thread takes items from a BlockingCollection for ever. With the argument "fed" a background thread adds some; without it
// no thread is left that could. (C# 7)
using System;
using System.Collections.Concurrent;
using System.Reflection;
using System.Threading;
namespace Mill
{
    public static class Program
    {
        static readonly BlockingCollection<int> orders = new BlockingCollection<int>(); public static long Sum;
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static void Serve() { foreach (int x in orders.GetConsumingEnumerable()) Sum += x; }
        static void Feed() { for (int i = 0; ; i++) { orders.Add(i); Thread.Sleep(300); } }
        public static void Main(string[] a)
        {
            new Thread(Serve) { Name = "orders" }.Start();
            if (a.Length > 0 && a[0] == "fed") new Thread(Feed) { Name = "intake", IsBackground = true }.Start();
            Say("READY 0");
        }
    }
}
