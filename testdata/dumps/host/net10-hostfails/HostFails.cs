// HostFails: a host whose StartAsync has failed, while the exception unwinds, and another one that is starting. ../net10-host/References.cs has what it is compiled against.
using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Depot
{
    // Starts, and waits in it.
    public class Slow : IHostedService
    {
        public Task StartAsync(CancellationToken c) { return M.Never.Task; }
        public Task StopAsync(CancellationToken c) { return Task.CompletedTask; }
    }
    // Fails to start, as a server does when its port is taken. Its Dispose does not return.
    public class Server : IHostedService, IDisposable
    {
        public Task StartAsync(CancellationToken c) { return Bind(); }
        async Task Bind() { await Task.Delay(50); throw new IOException("Failed to bind to address http://127.0.0.1:5000: address already in use."); }
        public Task StopAsync(CancellationToken c) { return Task.CompletedTask; }
        public void Dispose() { Thread.Sleep(-1); }
    }
    public static class M
    {
        public static readonly TaskCompletionSource<int> Never = new TaskCompletionSource<int>(); public static IHost App, Other; public static Task Start;
        static readonly Server server = new Server();
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static IHost With(IHostedService s)
        {
            var b = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
            ServiceCollectionServiceExtensions.AddSingleton<IHostedService>(b.Services, s);
            return b.Build();
        }
        static void Run() { try { App.StartAsync(CancellationToken.None).GetAwaiter().GetResult(); } finally { server.Dispose(); } }
        public static void Main(string[] args)
        {
            App = With(server); Other = With(new Slow());
            Start = Other.StartAsync(CancellationToken.None);
            new Thread(() => { Thread.Sleep(1500); Say("READY 0"); Thread.Sleep(-1); }).Start();
            try { Run(); } catch (IOException) { }
        }
    }
}
