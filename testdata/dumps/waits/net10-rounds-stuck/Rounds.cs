// Circles of waits that go through items of queues, promises and tasks ("stuck"), and twins of them that other code ends, or time ("moves").
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Shop {
public sealed class Upload {
  readonly object state = new object();
  readonly CancellationTokenSource cts = new CancellationTokenSource();
  readonly ManualResetEventSlim closed = new ManualResetEventSlim();
  int parts;
  public Upload() { cts.Token.Register(() => { lock (state) parts = 0; }); }
  public void Pump() { lock (state) { parts++; closed.Wait(); } }
  public void Close() { cts.Cancel(); closed.Set(); }
}
// Its event is given to it: who makes one more may set the same.
public sealed class Lent {
  readonly object state = new object();
  readonly CancellationTokenSource cts = new CancellationTokenSource();
  readonly ManualResetEventSlim closed;
  int parts;
  public Lent(ManualResetEventSlim closed) { this.closed = closed; cts.Token.Register(() => { lock (state) parts = 0; }); }
  public void Pump() { lock (state) { parts++; closed.Wait(); } }
  public void Close() { cts.Cancel(); closed.Set(); }
  public void End() { closed.Set(); }
}
public sealed class Loop {
  readonly BlockingCollection<Action> q = new BlockingCollection<Action>();
  public readonly List<Action> Known = new List<Action>();
  public bool Keeps;
  public void Run() { foreach (var a in q.GetConsumingEnumerable()) a(); }
  public void Post(Action a) { q.Add(a); }
  public void Send(Action a) { using (var e = new ManualResetEvent(false)) { Action set = () => { a(); e.Set(); }; q.Add(set); if (Keeps) Known.Add(set); e.WaitOne(); } }
}
public sealed class Screen {
  readonly Loop ui; public int Rows; readonly int limit;
  public Screen(Loop ui, int limit) { this.ui = ui; this.limit = limit; }
  void Fill() { Thread.Sleep(100); ui.Send(() => Rows++); }
  public void OnClick() { Task.Run(() => Fill()).Wait(limit); }
}
public sealed class Agent {
  readonly BlockingCollection<KeyValuePair<int, TaskCompletionSource<int>>> box = new BlockingCollection<KeyValuePair<int, TaskCompletionSource<int>>>();
  public Agent Other; public bool Expires;
  public static readonly Queue<TaskCompletionSource<int>> Open = new Queue<TaskCompletionSource<int>>();
  int Handle(int m) { Thread.Sleep(100); return m > 5 ? m : Other.Ask(m + 1); }
  public int Ask(int m) { var t = new TaskCompletionSource<int>(); if (Expires) Open.Enqueue(t); box.Add(new KeyValuePair<int, TaskCompletionSource<int>>(m, t)); return t.Task.Result; }
  public void Tell(int m) { box.Add(new KeyValuePair<int, TaskCompletionSource<int>>(m, new TaskCompletionSource<int>())); }
  public void Run() { foreach (var p in box.GetConsumingEnumerable()) p.Value.SetResult(Handle(p.Key)); }
}
public static class Rounds {
  static readonly List<object> keep = new List<object>();
  static readonly ManualResetEventSlim shared = new ManualResetEventSlim();
  static Timer timer;
  static void Start(string name, ThreadStart run) { new Thread(run) { Name = name, IsBackground = true }.Start(); }
  static void CloseAll() { new Lent(shared).End(); }
  static void Uploads() { var u = new Upload(); keep.Add(u); Start("pump", u.Pump); Thread.Sleep(200); Start("closer", u.Close); }
  static void Lents() { var u = new Lent(shared); keep.Add(u); Start("lent pump", u.Pump); Thread.Sleep(200); Start("lent closer", u.Close); }
  static void Screens(string name, int threads, int limit, bool keeps) {
    var ui = new Loop { Keeps = keeps }; keep.Add(ui);
    Start(name, ui.Run);
    var s = new Screen(ui, limit); ui.Post(s.OnClick);
    Thread.Sleep(50);
    for (int i = 1; i < threads; i++) { Start(name + " too", ui.Run); ui.Post(s.OnClick); }
  }
  static void Agents(string name, bool expires) {
    var a = new Agent { Expires = expires }; var b = new Agent { Other = a, Expires = expires }; a.Other = b; keep.Add(a); keep.Add(b);
    Start(name + " a", a.Run); Start(name + " b", b.Run); a.Tell(1);
  }
  static void Own(int limit) { Task t = null; t = new Task(() => { while (t == null) { } t.Wait(limit); }); t.Start(); }
  static void Expire(object o) { if (Agent.Open.Count > 9) Agent.Open.Dequeue().TrySetResult(0); if (Agent.Open.Count > 99) CloseAll(); }
  public static void Main(string[] args) {
    ThreadPool.SetMinThreads(16, 16);
    if (args[0] == "stuck") {
      Uploads(); Screens("ui", 1, -1, false); Agents("agent", false); Own(-1);
    } else {
      timer = new Timer(Expire, null, 100, 100);
      Lents(); Screens("limited", 1, 3600000, false); Screens("kept", 1, -1, true); Agents("expiring", true); Own(3600000);
      Idle();
    }
    Thread.Sleep(1500);
    GC.Collect();
    Acme.Platform.Host.Say("READY 0");
    Thread.Sleep(-1);
  }
  // One thread of the two that take waits for items.
  static void Idle() {
    var ui = new Loop(); keep.Add(ui);
    Start("two", ui.Run); Start("two too", ui.Run);
    var held = new object(); var s = new Screen(ui, -1);
    ui.Post(() => { lock (held) { Thread.Sleep(-1); } });
    Thread.Sleep(100);
    ui.Post(s.OnClick);
  }
}
}
