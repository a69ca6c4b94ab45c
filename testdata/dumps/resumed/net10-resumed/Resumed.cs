using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

// Async methods that the thread pool resumed and that block a thread: who waits for them is on no stack.
namespace Shop
{
    public sealed class Order { public int Id; }

    public static class Store
    {
        public static readonly object Gate = new object();

        // Nothing of it is needed once it sleeps, but its caller still waits for its end.
        public static async Task<int> Load(Order o)
        {
            await Task.Delay(20);
            Program.Blocked("Load", o.Id);
            Thread.Sleep(-1);
            return 1;
        }

        public static async Task Save(Order o)
        {
            await Task.Delay(20);
            Program.Blocked("Save", o.Id);
            lock (Gate) { o.Id++; }
        }

        // Awaits on the way, and blocks in a method that it calls.
        public static async ValueTask<int> Count(Order o)
        {
            for (int i = 0; i < 3; i++) await Task.Yield();
            return Nap(o);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static int Nap(Order o) { Program.Blocked("Count", o.Id); Thread.Sleep(-1); return o.Id; }
    }

    public static class Web
    {
        public static async Task<int> Request(Order o) { int n = await Service(o); return n + o.Id; }
        static async Task<int> Service(Order o) { try { return await Store.Load(o); } finally { o.Id = 0; } }

        public static async Task Checkout(Order o) { await Book(o); o.Id = 0; }
        static async Task Book(Order o) { await Store.Save(o); o.Id = 0; }

        public static async Task<int> Stock(Order o) { return await Store.Count(o); }

        // Short completes first, and its completion resumes Late on the same thread: Short is below Late on the stack.
        public static async Task Report(Order o) { await Late(o); o.Id = 0; }
        static async Task Late(Order o) { await Short(o); Program.Blocked("Late", o.Id); Thread.Sleep(-1); o.Id = 0; }
        static async Task Short(Order o) { await Task.Delay(20); o.Id++; }

        // A task of the pool that runs no async method.
        public static async Task<int> Offload(Order o) { return await Task.Run(() => Sum(o)); }
        static int Sum(Order o) { Program.Blocked("Sum", o.Id); Thread.Sleep(-1); return o.Id; }

        // Nobody waits for it.
        public static async void Forgotten(Order o) { await Task.Yield(); Program.Blocked("Forgotten", o.Id); Thread.Sleep(-1); o.Id = 0; }
    }

    public static class Program
    {
        static int running = 6;
        static Task[] tasks;

        static void Say(string text)
        {
            Type c = Type.GetType("System.Console, System.Console");
            c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { text });
        }

        public static void Blocked(string method, int id)
        {
            Say("FACT " + method + " " + Environment.CurrentManagedThreadId);
            Interlocked.Decrement(ref running);
        }

        public static void Main(string[] args)
        {
            ThreadPool.SetMinThreads(8, 8);
            lock (Store.Gate)
            {
                tasks = new Task[] { Web.Request(new Order { Id = 1 }), Web.Checkout(new Order { Id = 2 }), Web.Stock(new Order { Id = 3 }),
                    Web.Report(new Order { Id = 5 }), Web.Offload(new Order { Id = 6 }) };
                Web.Forgotten(new Order { Id = 4 });
                while (Volatile.Read(ref running) > 0) Thread.Sleep(10);
                Thread.Sleep(300);
                Say("READY 0");
                Thread.Sleep(-1);
            }
        }
    }
}
