// Rate limiters. "moves": all who wait have their turns within a second or two. "stuck": four limiters whose queues do not get on.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.RateLimiting;
using System.Threading.Tasks;

namespace Harbor;

// A Quay lets so many load at a time. The limiter is a parameter of the primary constructor.
sealed class Quay(ConcurrencyLimiter berths)
{
    // moves: 4 permits, 24 callers, 20 ms each: the last waits for 120 ms.
    public async Task Load()
    {
        while (true)
        {
            using RateLimitLease lease = await berths.AcquireAsync();
            await Task.Delay(20);
        }
    }

    // stuck: nobody disposes of the lease.
    public async Task Forget()
    {
        RateLimitLease lease = await berths.AcquireAsync();
        if (!lease.IsAcquired) throw new InvalidOperationException();
        await Task.Delay(5);
    }
}

// A Slip keeps its lease in an object that a method returns.
static class Slips
{
    public static readonly ConcurrencyLimiter Free = Limits.Few(3);

    sealed class Slip(RateLimitLease lease) : IDisposable
    {
        public void Dispose() => lease.Dispose();
    }

    static async Task<IDisposable> Rent() => new Slip(await Free.AcquireAsync());

    // moves: 3 permits, 9 callers, 15 ms each.
    public static async Task Mend()
    {
        while (true)
        {
            using IDisposable slip = await Rent();
            await Task.Delay(15);
        }
    }
}

static class Cranes
{
    public static readonly ConcurrencyLimiter Two = Limits.Few(2);

    // stuck: both who have a lease wait for another one.
    public static async Task Lift()
    {
        using RateLimitLease lease = await Two.AcquireAsync();
        await Task.Delay(10);
        await Move();
        GC.KeepAlive(lease);
    }

    static async Task Move()
    {
        using RateLimitLease second = await Two.AcquireAsync();
        await Task.Delay(10);
    }
}

static class Tides
{
    public static readonly TokenBucketRateLimiter Quick = Bucket(10, TimeSpan.FromMilliseconds(200)), Slow = Bucket(1, TimeSpan.FromHours(1));
    public static readonly FixedWindowRateLimiter ByThread = Window(), ByNobody = Window();

    public static readonly PartitionedRateLimiter<string> ByHarbor = PartitionedRateLimiter.Create<string, string>(harbor => RateLimitPartition.GetTokenBucketLimiter(harbor, _ =>
        new TokenBucketRateLimiterOptions { TokenLimit = 5, TokensPerPeriod = 5, ReplenishmentPeriod = TimeSpan.FromMilliseconds(100), QueueLimit = 1000 }));

    // moves: the timer of the PartitionedRateLimiter gives 5 permits each 100 ms to 15 callers.
    public static async Task Enter()
    {
        while (true)
        {
            using RateLimitLease lease = await ByHarbor.AcquireAsync("north");
        }
    }

    static TokenBucketRateLimiter Bucket(int tokens, TimeSpan period) => new(new TokenBucketRateLimiterOptions
    { TokenLimit = tokens, TokensPerPeriod = tokens, ReplenishmentPeriod = period, AutoReplenishment = true, QueueLimit = 1000 });

    static FixedWindowRateLimiter Window() => new(new FixedWindowRateLimiterOptions { PermitLimit = 5, Window = TimeSpan.FromMilliseconds(50), AutoReplenishment = false, QueueLimit = 1000 });

    public static async Task Sail(RateLimiter limiter)
    {
        while (true)
        {
            using RateLimitLease lease = await limiter.AcquireAsync();
        }
    }

    public static void Begin() => new Thread(Turn) { Name = "tide", IsBackground = true }.Start();
    public static void BeginTwice() => new Thread(TurnTwice) { Name = "tide" }.Start();

    // moves: calls TryReplenish again and again.
    static void Turn()
    {
        while (true) { Thread.Sleep(20); ByThread.TryReplenish(); }
    }

    // stuck: has called it twice, and has ended.
    static void TurnTwice()
    {
        for (int i = 0; i < 2; i++) { Thread.Sleep(60); ByNobody.TryReplenish(); }
    }
}

static class Limits
{
    public static ConcurrencyLimiter Few(int permits) => new(new ConcurrencyLimiterOptions { PermitLimit = permits, QueueLimit = 1000 });

    static readonly List<Task> all = [];

    static void Start(int count, Func<Task> work)
    {
        for (int i = 0; i < count; i++) all.Add(Task.Run(work));
    }

    static readonly Quay quay = new(Few(4));

    static void Main(string[] args)
    {
        if (args[0] == "moves")
        {
            Start(24, quay.Load);
            Start(9, Slips.Mend);
            Start(25, () => Tides.Sail(Tides.Quick));
            Start(8, () => Tides.Sail(Tides.ByThread));
            Start(15, Tides.Enter);
            Tides.Begin();
        }
        else
        {
            Start(16, quay.Forget);
            Start(7, Cranes.Lift);
            Start(13, () => Tides.Sail(Tides.Slow));
            Start(8, () => Tides.Sail(Tides.ByNobody));
            Tides.BeginTwice();
        }
        Console.WriteLine("READY");
        Task.WaitAll(all.ToArray());
    }
}
