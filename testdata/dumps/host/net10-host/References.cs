// The parts of Microsoft.Extensions.* that HostState.cs is compiled against, one assembly for each section. It runs with the real ones.

// Microsoft.Extensions.DependencyInjection.Abstractions.dll
using System;
namespace Microsoft.Extensions.DependencyInjection {
  public interface IServiceCollection {}
  public static class ServiceCollectionServiceExtensions { public static IServiceCollection AddSingleton<TService>(IServiceCollection s, TService impl) where TService : class { return null; } }
}

// Microsoft.Extensions.Options.dll
namespace Microsoft.Extensions.Options { public interface IOptions<T> where T : class { T Value { get; } } 
 public class OptionsWrapper<T> : IOptions<T> where T : class { public OptionsWrapper(T t) {} public T Value { get { return null; } } } }

// Microsoft.Extensions.Hosting.Abstractions.dll
using System; using System.Threading; using System.Threading.Tasks;
namespace Microsoft.Extensions.Hosting {
  public interface IHostedService { Task StartAsync(CancellationToken c); Task StopAsync(CancellationToken c); }
  public abstract class BackgroundService : IHostedService {
    protected abstract Task ExecuteAsync(CancellationToken t);
    public virtual Task StartAsync(CancellationToken c) { return null; } public virtual Task StopAsync(CancellationToken c) { return null; } }
  public interface IHost : IDisposable { IServiceProvider Services { get; } Task StartAsync(CancellationToken c); Task StopAsync(CancellationToken c); }
}

// Microsoft.Extensions.Hosting.dll
using System; using Microsoft.Extensions.DependencyInjection;
namespace Microsoft.Extensions.Hosting {
  public enum BackgroundServiceExceptionBehavior { StopHost, Ignore }
  public class HostOptions { public BackgroundServiceExceptionBehavior BackgroundServiceExceptionBehavior { get { return 0; } set {} } public TimeSpan ShutdownTimeout { get { return default(TimeSpan);} set {} } }
  public sealed class HostApplicationBuilderSettings { }
  public sealed class HostApplicationBuilder { public IServiceCollection Services { get { return null; } } public IHost Build() { return null; } }
  public static class Host { public static HostApplicationBuilder CreateEmptyApplicationBuilder(HostApplicationBuilderSettings s) { return null; } }
}
