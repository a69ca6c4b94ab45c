// What holds memory. "calm": work in flight, a table, a cache with a limit that is in use: nothing is wrong. "full": what grows without a limit, held by a
// suspended method, by AsyncLocals of timers, by a ThreadLocal of threads that have ended, by a list of its own.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Dataflow;
using Microsoft.Extensions.Caching.Memory;

namespace Depot
{
    public static class Program
    {
        public static void Main(string[] args)
        {
            if (args[0] == "calm") Calm.Run().GetAwaiter().GetResult();
            Full.Run().GetAwaiter().GetResult();
        }
    }

    public static class Calm
    {
        public static async Task Run()
        {
            Routes.Read();
            new Thread(Prices.Look) { Name = "prices", IsBackground = true }.Start();
            new Thread(Report.Make) { Name = "report", IsBackground = true }.Start();
            Settlement.Run();
            await Task.WhenAll(Enumerable.Range(0, 40).Select(Uploads.Receive));
        }
    }

    // A report of 20 MB that a thread works on: its list ends with the call.
    public static class Report
    {
        public static double Total;

        public static void Make()
        {
            var rows = new List<double[]>();
            for (int i = 0; i < 5000; i++) rows.Add(new double[500]);
            for (int k = 0; k < 100_000; k++)
                foreach (var row in rows)
                    Total += row[k % 500]++;
        }
    }

    // A settlement of 20 MB by an async method, with a pause after each round.
    public static class Settlement
    {
        public static double Total;

        public static async void Run()
        {
            var rows = new List<double[]>();
            for (int i = 0; i < 5000; i++) rows.Add(new double[500]);
            for (int k = 0; k < 5000; k++)
            {
                foreach (var row in rows) Total += row[k % 500]++;
                await Task.Delay(20);
            }
        }
    }

    // Forty uploads, each with a buffer of half a megabyte that it drops when it ends: 20 MB in flight.
    public static class Uploads
    {
        static long done;

        public static async Task Receive(int i)
        {
            while (true)
            {
                var body = new MemoryStream(520_000);
                body.SetLength(512_000);
                await Store(body);
                done += body.Length;
                await Task.Delay(1 + i % 5);
            }
        }

        static async Task Store(MemoryStream body)
        {
            for (int k = 0; k < 8; k++)
            {
                await Task.Delay(12);
                body.WriteByte((byte)k);
            }
        }
    }

    // A table of 20 MB, made once and never changed.
    public static class Routes
    {
        static readonly Lazy<int[][]> table = new Lazy<int[][]>(() => Enumerable.Range(0, 1000).Select(i => new int[5000]).ToArray());

        public static int Read() => table.Value[7][8];
    }

    // A cache with a limit of 20 MB, which a thread reads and fills.
    public static class Prices
    {
        static readonly MemoryCache cache = new MemoryCache(new MemoryCacheOptions { SizeLimit = 20_000_000, CompactionPercentage = 0.2 });

        public static void Look()
        {
            var random = new Random(3);
            while (true)
            {
                for (int i = 0; i < 200; i++)
                {
                    int k = random.Next(60000);
                    if (!cache.TryGetValue(k, out _)) cache.Set(k, new byte[2000], new MemoryCacheEntryOptions { Size = 2000 });
                }
                Thread.Sleep(1);
            }
        }
    }

    public sealed class Order
    {
        public int Number;
        public readonly byte[] Body = new byte[2000];
    }

    public static class Full
    {
        public static async Task Run()
        {
            Threads.Start();
            Reminders.Start();
            Parts.Start();
            new Thread(Journal.Write) { Name = "journal", IsBackground = true }.Start();
            await Orders.Read();
        }
    }

    // An ActionBlock without a bound, which only the suspended method has: 40 MB of orders wait in it.
    public static class Orders
    {
        static int stored;

        public static async Task Read()
        {
            var block = new ActionBlock<Order>(async o => { await Task.Delay(3); stored++; });
            for (int i = 0; i < 20000; i++) block.Post(new Order { Number = i });
            while (true)
            {
                await Task.Delay(50);
                block.Post(new Order());
            }
        }
    }

    // 9,000 timers that are never disposed; the execution context of each has the value of an AsyncLocal: 4,000 bytes each. Every fourth has a second timer
    // beside it, in the same context.
    public sealed class Reminder
    {
        static readonly AsyncLocal<byte[]> session = new AsyncLocal<byte[]>();
        readonly byte[] text = new byte[400];
        Timer timer, second;

        public static void Keep(List<Reminder> all)
        {
            session.Value = new byte[4000];
            var r = new Reminder();
            r.timer = new Timer(_ => r.text[0]++, null, 3_600_000, 3_600_000);
            if (all.Count % 4 == 0) r.second = new Timer(_ => r.text[1]++, null, 3_600_000, 3_600_000);
            all.Add(r);
        }
    }

    public static class Reminders
    {
        static readonly List<Reminder> all = new List<Reminder>();

        public static void Start()
        {
            for (int i = 0; i < 9000; i++) Reminder.Keep(all);
        }
    }

    // A ThreadLocal that tracks all values: 400 threads have ended, 3 wait; each has left 90,000 bytes.
    public static class Threads
    {
        static readonly ThreadLocal<byte[]> buffer = new ThreadLocal<byte[]>(() => new byte[90000], true);

        public static void Start()
        {
            for (int i = 0; i < 400; i++)
            {
                var t = new Thread(() => buffer.Value[0] = 1);
                t.Start();
                t.Join();
            }
            for (int i = 0; i < 3; i++) new Thread(() => { buffer.Value[0] = 1; Thread.Sleep(-1); }) { IsBackground = true }.Start();
        }
    }

    // A thread that adds to a list of its own for ever: 40 MB.
    public static class Journal
    {
        public static double Total;

        public static void Write()
        {
            var lines = new List<double[]>();
            for (int i = 0; i < 10000; i++) lines.Add(new double[500]);
            while (true)
            {
                lines.Add(new double[5]);
                for (int k = 0; k < 1_000_000; k++) Total += lines[k % 10000][3];
            }
        }
    }

    // A list of its own, made of arrays that are replaced: 40 MB of parts.
    public sealed class Part
    {
        public readonly byte[] Drawing = new byte[4000];
    }

    public sealed class PartList
    {
        Part[] parts = new Part[16];
        int count;

        public void Add(Part p)
        {
            if (count == parts.Length) Array.Resize(ref parts, 2 * count);
            parts[count++] = p;
        }
    }

    public static class Parts
    {
        static readonly PartList list = new PartList();

        public static void Start()
        {
            for (int i = 0; i < 10000; i++) list.Add(new Part());
        }
    }
}
