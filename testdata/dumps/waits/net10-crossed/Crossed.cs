// Threads that wait for what only threads in such waits would do, each with a twin that goes on:
// - hand a, hand b: two events; each would set the other's behind its own wait. Twin: a third thread sets one later ("helped a", "helped b").
// - ping, pong: two AutoResetEvents in loops. They go on: each has set the other's event a moment before it waits.
// - take, supply: the pulse of inner comes under outer, which the waiter holds. Twin "calm take", "calm supply": another thread pulses inner without outer.
// - port a, port b: two Mutexes in two orders. Twin "dock a", "dock b": in one order, and who has both sleeps.
// - one: the scheduler's only thread waits for a task of its own queue. Twin "two 0", "two 1": there is another thread.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Shop {
public sealed class Hand {
  readonly ManualResetEvent left = new ManualResetEvent(false), right = new ManualResetEvent(false);
  public int N;
  public void A() { right.WaitOne(); N++; left.Set(); }
  public void B() { left.WaitOne(); N++; right.Set(); }
}
public sealed class Helped {
  readonly ManualResetEventSlim left = new ManualResetEventSlim(), right = new ManualResetEventSlim();
  public int N;
  public void A() { right.Wait(); N++; left.Set(); }
  public void B() { left.Wait(); N++; right.Set(); }
  public void Helper() { Thread.Sleep(3600000); left.Set(); }
}
public sealed class Game {
  readonly AutoResetEvent ping = new AutoResetEvent(true), pong = new AutoResetEvent(false);
  public int N;
  public void Ping() { while (true) { ping.WaitOne(); N++; pong.Set(); } }
  public void Pong() { while (true) { pong.WaitOne(); N++; ping.Set(); } }
}
public sealed class Stock {
  readonly object outer = new object(), inner = new object();
  bool ready;
  public void Take() { lock (outer) { lock (inner) { while (!ready) Monitor.Wait(inner); } } }
  [MethodImpl(MethodImplOptions.NoInlining)] void Put() { lock (outer) { lock (inner) { ready = true; Monitor.PulseAll(inner); } } }
  public void Supply() { while (true) { Thread.Sleep(300); Put(); } }
}
public sealed class Calm {
  readonly object outer = new object(), inner = new object();
  bool ready;
  public void Take() { lock (outer) { lock (inner) { while (!ready) Monitor.Wait(inner); } } }
  public void Supply() { Thread.Sleep(300); lock (outer) { lock (inner) { ready = true; Monitor.PulseAll(inner); } } }
  public void Other() { Thread.Sleep(3600000); lock (inner) { ready = true; Monitor.PulseAll(inner); } }
}
public sealed class Ports {
  readonly Mutex com1 = new Mutex(), com2 = new Mutex();
  int n;
  [MethodImpl(MethodImplOptions.NoInlining)] void Both(Mutex x, Mutex y) { x.WaitOne(); Thread.Sleep(200); y.WaitOne(); n++; y.ReleaseMutex(); x.ReleaseMutex(); }
  public void A() { Both(com1, com2); }
  public void B() { Both(com2, com1); }
}
public sealed class Docks {
  readonly Mutex com1 = new Mutex(), com2 = new Mutex();
  int n;
  public void A() { com1.WaitOne(); com2.WaitOne(); n++; Thread.Sleep(3600000); com2.ReleaseMutex(); com1.ReleaseMutex(); }
  public void B() { Thread.Sleep(100); com1.WaitOne(); com2.WaitOne(); n++; com2.ReleaseMutex(); com1.ReleaseMutex(); }
}
public sealed class OneThread : TaskScheduler {
  readonly BlockingCollection<Task> q = new BlockingCollection<Task>();
  public void Work() { foreach (var t in q.GetConsumingEnumerable()) TryExecuteTask(t); }
  protected override IEnumerable<Task> GetScheduledTasks() { return q.ToArray(); }
  protected override void QueueTask(Task t) { q.Add(t); }
  protected override bool TryExecuteTaskInline(Task t, bool was) { return false; }
}
public static class Crossed {
  static readonly OneThread one = new OneThread();
  static readonly List<Task> jobs = new List<Task>();
  static int Area(int id) { return id * 2; }
  static void Draw() { Task.Factory.StartNew(() => Area(7), CancellationToken.None, TaskCreationOptions.None, one).Wait(); }
  static void Start(string name, ThreadStart run) { new Thread(run) { Name = name, IsBackground = true }.Start(); }
  public static void Main(string[] args) {
    var h = new Hand(); Start("hand a", h.A); Start("hand b", h.B);
    var e = new Helped(); Start("helped a", e.A); Start("helped b", e.B); Start("helper", e.Helper);
    var g = new Game(); Start("ping", g.Ping); Start("pong", g.Pong);
    var s = new Stock(); Start("take", s.Take); Start("supply", s.Supply);
    var c = new Calm(); Start("calm take", c.Take); Start("calm supply", c.Supply); Start("calm other", c.Other);
    var p = new Ports(); Start("port a", p.A); Start("port b", p.B);
    var d = new Docks(); Start("dock a", d.A); Start("dock b", d.B);
    if (args.Length > 0 && args[0] == "two") Start("one more", one.Work);
    Start("one", one.Work);
    jobs.Add(Task.Factory.StartNew(Draw, CancellationToken.None, TaskCreationOptions.None, one));
    if (args.Length > 0 && args[0] == "two") jobs.Add(Task.Factory.StartNew(() => Thread.Sleep(3600000), CancellationToken.None, TaskCreationOptions.None, one));
    Thread.Sleep(2500);
    GC.Collect();
    Acme.Platform.Host.Say("READY 0");
    Thread.Sleep(-1);
  }
}
}
