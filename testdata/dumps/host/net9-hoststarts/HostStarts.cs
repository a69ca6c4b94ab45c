// HostStarts: a host that a service doesn't let go on, one that waits in the StartAsync of a service, and one that runs.
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
namespace Depot
{
    // Works before its first await.
    public class Pump : BackgroundService
    {
        protected override Task ExecuteAsync(CancellationToken t) { while (!t.IsCancellationRequested) Wait(); return Task.CompletedTask; }
        static void Wait() { Thread.Sleep(100); }
    }
    // Starts when a broker answers, which it never does.
    public class Listener : IHostedService
    {
        public async Task StartAsync(CancellationToken c) { await Task.Delay(10); await M.Never.Task; }
        public Task StopAsync(CancellationToken c) { return Task.CompletedTask; }
    }
    public class Clock : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken t) { while (!t.IsCancellationRequested) await Task.Delay(1000, t); }
    }
    public static class M
    {
        public static readonly TaskCompletionSource<int> Never = new TaskCompletionSource<int>(); public static IHost Blocked, Waiting, Running; public static Task Start;
        static IHost With<T>() where T : class, IHostedService
        {
            var b = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
            b.Services.AddSingleton<IHostedService, T>();
            b.Services.AddSingleton<IHostedService, Clock>();
            return b.Build();
        }
        public static void Main(string[] args)
        {
            Blocked = With<Pump>(); Waiting = With<Listener>(); Running = With<Clock>();
            Running.StartAsync(CancellationToken.None).Wait();
            Start = Waiting.StartAsync(CancellationToken.None);
            new Thread(() => Blocked.StartAsync(CancellationToken.None).Wait()) { Name = "starter", IsBackground = true }.Start();
            Thread.Sleep(1500); Console.WriteLine("READY"); Thread.Sleep(-1);
        }
    }
}
