// Pools and queues that pass on ("moves"), and the same code where each who could let the others go on waits for them ("stuck"). With "lost" threads wait for
// what failed code would have given, and the end of the program waits for threads that nothing gives work. Written for .NET 9 and Roslyn.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Pools
{
    public sealed class Van { public int Trips; }

    // A pool with methods to open and to close. Stuck: who has a van needs a second one.
    public sealed class Depot(int most)
    {
        readonly SemaphoreSlim free = new(most, most);
        readonly ConcurrentBag<Van> vans = new();

        public async Task<Van> Open()
        {
            await free.WaitAsync();
            return vans.TryTake(out var v) ? v : new Van();
        }

        public void Close(Van v)
        {
            vans.Add(v);
            free.Release();
        }
    }

    // The same behind an interface. To get one may fail, and to put it back takes its time.
    public interface IShelf
    {
        Task<Van> Take();
        Task PutBack(Van v);
    }

    public sealed class Shelf : IShelf
    {
        readonly SemaphoreSlim places = new(2, 2);

        public async Task<Van> Take()
        {
            await places.WaitAsync();
            try
            {
                await Task.Yield();
                return new Van();
            }
            catch
            {
                places.Release();
                throw;
            }
        }

        public async Task PutBack(Van v)
        {
            await Task.Yield();
            v.Trips++;
            places.Release();
        }
    }

    // A channel that is a pool: code reads from it and writes back. Stuck as above.
    public sealed class Rack
    {
        readonly Channel<Van> idle = Channel.CreateBounded<Van>(3);

        public Rack() { for (int i = 0; i < 3; i++) idle.Writer.TryWrite(new Van()); }

        public async Task<int> Load(bool stuck)
        {
            var v = await idle.Reader.ReadAsync();
            try
            {
                await Task.Delay(5);
                if (stuck) return await Weigh();
                return v.Trips++;
            }
            finally { idle.Writer.TryWrite(v); }
        }

        async Task<int> Weigh()
        {
            var v = await idle.Reader.ReadAsync();
            try
            {
                await Task.Delay(3);
                return v.Trips;
            }
            finally { idle.Writer.TryWrite(v); }
        }
    }

    // The same with methods of its own.
    public sealed class Stall
    {
        readonly Channel<Van> spare = Channel.CreateUnbounded<Van>();

        public Stall() { for (int i = 0; i < 2; i++) spare.Writer.TryWrite(new Van()); }

        public async Task<Van> Rent() => await spare.Reader.ReadAsync();

        public void Return(Van v) => spare.Writer.TryWrite(v);
    }

    // Who holds the dock reports to a queue. Stuck: what reads the queue needs the dock.
    public sealed class Dock(bool stuck)
    {
        readonly SemaphoreSlim ramp = new(1, 1);
        readonly Channel<int> reports = Channel.CreateBounded<int>(4);
        public int Read;

        public async Task Unload(int n)
        {
            await ramp.WaitAsync();
            try { await reports.Writer.WriteAsync(n); }
            finally { ramp.Release(); }
        }

        public async Task Follow()
        {
            while (true)
            {
                int n = await reports.Reader.ReadAsync();
                if (!stuck) await Task.Delay(2);
                else
                {
                    await ramp.WaitAsync();
                    try { Read += n; await Task.Delay(2); }
                    finally { ramp.Release(); }
                }
            }
        }
    }

    // Who holds the line waits for an answer. Stuck: who answers needs the line first.
    public sealed class Desk(bool stuck)
    {
        readonly SemaphoreSlim line = new(1, 1);
        readonly Channel<TaskCompletionSource<int>> asked = Channel.CreateUnbounded<TaskCompletionSource<int>>();
        int served;

        public async Task<int> Ask()
        {
            await line.WaitAsync();
            try
            {
                var answer = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
                asked.Writer.TryWrite(answer);
                return await answer.Task;
            }
            finally { line.Release(); }
        }

        public async Task Serve()
        {
            while (true)
            {
                var answer = await asked.Reader.ReadAsync();
                await Task.Delay(2);
                if (stuck)
                {
                    await line.WaitAsync();
                    served++;
                    line.Release();
                }
                answer.SetResult(served);
            }
        }
    }

    // Threads add to a collection under a lock. Stuck: the thread that takes from it needs the lock.
    public sealed class Belt(bool stuck)
    {
        readonly object list = new();
        readonly BlockingCollection<int> boxes = new(5);
        int loaded;

        public void Add()
        {
            for (int i = 0; ; i++)
            {
                lock (list) boxes.Add(i);
                Thread.Sleep(1);
            }
        }

        public void Load()
        {
            foreach (int box in boxes.GetConsumingEnumerable())
            {
                if (stuck) lock (list) loaded += box;
                Thread.Sleep(3);
            }
        }
    }

    // A pool of threads' things with pulses. Stuck: none is given back.
    public sealed class Keys(int most, bool stuck)
    {
        readonly Queue<Van> idle = new();
        readonly object gate = new();
        int made;

        Van Rent()
        {
            lock (gate)
            {
                while (true)
                {
                    if (idle.TryDequeue(out var v)) return v;
                    if (made < most)
                    {
                        made++;
                        return new Van();
                    }
                    Monitor.Wait(gate);
                }
            }
        }

        void Return(Van v)
        {
            lock (gate)
            {
                idle.Enqueue(v);
                Monitor.Pulse(gate);
            }
        }

        void Drive(int n)
        {
            var v = Rent();
            Thread.Sleep(2);
            if (stuck && ++v.Trips % 7 == 6) throw new InvalidOperationException("a flat tyre");
            Return(v);
        }

        public void Run()
        {
            for (int n = 0; ; n++)
            {
                try { Drive(n); }
                catch (InvalidOperationException) { }
            }
        }
    }

    // Threads wait for what is loaded once. Stuck: the load has failed.
    public sealed class Plan
    {
        readonly TaskCompletionSource<int> loaded = new();
        public Exception Error;
        public int Sum;

        public void Load(string text)
        {
            try
            {
                Thread.Sleep(20);
                loaded.SetResult(int.Parse(text));
            }
            catch (FormatException e) { Error = e; }
        }

        public void Work()
        {
            Sum += loaded.Task.Result;
            while (true) Thread.Sleep(10);
        }
    }

    // Threads print pages. Lost: nobody says that there are no more.
    public sealed class Press
    {
        readonly BlockingCollection<int> pages = new();
        int printed;

        void Print()
        {
            foreach (int page in pages.GetConsumingEnumerable()) printed += page;
        }

        public void Run(bool lost)
        {
            var printers = Enumerable.Range(0, 3).Select(_ => Task.Factory.StartNew(Print, TaskCreationOptions.LongRunning)).ToArray();
            for (int i = 0; i < 50; i++) pages.Add(i);
            while (!lost)
            {
                Thread.Sleep(40);
                pages.Add(1);
            }
            Task.WaitAll(printers);
        }
    }

    // A queue of the program's own, with a semaphore that counts its items: who handles one may add another. It is no pool.
    public sealed class Inbox
    {
        readonly SemaphoreSlim items = new(0);
        readonly ConcurrentQueue<int> letters = new();

        public async Task<int> Take()
        {
            await items.WaitAsync();
            return letters.TryDequeue(out int n) ? n : 0;
        }

        public void Add(int n)
        {
            letters.Enqueue(n);
            items.Release();
        }
    }

    public static class Program
    {
        public static Depot Vans = new(4);
        public static IShelf Shelf = new Shelf();
        public static Rack Rack = new();
        public static Stall Stall = new();
        public static Dock Dock;
        public static Desk Desk;
        public static Belt Belt;
        public static Keys Keys;
        public static Plan Plan = new();
        public static Press Press = new();
        public static Inbox Inbox = new();

        static async Task Trip(bool stuck)
        {
            var v = await Vans.Open();
            try
            {
                await Task.Delay(4);
                if (stuck) await Check();
            }
            finally { Vans.Close(v); }
            await Task.Delay(60); // without a van
        }

        static async Task Check()
        {
            var v = await Vans.Open();
            try { await Task.Delay(3); }
            finally { Vans.Close(v); }
        }

        static async Task Sort(bool stuck)
        {
            var v = await Shelf.Take();
            await Task.Delay(4);
            if (stuck) await Turn();
            await Shelf.PutBack(v);
            await Task.Delay(60); // without one
        }

        static async Task Turn()
        {
            var v = await Shelf.Take();
            await Task.Delay(3);
            await Shelf.PutBack(v);
        }

        static async Task Visit(bool stuck)
        {
            var v = await Stall.Rent();
            try
            {
                await Task.Delay(4);
                if (stuck) await Wash();
            }
            finally { Stall.Return(v); }
            await Task.Delay(60);
        }

        static async Task Wash()
        {
            var v = await Stall.Rent();
            try { await Task.Delay(3); }
            finally { Stall.Return(v); }
        }

        static async Task Handle()
        {
            int n = await Inbox.Take();
            await Task.Delay(30000);
            if (n > 0) Inbox.Add(n - 1);
        }

        static async Task Many(int n, Func<int, Task> one)
        {
            await Task.WhenAll(Enumerable.Range(0, n).Select(async i =>
            {
                while (true)
                {
                    await one(i);
                    await Task.Delay(20);
                }
            }));
        }

        static void Threads(int n, ThreadStart run, string name)
        {
            for (int i = 0; i < n; i++) new Thread(run) { Name = name + " " + i, IsBackground = true }.Start();
        }

        public static void Main(string[] args)
        {
            bool stuck = args[0] == "stuck", lost = args[0] == "lost";
            if (!stuck)
            {
                var load = new Thread(() => Plan.Load(lost ? "x" : "7"));
                load.Start();
                load.Join();
                Threads(4, Plan.Work, "planner");
            }
            if (lost)
            {
                Press.Run(true);
                return;
            }
            if (!stuck) Threads(1, () => Press.Run(false), "press");
            Dock = new(stuck);
            Desk = new(stuck);
            Belt = new(stuck);
            Keys = new(3, stuck);
            _ = Many(12, _ => Trip(stuck));
            _ = Many(8, _ => Sort(stuck));
            _ = Many(9, _ => Rack.Load(stuck));
            _ = Many(7, _ => Visit(stuck));
            _ = Many(10, i => Dock.Unload(i));
            _ = Dock.Follow();
            _ = Many(11, _ => Desk.Ask());
            _ = Desk.Serve();
            Threads(1, Belt.Add, "adder");
            Threads(1, Belt.Load, "loader");
            Threads(5, Keys.Run, "driver");
            if (!stuck) _ = Many(12, _ => Handle());
            for (int i = 0; ; i++)
            {
                if (i < 3) Inbox.Add(2);
                Thread.Sleep(1000);
            }
        }
    }
}
