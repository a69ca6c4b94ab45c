using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
public class Spins { public int Before; public SpinLock Tracked = new SpinLock(true); public SpinLock Untracked = new SpinLock(false); }
public class Config { public int Value = 7; }
public static class Locks {
  static readonly MethodInfo write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
  static void Line(string s) { write.Invoke(null, new object[] { s }); }
  static readonly List<Thread> threads = new List<Thread>();
  static readonly Type rwType = Type.GetType("System.Threading.ReaderWriterLockSlim");
  static readonly object rw = Activator.CreateInstance(rwType), rwOne = Activator.CreateInstance(rwType);
  static Action Call(object o, string name) { return (Action)Delegate.CreateDelegate(typeof(Action), o, o.GetType().GetMethod(name, Type.EmptyTypes)); }
  static readonly Action rwRead = Call(rw, "EnterReadLock"), rwWrite = Call(rw, "EnterWriteLock"), oneRead = Call(rwOne, "EnterReadLock"), oneWrite = Call(rwOne, "EnterWriteLock");
  static readonly object countdown = Activator.CreateInstance(Type.GetType("System.Threading.CountdownEvent, System.Threading"), new object[] { 3 });
  static readonly SemaphoreSlim gate = new SemaphoreSlim(0), slots = new SemaphoreSlim(0);
  static readonly ManualResetEventSlim hold = new ManualResetEventSlim();
  static readonly AutoResetEvent kernel = new AutoResetEvent(false);
  static readonly Mutex mutex = new Mutex();
  static readonly Spins spins = new Spins();
  static readonly Lazy<Config> lazy = new Lazy<Config>(MakeConfig), done = new Lazy<Config>(() => new Config());
  static object barrier;
  static readonly object joined = new object();
  static readonly List<Task> tasks = new List<Task>();
  static Config MakeConfig() { hold.Wait(); return new Config(); }
  static Thread Start(string name, ThreadStart run) { var t = new Thread(run) { Name = name, IsBackground = true }; threads.Add(t); t.Start(); Line("FACT thread " + t.ManagedThreadId + " " + name); return t; }
  static async Task Gated(string name) { await gate.WaitAsync(); Line(name); }
  static async Task Outer(string name) { await Gated(name); }
  public static void Main(string[] args) {
    Start("reader one", () => { rwRead(); hold.Wait(); });
    Start("reader two", () => { rwRead(); hold.Wait(); });
    Thread.Sleep(200);
    Start("writer", () => { rwWrite(); hold.Wait(); });
    Start("only reader", () => { oneRead(); Thread.Sleep(300); lock (joined) hold.Wait(); });
    Start("only writer", () => { Thread.Sleep(100); lock (joined) { oneWrite(); hold.Wait(); } });
    Start("countdown", () => Call(countdown, "Wait")());
    Type b = Type.GetType("System.Threading.Barrier, System.Threading");
    barrier = Activator.CreateInstance(b, new object[] { 3 });
    var signal = (Action)Delegate.CreateDelegate(typeof(Action), barrier, b.GetMethod("SignalAndWait", Type.EmptyTypes));
    Start("at barrier", () => signal());
    Start("spin owner", () => { bool taken = false; spins.Tracked.Enter(ref taken); taken = false; spins.Untracked.Enter(ref taken); hold.Wait(); });
    Start("spinner", () => { Thread.Sleep(100); bool taken = false; spins.Tracked.Enter(ref taken); });
    Start("lazy maker", () => { GC.KeepAlive(lazy.Value); });
    Thread.Sleep(200);
    Start("lazy waiter", () => { GC.KeepAlive(lazy.Value); });
    var last = Start("joined", () => hold.Wait());
    Start("joiner", () => last.Join());
    Start("kernel", () => kernel.WaitOne());
    Start("mutex owner", () => { mutex.WaitOne(); hold.Wait(); });
    Thread.Sleep(100);
    Start("mutex waiter", () => mutex.WaitOne());
    Start("wait any", () => WaitHandle.WaitAny(new WaitHandle[] { kernel, new ManualResetEvent(false) }));
    GC.KeepAlive(done.Value);
    tasks.Add(Outer("first")); tasks.Add(Gated("second")); tasks.Add(slots.WaitAsync());
    Start("blocked on slots", () => slots.Wait());
    Thread.Sleep(500);
    Line("READY"); Thread.Sleep(-1);
  }
}
