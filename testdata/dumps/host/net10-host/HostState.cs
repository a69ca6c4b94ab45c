// HostState: a generic host in a known state: running, failed, stopping, background, stopped. References.cs has what it is compiled against.
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace HostState
{
    // Waits until the host stops.
    public class Poller : BackgroundService { protected override async Task ExecuteAsync(CancellationToken t) { while (true) await Task.Delay(1000, t); } }
    // Completes at once.
    public class Seeder : BackgroundService { protected override async Task ExecuteAsync(CancellationToken t) { await Task.Delay(50, t); } }
    // Fails when it is told to.
    public class Importer : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken t) { await Program.Fail.Task; throw new InvalidOperationException("the import file is empty"); }
    }
    // Does not end when it is canceled, so that StopAsync of its base class waits for it.
    public class Stubborn : BackgroundService { protected override async Task ExecuteAsync(CancellationToken t) { await Program.Never.Task; } }
    // A service that is no BackgroundService; its StopAsync waits in the scenario stopping.
    public class Flusher : IHostedService
    {
        public Task StartAsync(CancellationToken c) { return Task.CompletedTask; }
        public Task StopAsync(CancellationToken c) { return Program.Hang ? Flush() : Task.CompletedTask; }
        async Task Flush() { await Program.Never.Task; }
    }
    public static class Program
    {
        public static TaskCompletionSource<int> Never = new TaskCompletionSource<int>(), Fail = new TaskCompletionSource<int>();
        public static bool Hang;
        public static IHost App;
        public static Task Stop;
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        public static void Main(string[] args)
        {
            string mode = args[0];
            var b = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
            var o = new HostOptions { ShutdownTimeout = TimeSpan.FromHours(1) };
            if (mode == "failed") o.BackgroundServiceExceptionBehavior = BackgroundServiceExceptionBehavior.Ignore;
            ServiceCollectionServiceExtensions.AddSingleton<IOptions<HostOptions>>(b.Services, new OptionsWrapper<HostOptions>(o));
            Add(b, new Poller()); Add(b, new Seeder());
            if (mode == "failed" || mode == "background") Add(b, new Importer());
            if (mode == "background") Add(b, new Stubborn());
            Add(b, new Flusher());
            App = b.Build();
            App.StartAsync(CancellationToken.None).Wait();
            if (mode == "failed" || mode == "background") { Thread.Sleep(300); Fail.SetResult(1); Thread.Sleep(700); }
            if (mode == "stopping") { Hang = true; }
            if (mode == "stopping" || mode == "background") { Stop = App.StopAsync(CancellationToken.None); }
            if (mode == "stopped") App.StopAsync(CancellationToken.None).Wait();
            Thread.Sleep(1500);
            Say("FACT host \"" + mode + "\""); Say("READY 0"); Thread.Sleep(-1);
        }
        static void Add(HostApplicationBuilder b, IHostedService s) { ServiceCollectionServiceExtensions.AddSingleton<IHostedService>(b.Services, s); }
    }
}
