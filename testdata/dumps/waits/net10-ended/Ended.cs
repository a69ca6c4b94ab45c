// Waits that end never, for what would have ended them has ended itself ("ended"), and waits that look alike, which living code ends in unusual ways
// ("living"). It uses only types of the core library.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { const ulong A = 0x8e79a7bed785ec7c; } }
namespace System.Collections.Concurrent { internal class AnchorConcurrent { const ulong B = 0x3a0ad5117f5f3fb0; System.Uri u; } }
namespace System.Threading { internal class AnchorThreading { System.Linq.Expressions.Expression u; } }
namespace System.Collections { internal class AnchorCollections { System.Xml.XmlNode u; } }
namespace Depot
{
  public static class Host { public static int Count; public static readonly CancellationTokenSource Stopping = new CancellationTokenSource();
    public static Thread Thread_(string name, ThreadStart body) { var t = new Thread(body) { Name = name, IsBackground = true }; t.Start(); return t; }
    public static void Say(string text) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { text }); } }
  // A message loop: callers queue an item and wait for its event. In UiGone the loop has ended by an exception, and nobody begins it again.
  public sealed class Message { public Action Body; public readonly ManualResetEvent Done = new ManualResetEvent(false); public Exception Failed; 
    public void Run() { try { Body(); } finally { Done.Set(); } } }
  public class Desk {
    readonly Queue<Message> queue = new Queue<Message>(); readonly object gate = new object(); int shown; public Thread Pump;
    public void Start() { Pump = Host.Thread_("desk", Loop); }
    public void Send(Action a) { var m = new Message { Body = a }; lock (gate) { queue.Enqueue(m); Monitor.Pulse(gate); } m.Done.WaitOne(); }
    public void Show(int n) { shown += n; }
    public void Crash() { throw new InvalidOperationException("no such window"); }
    void Loop() { try { while (true) { Next().Run(); } } catch (InvalidOperationException) { Host.Count++; } }
    Message Next() { lock (gate) { while (queue.Count == 0) Monitor.Wait(gate); return queue.Dequeue(); } }
    public void Drain() { while (true) { Message m; lock (gate) { if (queue.Count == 0) return; m = queue.Dequeue(); } m.Run(); } }
  }
  public static class UiGone { public static Desk Main = new Desk();
    public static void Run() { Main.Start(); try { Main.Send(Main.Crash); } catch { } for (int i = 0; i < 4; i++) Host.Thread_("clerk " + i, () => Main.Send(() => Main.Show(1))); } }
  // The same with a promise, for threads and for async callers.
  public sealed class Ticket { public Func<int> Body; public readonly TaskCompletionSource<int> Done = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
    public void Run() { try { Done.SetResult(Body()); } catch (ArgumentException e) { Done.SetException(e); } } }
  public class Counter { readonly Queue<Ticket> line = new Queue<Ticket>();
    public void Start() { Host.Thread_("counter", Loop); }
    public Task<int> Ask(Func<int> f) { var t = new Ticket { Body = f }; lock (line) { line.Enqueue(t); Monitor.Pulse(line); } return t.Done.Task; }
    Ticket Next() { lock (line) { while (line.Count == 0) Monitor.Wait(line); return line.Dequeue(); } }
    void Loop() { try { while (true) Next().Run(); } catch (InvalidOperationException) { Host.Count++; } }
    public static int Fail() { throw new InvalidOperationException("no paper"); } public int N; public int One() { return N++; } }
  public static class TicketGone { public static Counter Main = new Counter();
    public static void Run() { Main.Start(); Main.Ask(Counter.Fail); for (int i = 0; i < 4; i++) { Host.Thread_("buyer " + i, () => Host.Count += Main.Ask(Main.One).Result); Buy().ContinueWith(t => { }); } }
    static async Task Buy() { Host.Count += await Main.Ask(Main.One); } }
  public static class TicketBusy { public static Counter Main = new Counter();
    public static void Run() { Main.Start(); Main.Ask(() => { Thread.Sleep(400000); return 1; }); for (int i = 0; i < 4; i++) Buy().ContinueWith(t => { }); }
    static async Task Buy() { Host.Count += await Main.Ask(Main.One); } }
  public sealed class Lane : TaskScheduler { readonly Queue<Task> list = new Queue<Task>(); readonly AutoResetEvent bell = new AutoResetEvent(false); public volatile bool Closed;
    public void Start() { Host.Thread_("lane", Loop); }
    void Loop() { while (!Closed) { bell.WaitOne(); Task t; while ((t = Take()) != null) TryExecuteTask(t); } }
    Task Take() { lock (list) return list.Count > 0 ? list.Dequeue() : null; }
    public void Close() { Closed = true; bell.Set(); }
    protected override void QueueTask(Task t) { lock (list) list.Enqueue(t); bell.Set(); }
    protected override bool TryExecuteTaskInline(Task t, bool was) { return false; }
    protected override IEnumerable<Task> GetScheduledTasks() { lock (list) return list.ToArray(); } }
  public static class LaneGone { public static Lane Only = new Lane(); static int n;
    public static void Run() { Only.Start(); Task.Factory.StartNew(() => n++, CancellationToken.None, TaskCreationOptions.None, Only).Wait(); Only.Close(); Thread.Sleep(300);
      for (int i = 0; i < 4; i++) Host.Thread_("sorter " + i, () => Task.Factory.StartNew(() => n++, CancellationToken.None, TaskCreationOptions.None, Only).Wait()); } }
  public sealed class Gate { readonly object sync = new object(); bool open; public int Passed;
    public void Open() { lock (sync) { open = true; Monitor.PulseAll(sync); } }
    public void Pass() { lock (sync) { while (!open) Monitor.Wait(sync); Passed++; } } }
  public sealed class Bell { readonly object sync = new object(); public int Heard; public void Ring() { lock (sync) Monitor.PulseAll(sync); } public void Listen() { lock (sync) { Monitor.Wait(sync); Heard++; } } }
  public sealed class Goodbye { readonly Action say; public Goodbye(Action a) { say = a; } ~Goodbye() { say(); } }
  // Ended: what would have given the signal has ended, or had given it before.
  public static class PulseGone { static Gate warm = new Gate(); 
    public static void Run() { for (int i = 0; i < 4; i++) Host.Thread_("picker " + i, warm.Pass); Host.Thread_("warmer", Warm); }
    static void Warm() { try { Load(); warm.Open(); } catch (FormatException) { Host.Count++; } } static void Load() { throw new FormatException("plan"); } }
  public static class MissedPulse { static Bell bell = new Bell();
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); } }
  public static class TokenGone { 
    public static void Run() { Make(); GC.Collect(); }
    static void Make() { var c = new CancellationTokenSource(); var t = c.Token; var h = t.WaitHandle; for (int i = 0; i < 4; i++) Host.Thread_("lister " + i, () => { h.WaitOne(); Host.Count += 1; }); c.Dispose(); } }
  public static class TokenLost { 
    public static void Run() { Make(); GC.Collect(); }
    static void Make() { var c = new CancellationTokenSource(); var t = c.Token; for (int i = 0; i < 4; i++) Host.Thread_("lister " + i, () => { t.WaitHandle.WaitOne(); Host.Count += 1; }); } }
  public static class SemGone { static Semaphore slots = new Semaphore(2, 2);
    public static void Run() { for (int i = 0; i < 2; i++) Host.Thread_("early " + i, Early); Thread.Sleep(200); for (int i = 0; i < 4; i++) Host.Thread_("late " + i, Late); }
    static void Early() { slots.WaitOne(); try { Work(); slots.Release(); } catch (FormatException) { } } static void Work() { throw new FormatException(); }
    static void Late() { slots.WaitOne(); Host.Count += 1; } }
  public static class EwhGone { static EventWaitHandle ready = new EventWaitHandle(false, EventResetMode.ManualReset);
    public static void Run() { for (int i = 0; i < 4; i++) Host.Thread_("reader " + i, () => { ready.WaitOne(); Host.Count += 1; }); Host.Thread_("loader", Load); }
    static void Load() { try { Parse(); ready.Set(); } catch (FormatException) { } } static void Parse() { throw new FormatException(); } }
  // Living: a timer, a watchdog, a loop that works, a dictionary of delegates, a token, weak references, a finalizer, a registered wait end these.
  public static class UiTimer { public static Desk Main = new Desk(); static Timer late;
    public static void Run() { Main.Start(); Main.Send(Main.Crash); late = new Timer(o => Main.Drain(), null, 600000, 600000); for (int i = 0; i < 4; i++) Host.Thread_("clerk " + i, () => Main.Send(() => Main.Show(1))); } }
  public static class UiWatch { public static Desk Main = new Desk();
    public static void Run() { Main.Start(); Main.Send(Main.Crash); Host.Thread_("watch", Watch); for (int i = 0; i < 4; i++) Host.Thread_("clerk " + i, () => Main.Send(() => Main.Show(1))); }
    static void Watch() { while (true) { Thread.Sleep(300000); if (!Main.Pump.IsAlive) Main.Start(); } } }
  public static class UiBusy { public static Desk Main = new Desk();
    public static void Run() { Main.Start(); Host.Thread_("slow", () => Main.Send(() => Thread.Sleep(500000))); Thread.Sleep(200); for (int i = 0; i < 4; i++) Host.Thread_("clerk " + i, () => Main.Send(() => Main.Show(1))); } }
  public static class PulseTimer { static Bell bell = new Bell(); static Timer t;
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); t = new Timer(o => bell.Ring(), null, 600000, 600000); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); } }
  public static class PulseDict { static Bell bell = new Bell(); static readonly Dictionary<string, Action> commands = new Dictionary<string, Action>();
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); commands["ring"] = bell.Ring; for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); } }
  public static class PulseToken { static Bell bell = new Bell(); 
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); Host.Stopping.Token.Register(bell.Ring); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); } }
  public static class PulseWeak { static Bell bell = new Bell(); static object keep; static WeakReference sub;
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); Action a = bell.Ring; keep = new object[] { a }; sub = new WeakReference(a); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); Host.Thread_("raiser", () => { while (true) { Thread.Sleep(300000); var x = sub.Target as Action; if (x != null) x(); } }); } }
  public static class PulseWorkers { static Bell bell = new Bell(); // a worker pool idles: who pulses has ended its feed: a queue of work with nothing more to come
    static Queue<int> work = new Queue<int>(); static object sync = new object();
    public static void Run() { for (int i = 0; i < 4; i++) Host.Thread_("worker " + i, Work); Host.Thread_("feeder", () => { for (int i = 0; i < 100; i++) lock (sync) { work.Enqueue(i); Monitor.Pulse(sync); } }); }
    static void Work() { while (true) { int n; lock (sync) { while (work.Count == 0) Monitor.Wait(sync); n = work.Dequeue(); } Host.Count += n; } } }
  public static class WeakOnly { static Bell bell = new Bell(); static WeakReference sub;
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); Host.Thread_("maker", Make).Join(); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); Host.Thread_("raiser", () => { while (true) { Thread.Sleep(300000); var x = sub.Target as Action; if (x != null) x(); } }); }
    static void Make() { sub = new WeakReference(new Action(bell.Ring)); } }
  public static class FinalAction { static Bell bell = new Bell();
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); Host.Thread_("maker", Make).Join(); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); }
    static void Make() { for (int i = 0; i < 3; i++) new Goodbye(bell.Ring); } }
  public static class RegWait { static Bell bell = new Bell(); static AutoResetEvent e = new AutoResetEvent(false);
    public static void Run() { Host.Thread_("ringer", () => bell.Ring()).Join(); ThreadPool.RegisterWaitForSingleObject(e, (o, t) => bell.Ring(), null, 600000, false); for (int i = 0; i < 4; i++) Host.Thread_("hearer " + i, bell.Listen); } }
  public static class TokenKept { static CancellationTokenSource c = new CancellationTokenSource();
    public static void Run() { var t = c.Token; for (int i = 0; i < 4; i++) Host.Thread_("lister " + i, () => { t.WaitHandle.WaitOne(); Host.Count += 1; }); AppDomain.CurrentDomain.ProcessExit += (o, e) => c.Cancel(); } }
  public static class TokenTimed { 
    public static void Run() { var c = new CancellationTokenSource(600000); var t = c.Token; for (int i = 0; i < 4; i++) Host.Thread_("lister " + i, () => { t.WaitHandle.WaitOne(); Host.Count += 1; }); } }
  public static class EwhKept { static EventWaitHandle ready = new EventWaitHandle(false, EventResetMode.ManualReset); static Timer t;
    public static void Run() { for (int i = 0; i < 4; i++) Host.Thread_("reader " + i, () => { ready.WaitOne(); Host.Count += 1; }); Host.Thread_("loader", Load); }
    static void Load() { try { Parse(); ready.Set(); } catch (FormatException) { t = new Timer(o => ready.Set(), null, 500000, -1); } } static void Parse() { throw new FormatException(); } }
  public static class Program { static void Main(string[] a) {
    if (a[0] == "ended") { UiGone.Run(); LaneGone.Run(); PulseGone.Run(); MissedPulse.Run(); TokenGone.Run(); TokenLost.Run(); SemGone.Run(); EwhGone.Run(); TicketGone.Run(); }
    else { UiTimer.Run(); UiWatch.Run(); UiBusy.Run(); PulseTimer.Run(); PulseDict.Run(); PulseToken.Run(); PulseWeak.Run(); PulseWorkers.Run(); WeakOnly.Run(); FinalAction.Run(); RegWait.Run(); TokenKept.Run(); TokenTimed.Run(); EwhKept.Run(); TicketBusy.Run(); }
    Thread.Sleep(1500); Host.Say("READY 0"); new ManualResetEventSlim().Wait(); } }
}
