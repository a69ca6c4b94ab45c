// Semaphores that an extension method enters for its caller, as SynchronizationExtensions.LockAsync does (.NET 10).
using System; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks;
namespace Lent
{
    struct Releaser : IDisposable { readonly SemaphoreSlim of; public Releaser(SemaphoreSlim s) { of = s; } public void Dispose() { of.Release(); } }
    static class Locks { public static async Task<Releaser> LockAsync(this SemaphoreSlim s) { await s.WaitAsync().ConfigureAwait(false); return new Releaser(s); } }

    // One sender has entered and awaits a promise; four wait. Nobody completes the promise.
    class Port
    {
        readonly SemaphoreSlim send = new SemaphoreSlim(1, 1); readonly TaskCompletionSource<int> gone = new TaskCompletionSource<int>();
        public void Start() { Program.Keep.Add(this); for (int i = 0; i < 5; i++) Program.Keep.Add(Send()); }
        async Task Send() { using (await send.LockAsync().ConfigureAwait(false)) { await gone.Task.ConfigureAwait(false); } }
    }

    // The same with another semaphore: who has entered one has not entered the other.
    class Desk
    {
        readonly SemaphoreSlim turn = new SemaphoreSlim(1, 1); readonly TaskCompletionSource<int> gone = new TaskCompletionSource<int>();
        public void Start() { Program.Keep.Add(this); for (int i = 0; i < 6; i++) Program.Keep.Add(Serve()); }
        async Task Serve() { using (await turn.LockAsync().ConfigureAwait(false)) { await gone.Task.ConfigureAwait(false); } }
    }

    static class Program
    {
        public static readonly List<object> Keep = new List<object>();
        static void Main()
        {
            new Port().Start(); new Desk().Start();
            Thread.Sleep(1000);
            Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY 0" });
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
namespace System.Private.CoreLib { internal static class Anchor { } }
