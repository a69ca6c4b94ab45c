// Feeds.cs: consumers that go through the items of a queue by iterators, events for many, and threads that Main has started.
//
// "moves": all goes on. Broadcast: an event every five seconds for twenty who wait for it. Direct, Batches, Merged, Each: a full channel whose consumer takes the next
// item after some milliseconds, by await foreach, by an iterator that makes batches, by one that merges two channels, by Parallel.ForEachAsync.
//
// "stuck": the twins. Broadcast's sender has ended. Direct's consumer polls for ever within the loop; Batches', Merged's and Each's wait for a promise that nobody
// completes. Loaded: six threads wait for an event which a thread would have set that failed and has ended; Main joins them. Opened: the same with a kernel event.
// Meeting: three threads wait at a barrier for the fourth, which has ended. Main joins all threads.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Feeds;

public sealed class Broadcast {
    TaskCompletionSource<int> next = new(TaskCreationOptions.RunContinuationsAsynchronously);
    public int Got;
    public async Task Listen() { while (true) { Got += await next.Task; } }
    public void Send(int n) => Interlocked.Exchange(ref next, new(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult(n);
    public async Task Sender(bool ends) { for (int i = 0; ; i++) { if (ends) return; await Task.Delay(5000); Send(i); } }
}

public sealed class Shop {
    public readonly Channel<int> Direct = Channel.CreateBounded<int>(8), Batches = Channel.CreateBounded<int>(8), Left = Channel.CreateBounded<int>(8),
        Right = Channel.CreateBounded<int>(8), Each = Channel.CreateBounded<int>(8);
    public readonly TaskCompletionSource Never = new();
    public bool Stuck, Open;
    public int Done;

    public async Task Fill(ChannelWriter<int> w) { for (int i = 0; ; i++) await w.WriteAsync(i); }

    async Task Work() { if (Stuck) await Never.Task; await Task.Delay(5); Done++; }

    public async Task TakeDirect() {
        await foreach (var x in Direct.Reader.ReadAllAsync()) {
            while (Stuck && !Open) await Task.Delay(20);
            await Task.Delay(5);
        }
    }

    async IAsyncEnumerable<int[]> InBatches(ChannelReader<int> r) {
        var list = new List<int>();
        await foreach (var x in r.ReadAllAsync()) {
            list.Add(x);
            if (list.Count == 5) { yield return list.ToArray(); list.Clear(); }
        }
    }

    public async Task TakeBatches() { await foreach (var b in InBatches(Batches.Reader)) await Work(); }

    async IAsyncEnumerable<int> Merge(params ChannelReader<int>[] list) {
        while (true) foreach (var r in list) yield return await r.ReadAsync();
    }

    public async Task TakeMerged() { await foreach (var x in Merge(Left.Reader, Right.Reader)) await Work(); }

    public Task TakeEach() => Parallel.ForEachAsync(Each.Reader.ReadAllAsync(), new ParallelOptions { MaxDegreeOfParallelism = 3 }, async (x, _) => await Work());
}

public static class Config {
    public static readonly ManualResetEventSlim Loaded = new(false);
    public static readonly ManualResetEvent Opened = new(false);
    public static Exception Error;
    static void Parse(string s) => int.Parse(s.Split('=')[1]);
    public static void Load() { try { Parse("limit=abc"); Loaded.Set(); } catch (FormatException e) { Error = e; } }
    public static void Start() { try { Parse("port=abc"); Opened.Set(); } catch (FormatException e) { Error = e; } }
}

public static class Meeting {
    static readonly Barrier barrier = new(4);
    public static void Part(int n) {
        try {
            for (int i = 0; ; i++) {
                Thread.Sleep(5);
                if (n == 2 && i == 4) throw new InvalidOperationException("left");
                barrier.SignalAndWait();
            }
        } catch (InvalidOperationException) { }
    }
}

public static class Program {
    public static void Main(string[] args) {
        bool stuck = args[0] == "stuck";
        var shop = new Shop { Stuck = stuck };
        var cast = new Broadcast();
        var all = new List<Task> { cast.Sender(stuck), shop.TakeDirect(), shop.TakeBatches(), shop.TakeMerged(), shop.TakeEach() };
        for (int i = 0; i < 20; i++) all.Add(cast.Listen());
        foreach (var c in new[] { shop.Direct, shop.Batches, shop.Left, shop.Right, shop.Each }) all.Add(shop.Fill(c.Writer));
        if (!stuck) { Task.WaitAll(all.ToArray()); return; }
        Begin(all);
    }

    static void Begin(List<Task> all) {
        new Thread(Config.Load) { Name = "config" }.Start();
        new Thread(Config.Start) { Name = "start" }.Start();
        var list = Enumerable.Range(0, 6).Select(i => new Thread(() => { Config.Loaded.Wait(); while (true) Thread.Sleep(100); }) { Name = "loaded " + i })
            .Concat(Enumerable.Range(0, 6).Select(i => new Thread(() => { Config.Opened.WaitOne(); while (true) Thread.Sleep(100); }) { Name = "opened " + i }))
            .Concat(Enumerable.Range(0, 4).Select(i => new Thread(() => Meeting.Part(i)) { Name = "part " + i })).ToArray();
        foreach (var t in list) t.Start();
        foreach (var t in list) t.Join();
        GC.KeepAlive(all);
    }
}
