// Semaphores that pass on by themselves ("moves"), and the same code where they do not ("stuck"). Written for .NET 9 and Roslyn.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Sems
{
    public static class Never
    {
        public static readonly TaskCompletionSource<int> Comes = new();
    }

    // A lock for each key, with a counted reference: the semaphore is in a slot. Stuck: who has entered the room 3 waits for what never comes.
    public sealed class Rooms
    {
        sealed class Slot { public readonly SemaphoreSlim Door = new(1, 1); public int Uses; }

        readonly Dictionary<string, Slot> slots = new();

        public async Task<IDisposable> Enter(string key)
        {
            Slot s;
            lock (slots)
            {
                if (!slots.TryGetValue(key, out s)) slots[key] = s = new Slot();
                s.Uses++;
            }
            await s.Door.WaitAsync();
            return new Key(this, key, s);
        }

        sealed class Key(Rooms rooms, string key, Slot slot) : IDisposable
        {
            public void Dispose()
            {
                slot.Door.Release();
                lock (rooms.slots) if (--slot.Uses == 0) rooms.slots.Remove(key);
            }
        }
    }

    // The same, but who has entered leaves by the key: the code does not show which semaphore it has entered.
    public sealed class Halls
    {
        sealed class Slot { public readonly SemaphoreSlim Gate = new(1, 1); }

        readonly Dictionary<string, Slot> slots = new();

        Slot Of(string key)
        {
            lock (slots)
            {
                if (!slots.TryGetValue(key, out var s)) slots[key] = s = new Slot();
                return s;
            }
        }

        public async Task Lock(string key) => await Of(key).Gate.WaitAsync();

        public void Unlock(string key) => Of(key).Gate.Release();
    }

    public sealed class Boat { public int Trips; public Task Sail(bool stuck) { Trips++; return stuck ? Never.Comes.Task : Task.Delay(100); } }

    // An own pool: a struct gives back what was lent, at the end of a using block. Stuck: those in the block wait for what never comes.
    public sealed class Harbor
    {
        readonly Stack<Boat> idle = new();
        readonly SemaphoreSlim berths;

        public Harbor(int most) { berths = new SemaphoreSlim(most, most); }

        public async Task<Lease> Rent()
        {
            await berths.WaitAsync();
            lock (idle) return new Lease(this, idle.TryPop(out var b) ? b : new Boat());
        }

        void Return(Boat b)
        {
            lock (idle) idle.Push(b);
            berths.Release();
        }

        public readonly struct Lease(Harbor harbor, Boat boat) : IDisposable
        {
            public Boat Boat => boat;
            public void Dispose() => harbor.Return(boat);
        }
    }

    // The same with a class, which is disposed of by code that awaits.
    public sealed class Ferries
    {
        readonly SemaphoreSlim places = new(3, 3);

        public async Task<Ticket> Board()
        {
            await places.WaitAsync();
            return new Ticket(this);
        }

        public sealed class Ticket(Ferries ferries) : IAsyncDisposable
        {
            public ValueTask DisposeAsync()
            {
                ferries.places.Release();
                return default;
            }
        }
    }

    // One renews what all need, and the others find it renewed. Stuck: it polls for what nobody makes.
    public sealed class Badge(bool stuck)
    {
        readonly SemaphoreSlim desk = new(1, 1);
        string text;
        long until;

        public async Task<string> Get()
        {
            if (Environment.TickCount64 < Volatile.Read(ref until)) return text;
            await desk.WaitAsync();
            try
            {
                if (Environment.TickCount64 < Volatile.Read(ref until)) return text;
                if (stuck) while (text == null) await Task.Delay(350);
                await Task.Delay(350);
                text = "badge";
                Volatile.Write(ref until, Environment.TickCount64 + 20);
                return text;
            }
            finally { desk.Release(); }
        }
    }

    // Each who comes needs its own pause: a hundred and more of them wait long.
    public sealed class Booth(bool closed)
    {
        readonly SemaphoreSlim seat = new(1, 1);

        public async Task<int> Sit()
        {
            await seat.WaitAsync();
            try
            {
                if (closed) return 0;
                await Task.Delay(350);
                return 1;
            }
            finally { seat.Release(); }
        }
    }

    // At most two at a time, for a constant number of constant delays. Stuck: until somebody says that it is done.
    public sealed class Press(bool stuck)
    {
        readonly SemaphoreSlim two = new(2, 2);
        public bool Done;

        public async Task<int> Print(int n)
        {
            await two.WaitAsync();
            try
            {
                if (stuck) while (!Done) await Task.Delay(25);
                for (int i = 0; i < 20; i++)
                {
                    n += i;
                    await Task.Delay(25);
                }
                return n;
            }
            finally { two.Release(); }
        }
    }

    // Deputies stand by for a lease. Stuck: the one that has it never steps down.
    public sealed class Deputy(Mutex lease, bool stuck)
    {
        public static int Turns;
        volatile bool stop;

        public void Run()
        {
            while (true)
            {
                if (!lease.WaitOne(500)) continue;
                try
                {
                    if (stuck) while (!stop) Thread.Sleep(100);
                    for (int i = 0; i < 8; i++) { Turns++; Thread.Sleep(100); }
                }
                finally { lease.ReleaseMutex(); }
                Thread.Sleep(30);
            }
        }
    }

    public static class Program
    {
        static long n;

        static async Task Guest(Rooms rooms, int i, bool stuck)
        {
            for (int k = i; ; k++)
            {
                using (await rooms.Enter("room " + k % 6)) await (stuck && k % 6 == 3 ? Never.Comes.Task : Task.Delay(100));
                await Task.Delay(40);
            }
        }

        static async Task Visitor(Halls halls, int i, bool stuck)
        {
            for (int k = i; ; k++)
            {
                string key = "hall " + k % 4;
                await halls.Lock(key);
                try { await (stuck && k % 4 == 1 ? Never.Comes.Task : Task.Delay(100)); }
                finally { halls.Unlock(key); }
                await Task.Delay(40);
            }
        }

        static async Task Sailor(Harbor h, bool stuck)
        {
            while (true)
            {
                using (var l = await h.Rent()) await l.Boat.Sail(stuck);
                await Task.Delay(80);
            }
        }

        static async Task Passenger(Ferries f, bool stuck)
        {
            while (true)
            {
                await using (var t = await f.Board()) await (stuck ? Never.Comes.Task : Task.Delay(100));
                await Task.Delay(80);
            }
        }

        static async Task Employee(Badge b) { while (true) { n += (await b.Get()).Length; await Task.Delay(20); } }
        static async Task Sitter(Booth b) { while (true) { n += await b.Sit(); await Task.Delay(20); } }
        static async Task Reader(Press p) { while (true) { n += await p.Print(3); await Task.Delay(5); } }

        static readonly List<object> keep = new();

        public static void Main(string[] args)
        {
            bool stuck = args[0] == "stuck";
            var rooms = new Rooms();
            var halls = new Halls();
            var harbor = new Harbor(4);
            var ferries = new Ferries();
            var badge = new Badge(stuck);
            var booth = new Booth(false);
            var press = new Press(stuck);
            foreach (var o in new object[] { rooms, halls, harbor, ferries, badge, booth, press }) keep.Add(o);
            for (int i = 0; i < 20; i++) keep.Add(Guest(rooms, i, stuck));
            for (int i = 0; i < 12; i++) keep.Add(Visitor(halls, i, stuck));
            for (int i = 0; i < 14; i++) keep.Add(Sailor(harbor, stuck));
            for (int i = 0; i < 9; i++) keep.Add(Passenger(ferries, stuck));
            for (int i = 0; i < 120; i++) keep.Add(Employee(badge));
            if (stuck) for (int i = 0; i < 120; i++) keep.Add(Sitter(booth));
            for (int i = 0; i < 5; i++) keep.Add(Reader(press));
            var lease = new Mutex();
            var deputies = new[] { "anna", "ben", "cora" }.Select(name => new Thread(new Deputy(lease, stuck).Run) { Name = "deputy " + name }).ToList();
            deputies.ForEach(t => t.Start());
            deputies.ForEach(t => t.Join());
        }
    }
}
