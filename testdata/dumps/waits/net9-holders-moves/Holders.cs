using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;

// What the holder of a permit or a monitor waits for. With "moves" all of it goes on: each who waits has a turn within a second. With "stuck" none of it does.
namespace Harbor
{
    public sealed class Gate(int most)
    {
        readonly SemaphoreSlim slots = new(most, most);
        public async Task Use(Func<Task> work)
        {
            await slots.WaitAsync();
            try { await work(); } finally { slots.Release(); }
        }
    }

    public sealed class Desk
    {
        readonly object gate = new();
        public int Served;
        public void Serve(Action work) { lock (gate) { work(); Served++; } }
    }

    public static class Program
    {
        public static bool Stuck;

        public static void Main(string[] args)
        {
            Stuck = args[0] == "stuck";
            Gates.Start();
            Desks.Start();
            while (true) Thread.Sleep(1000);
        }

        public static void Thread_(string name, Action work) => new Thread(() => work()) { IsBackground = true, Name = name }.Start();
    }

    // Suspended code that waits for permits.
    public static class Gates
    {
        static readonly Gate promised = new(2), replied = new(2), sourced = new(2), ticked = new(2), listed = new(2), wired = new(2);
        static readonly Repo leased = new();
        static readonly List<Task> all = new();

        static void Users(Func<Task> work)
        {
            for (int i = 0; i < 8; i++) all.Add(Task.Run(async () => { while (true) { await work(); await Task.Delay(3); } }));
        }

        public static void Start()
        {
            // a promise that a thread has in hand; stuck: the thread has ended
            var orders = new BlockingCollection<TaskCompletionSource<int>>();
            Program.Thread_("device", () => Device(orders));
            Users(() => promised.Use(() => Ask(orders)));

            // a reply that an actor writes; stuck: the actor has to enter first
            var inbox = Channel.CreateUnbounded<(int, ChannelWriter<int>)>();
            all.Add(Task.Run(() => Actor(inbox.Reader)));
            Users(() => replied.Use(() => Call(inbox.Writer)));

            // a source of its own that a timer completes; stuck: the timer was disposed of
            Users(() => sourced.Use(async () => await new Source().Begin()));

            // some ticks; stuck: as many as it takes until something is set that nobody sets
            Users(() => ticked.Use(Program.Stuck ? Poll : Ticks));

            // rows of an iterator; stuck: one waits for what nobody completes
            Users(() => listed.Use(Program.Stuck ? SumAll : Sum));

            // an answer of a peer; stuck: it does not answer
            var peer = new TcpListener(IPAddress.Loopback, 0);
            peer.Start();
            all.Add(Task.Run(() => Accept(peer)));
            var idle = new ConcurrentBag<TcpClient>();
            Users(() => wired.Use(() => Exchange(idle, ((IPEndPoint)peer.LocalEndpoint).Port)));

            // an iterator that has entered and waits until its consumer asks for more; stuck: it was dropped
            Users(Program.Stuck ? leased.First : leased.All);
        }

        static void Device(BlockingCollection<TaskCompletionSource<int>> orders)
        {
            int left = Program.Stuck ? 5 : int.MaxValue;
            while (left > 0)
            {
                var order = orders.Take();
                Thread.Sleep(4);
                order.SetResult(1);
                left--;
            }
        }

        static async Task Ask(BlockingCollection<TaskCompletionSource<int>> orders)
        {
            var order = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            orders.Add(order);
            await order.Task;
        }

        static async Task Actor(ChannelReader<(int, ChannelWriter<int>)> inbox)
        {
            await foreach (var (value, reply) in inbox.ReadAllAsync())
            {
                if (Program.Stuck) await replied.Use(() => Task.CompletedTask); else await Task.Delay(3);
                await reply.WriteAsync(value * 2);
                reply.Complete();
            }
        }

        static async Task Call(ChannelWriter<(int, ChannelWriter<int>)> inbox)
        {
            var reply = Channel.CreateBounded<int>(1);
            await inbox.WriteAsync((21, reply.Writer));
            await reply.Reader.ReadAsync();
        }

        static async Task Ticks()
        {
            using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(7));
            for (int i = 0; i < 3; i++) await timer.WaitForNextTickAsync();
        }

        static volatile bool open;
        static async Task Poll()
        {
            using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(7));
            while (!open) await timer.WaitForNextTickAsync();
        }

        static readonly TaskCompletionSource never = new();
        static async IAsyncEnumerable<int> Rows()
        {
            for (int i = 0; i < 8; i++)
            {
                await Task.Delay(2);
                yield return i;
            }
        }

        static async IAsyncEnumerable<int> Missing()
        {
            await never.Task;
            yield return 0;
        }

        static int total;
        static async Task Sum()
        {
            await foreach (var row in Rows()) total += row;
        }

        static async Task SumAll()
        {
            await foreach (var row in Missing()) total += row;
        }

        static async Task Accept(TcpListener peer)
        {
            while (true)
            {
                var client = await peer.AcceptTcpClientAsync();
                all.Add(Answer(client));
            }
        }

        static async Task Answer(TcpClient client)
        {
            var bytes = new byte[64];
            var s = client.GetStream();
            while (await s.ReadAsync(bytes) > 0)
            {
                if (Program.Stuck) continue;
                await Task.Delay(5);
                await s.WriteAsync(bytes.AsMemory(0, 8));
            }
        }

        static async Task Exchange(ConcurrentBag<TcpClient> idle, int port)
        {
            if (!idle.TryTake(out var client))
            {
                client = new TcpClient();
                await client.ConnectAsync(IPAddress.Loopback, port);
            }
            var bytes = new byte[8];
            var s = client.GetStream();
            await s.WriteAsync(bytes);
            await s.ReadExactlyAsync(bytes);
            idle.Add(client);
        }
    }

    public sealed class Source : IValueTaskSource
    {
        ManualResetValueTaskSourceCore<bool> core = new() { RunContinuationsAsynchronously = true };
        Timer timer;

        public ValueTask Begin()
        {
            timer = new Timer(_ => core.SetResult(true), null, 8, -1);
            if (Program.Stuck) timer.Dispose();
            return new ValueTask(this, core.Version);
        }

        public void GetResult(short token) { timer.Dispose(); core.GetResult(token); }
        public ValueTaskSourceStatus GetStatus(short token) => core.GetStatus(token);
        public void OnCompleted(Action<object> next, object state, short token, ValueTaskSourceOnCompletedFlags flags) => core.OnCompleted(next, state, token, flags);
    }

    public sealed class Repo
    {
        readonly SemaphoreSlim pool = new(4, 4);
        int total;

        async IAsyncEnumerable<int> Query()
        {
            await pool.WaitAsync();
            try
            {
                for (int i = 0; i < 12; i++)
                {
                    await Task.Delay(1);
                    yield return i;
                }
            }
            finally { pool.Release(); }
        }

        public async Task All()
        {
            await foreach (var row in Query())
            {
                total += row;
                await Task.Delay(2);
            }
        }

        public async Task First()
        {
            var rows = Query().GetAsyncEnumerator();
            if (await rows.MoveNextAsync()) total += rows.Current;
        }
    }

    // Threads that wait for monitors.
    public static class Desks
    {
        static void Clerks(string what, Action work)
        {
            var desk = new Desk();
            for (int i = 0; i < 6; i++) Program.Thread_(what + " " + i, () => { while (true) { desk.Serve(work); Thread.Sleep(3); } });
        }

        public static void Start()
        {
            // an event that a thread sets; stuck: the thread has ended
            var events = new BlockingCollection<ManualResetEventSlim>();
            Program.Thread_("scale", () => Scale(events));
            Clerks("event", () => Weigh(events));

            // a reply in a collection; stuck: the thread that gives it has ended
            var asked = new BlockingCollection<int>();
            var printed = new BlockingCollection<int>();
            Program.Thread_("printer", () => Printer(asked, printed));
            Clerks("item", () => { asked.Add(1); printed.Take(); });

            // a permit of which the holder sleeps; stuck: for an hour
            var lifts = new SemaphoreSlim(2, 2);
            for (int i = 0; i < 4; i++) Program.Thread_("forklift " + i, () => { while (true) Lift(lifts, Program.Stuck ? 3600000 : 3); });
            Clerks("permit", () => Lift(lifts, 1));

            // a pulse; stuck: the thread that gives it has ended
            var robot = new Robot();
            Program.Thread_("robot", robot.Work);
            Clerks("pulse", robot.Ask);

            // some naps, writes to a disk
            Clerks("nap", Naps);
            var file = new FileStream(Path.Combine(Path.GetTempPath(), "journal"), FileMode.Create);
            Clerks("file", () => Write(file));

            // a peer; stuck: it does not answer
            var peer = new TcpListener(IPAddress.Loopback, 0);
            peer.Start();
            Program.Thread_("peer", () => Peer(peer));
            var client = new TcpClient();
            client.Connect(IPAddress.Loopback, ((IPEndPoint)peer.LocalEndpoint).Port);
            var stream = client.GetStream();
            var bytes = new byte[8];
            Clerks("socket", () => Exchange(stream, bytes));
        }

        static void Scale(BlockingCollection<ManualResetEventSlim> events)
        {
            int left = Program.Stuck ? 5 : int.MaxValue;
            while (left > 0)
            {
                var e = events.Take();
                Thread.Sleep(4);
                e.Set();
                left--;
            }
        }

        static void Weigh(BlockingCollection<ManualResetEventSlim> events)
        {
            using var e = new ManualResetEventSlim(false);
            events.Add(e);
            e.Wait();
        }

        static void Printer(BlockingCollection<int> asked, BlockingCollection<int> printed)
        {
            for (int left = Program.Stuck ? 5 : int.MaxValue; left > 0; left--)
            {
                int page = asked.Take();
                Thread.Sleep(4);
                printed.Add(page + 1);
            }
        }

        static void Lift(SemaphoreSlim lifts, int time)
        {
            lifts.Wait();
            try { if (time == 1) Thread.Sleep(1); else if (time == 3) Thread.Sleep(3); else Thread.Sleep(3600000); } finally { lifts.Release(); }
        }

        sealed class Robot
        {
            readonly object seen = new();
            int asked, answered;

            public void Work()
            {
                for (int left = Program.Stuck ? 5 : int.MaxValue; left > 0; left--)
                {
                    lock (seen) { while (answered == asked) Monitor.Wait(seen); }
                    Thread.Sleep(4);
                    lock (seen) { answered++; Monitor.PulseAll(seen); }
                }
            }

            public void Ask()
            {
                lock (seen)
                {
                    int mine = ++asked;
                    Monitor.PulseAll(seen);
                    while (answered < mine) Monitor.Wait(seen);
                }
            }
        }

        static void Naps()
        {
            for (int i = 0; i < 5; i++) Thread.Sleep(1);
        }

        static readonly byte[] page = new byte[4000];
        static void Write(FileStream file)
        {
            file.Write(page);
            file.Flush(true);
            if (file.Length > 1 << 20) file.SetLength(0);
        }

        static void Peer(TcpListener peer)
        {
            using var client = peer.AcceptTcpClient();
            var s = client.GetStream();
            var bytes = new byte[8];
            while (s.Read(bytes) > 0)
            {
                if (Program.Stuck) continue;
                Thread.Sleep(4);
                s.Write(bytes);
            }
        }

        static void Exchange(NetworkStream stream, byte[] bytes)
        {
            stream.Write(bytes);
            stream.ReadExactly(bytes);
        }
    }
}
