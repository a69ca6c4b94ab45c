// Queues that are full because nothing takes from them, and a loop that nothing ends (.NET 9). Beside each class is what is true of it.
using System; using System.Collections.Generic; using System.IO.Pipelines; using System.Threading.Channels; using System.Threading.Tasks; using System.Threading.Tasks.Dataflow;
namespace Full
{
    sealed class Order { public int Id; }

    // 20 operations wait for room; the block has no link, and nobody receives.
    sealed class Feed
    {
        readonly BufferBlock<Order> buffer = new BufferBlock<Order>(new DataflowBlockOptions { BoundedCapacity = 5 });
        public async Task Send(int n) { for (int i = 0; ; i++) await buffer.SendAsync(new Order { Id = n * 1000 + i }); }
    }

    // 15 operations wait for room; the delegate of the block that it is linked to waits for a promise.
    sealed class Chain
    {
        readonly TransformBlock<Order, Order> enrich; readonly ActionBlock<Order> sink; readonly TaskCompletionSource<bool> release = new TaskCompletionSource<bool>();
        public Chain()
        {
            enrich = new TransformBlock<Order, Order>((Func<Order, Order>)Enrich, new ExecutionDataflowBlockOptions { BoundedCapacity = 4 });
            sink = new ActionBlock<Order>((Func<Order, Task>)Sink, new ExecutionDataflowBlockOptions { BoundedCapacity = 4 });
            enrich.LinkTo(sink);
        }
        Order Enrich(Order o) { o.Id++; return o; }
        async Task Sink(Order o) { await release.Task; Console.WriteLine(o.Id); }
        public async Task Send(int n) { for (int i = 0; ; i++) await enrich.SendAsync(new Order { Id = n * 1000 + i }); }
    }

    // 12 operations wait for room, each in its own pipe; nobody reads them.
    sealed class Upload
    {
        readonly Pipe pipe = new Pipe();
        public async Task Fill() { var b = new byte[4096]; for (; ; ) await pipe.Writer.WriteAsync(new ReadOnlyMemory<byte>(b)); }
    }

    // Main waits for DisposeAsync, which waits for the loop, and nobody else has the channel.
    sealed class Pump : IAsyncDisposable
    {
        readonly Channel<Order> orders = Channel.CreateUnbounded<Order>(); readonly Task loop;
        public Pump() { loop = Run(); }
        async Task Run() { for (; ; ) GC.KeepAlive(await orders.Reader.ReadAsync()); }
        public ValueTask DisposeAsync() { return new ValueTask(Stop()); }
        async Task Stop() { await loop; }
    }

    static class Program
    {
        static readonly List<object> Keep = new List<object>();
        static void Main() { Run().GetAwaiter().GetResult(); }
        static async Task Run()
        {
            var feed = new Feed(); var chain = new Chain();
            for (int i = 0; i < 20; i++) { int n = i; Keep.Add(Task.Run(() => feed.Send(n))); }
            for (int i = 0; i < 15; i++) { int n = i; Keep.Add(Task.Run(() => chain.Send(n))); }
            for (int i = 0; i < 12; i++) { var x = new Upload(); Keep.Add(Task.Run(() => x.Fill())); }
            Later();
            await new Pump().DisposeAsync();
        }
        static async void Later() { await Task.Delay(3000); Console.WriteLine("READY"); Console.Out.Flush(); }
    }
}
