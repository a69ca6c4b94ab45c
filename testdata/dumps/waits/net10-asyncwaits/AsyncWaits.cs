using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

// Async methods that wait for each other, without a thread that waits. "waits" runs all of them, "idle" none.
namespace Shop
{
    public sealed class Gate { public readonly SemaphoreSlim gate; public Gate(int n) { gate = new SemaphoreSlim(n, n); } }

    public static class Accounts { public static readonly Gate A = new Gate(1), B = new Gate(1); }

    public static class Database { public static readonly Gate Connections = new Gate(10); }

    // A queue that blocks its writers with promises.
    public sealed class BoundedQueue
    {
        readonly Queue<int> items = new Queue<int>();
        readonly Queue<TaskCompletionSource<bool>> room = new Queue<TaskCompletionSource<bool>>();
        readonly int capacity;
        public static readonly BoundedQueue Orders = new BoundedQueue(100);
        public BoundedQueue(int n) { capacity = n; }
        public async Task WriteAsync(int x)
        {
            while (true)
            {
                TaskCompletionSource<bool> w;
                lock (items)
                {
                    if (items.Count < capacity) { items.Enqueue(x); return; }
                    w = new TaskCompletionSource<bool>();
                    room.Enqueue(w);
                }
                await w.Task;
            }
        }
    }

    // A lock whose method enters it for the caller.
    public sealed class AsyncLock
    {
        readonly SemaphoreSlim semaphore = new SemaphoreSlim(1, 1);
        public static readonly AsyncLock Stock = new AsyncLock();
        public async Task<AsyncLock> EnterAsync() { await semaphore.WaitAsync(); return this; }
        public void Exit() { semaphore.Release(); }
    }

    public static class Program
    {
        static readonly List<Task> tasks = new List<Task>();
        static readonly SemaphoreSlim signal = new SemaphoreSlim(0);

        static void Say(string text)
        {
            Type c = Type.GetType("System.Console, System.Console");
            c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { text });
        }

        static async Task Transfer(Gate first, Gate second)
        {
            await first.gate.WaitAsync();
            await Task.Delay(300);
            await second.gate.WaitAsync();
            second.gate.Release();
            first.gate.Release();
        }

        static async Task Request()
        {
            await Database.Connections.gate.WaitAsync();
            try { await Task.Delay(1); } finally { Database.Connections.gate.Release(); }
        }

        // Loses a permit.
        static async Task Lose()
        {
            await Database.Connections.gate.WaitAsync();
            if (Environment.TickCount != 0) return;
            Database.Connections.gate.Release();
        }

        static async Task Ship(int i) { await BoundedQueue.Orders.WriteAsync(i); }

        static async Task Count(TaskCompletionSource<bool> done)
        {
            var held = await AsyncLock.Stock.EnterAsync();
            await done.Task;
            held.Exit();
        }

        static async Task Consume() { while (true) await signal.WaitAsync(); }

        public static void Main(string[] args)
        {
            if (args[args.Length - 1] == "idle")
            {
                Task.Run(async () => { Say("READY 0"); await Task.Delay(-1); }).GetAwaiter().GetResult();
            }
            tasks.Add(Transfer(Accounts.A, Accounts.B));
            tasks.Add(Transfer(Accounts.B, Accounts.A));
            Thread.Sleep(600);
            for (int i = 0; i < 15; i++) tasks.Add(Transfer(Accounts.A, Accounts.B));
            for (int i = 0; i < 10; i++) tasks.Add(Lose());
            for (int i = 0; i < 60; i++) tasks.Add(Request());
            for (int i = 0; i < 149; i++) tasks.Add(Ship(i));
            var done = new TaskCompletionSource<bool>();
            for (int i = 0; i < 4; i++) tasks.Add(Count(done));
            tasks.Add(Consume());
            Thread.Sleep(700);
            Say("READY 0");
            Thread.Sleep(-1);
        }
    }
}
