// Main returns while a foreground thread takes items from a BlockingCollection for ever. With the argument "fed" a background thread adds some; without it
// no thread is left that could. With "loop" the thread waits for pulses in a method that a loop calls, with "event" for an event in its loop, with "once" for one pulse, and with
// "counted" for five events; a timer gives them. (C# 7)
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
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
        static readonly Queue<int> mail = new Queue<int>(); static readonly AutoResetEvent due = new AutoResetEvent(false);
        static void Take() { lock (mail) { while (mail.Count == 0) Monitor.Wait(mail); Sum += mail.Dequeue(); } }
        static void Loop() { while (true) Take(); }
        static void Event() { while (true) { due.WaitOne(); Sum++; } }
        static void Counted() { for (int i = 0; i < 5; i++) due.WaitOne(); }
        static void Behind(string mode)
        {
            ThreadStart run = mode == "loop" ? Loop : mode == "event" ? (ThreadStart)Event : mode == "once" ? (ThreadStart)Take : Counted;
            new Thread(run) { Name = mode }.Start();
            keep = new Timer(_ => { due.Set(); lock (mail) { mail.Enqueue(1); Monitor.Pulse(mail); } }, null, 600000, 600000);
        }
        public static Timer keep;
        public static void Main(string[] a)
        {
            if (a.Length > 0 && a[0] != "fed" && a[0] != "alone") { Behind(a[0]); Thread.Sleep(500); Say("READY 0"); return; }
            new Thread(Serve) { Name = "orders" }.Start();
            if (a.Length > 0 && a[0] == "fed") new Thread(Feed) { Name = "intake", IsBackground = true }.Start();
            Say("READY 0");
        }
    }
}
