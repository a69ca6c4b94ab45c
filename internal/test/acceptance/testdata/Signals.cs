// Threads that wait for signals which nobody gives any more, and others to which code that no thread runs now gives them later (C# 7).
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace Tower
{
    public interface IRings { void Ring(); }
    public sealed class Bell : IRings { public void Ring() { M.done.Signal(); } }
    public abstract class Clock { public abstract void Strikes(); }
    public sealed class Noon : Clock { public override void Strikes() { M.done.Signal(); } }
    public sealed class Guard : IDisposable { public void Dispose() { M.done.Signal(); } }
    public sealed class Last { ~Last() { M.done.Signal(); } }
    public sealed class Shift { readonly CountdownEvent over; public Shift(CountdownEvent c) { over = c; } public void Ends() { over.Signal(); } }
    public sealed class Box<T> { public T Thing; public void Opens() { M.done.Signal(); } }
    public sealed class Named { public void Rings() { M.done.Signal(); } }
    public sealed class Letter { public int Number; }
    public sealed class Office
    {
        readonly object own = new object(); int stamped;
        public void Stamp() { lock (own) { stamped++; Monitor.Pulse(own); } }
        public void Works() { while (true) { Stamp(); Thread.Sleep(600000); } }
    }
    public static class M
    {
        public static readonly CountdownEvent done = new CountdownEvent(3), other = new CountdownEvent(1);
        public static readonly Barrier gate = new Barrier(3);
        public static readonly Queue<Letter> inbox = new Queue<Letter>();
        public static readonly object desk = new object();
        public static readonly List<object> keep = new List<object>();
        public static readonly List<Action> acts = new List<Action>();
        public static event Action Evening;
        public static long n; public static int zero;
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static Thread T(string name, ThreadStart run) { var t = new Thread(run) { Name = name, IsBackground = true }; t.Start(); return t; }
        static void Waits() { done.Wait(); n++; }
        // The sick ones: what signals fails, and has ended.
        static void Close(object s) { int k = (int)s; try { n += 100 / (k - 1 - zero); done.Signal(); } catch (DivideByZeroException) { n++; } }
        static void Counts(int k) { try { n += 100 / (k - 1 - zero); done.Signal(); } catch (DivideByZeroException) { n++; } }
        static void Meets() { gate.SignalAndWait(); n++; }
        static void MeetsOrFails() { try { n += 100 / zero; gate.SignalAndWait(); } catch (DivideByZeroException) { n++; } }
        static void Sorts() { while (true) { Letter l; lock (desk) { if (inbox.Count == 0) Monitor.Wait(desk); if (inbox.Count == 0) continue; l = inbox.Dequeue(); } n += l.Number; } }
        static void Posts(int k) { lock (desk) { inbox.Enqueue(new Letter { Number = k }); if (inbox.Count == 1 && k == 0) Monitor.Pulse(desk); } }
        static void Sorters() { for (int i = 0; i < 4; i++) T("sorter " + i, Sorts); Thread.Sleep(300); for (int i = 1; i < 60; i++) Posts(i); }
        // The healthy ones: something signals later.
        static void Later() { Thread.Sleep(600000); Signals(); }
        static void Signals() { done.Signal(); }
        static void Sleeps(object s) { Thread.Sleep(600000); }
        static async Task SignalsAsync() { await Task.Delay(600000); done.Signal(); }
        static async Task SignalsDeepAsync() { await Task.Delay(600000); await SignalsAsync(); }
        static IEnumerator<int> Steps() { yield return 1; done.Signal(); yield return 2; }
        static void Rings(IRings r) { Thread.Sleep(600000); r.Ring(); }
        static void Strikes(Clock c) { Thread.Sleep(600000); c.Strikes(); }
        static void Reflects() { Thread.Sleep(600000); typeof(Named).GetMethod("Rings").Invoke(new Named(), null); }
        static void Drains() { while (true) { lock (desk) if (inbox.Count > 0) n += inbox.Dequeue().Number; Thread.Sleep(600000); } }
        static void Wakes() { lock (desk) Monitor.PulseAll(desk); }
        static void Parallels() { new Thread(Later) { Name = "later", IsBackground = true }.Start(); }
        static void Opens(object s) { Thread.Sleep(600000); ((Box<string>)s).Opens(); }
        static void StartsLater() { Thread.Sleep(600000); Parallels(); }
        public static void Main(string[] a)
        {
            string kind = a[a.Length - 1];
            if (!kind.EndsWith("main")) if (kind.StartsWith("barrier")) { T("a", Meets); T("b", Meets); } else if (!kind.StartsWith("pulse")) T("waiter", Waits);
            switch (kind)
            {
                // sick
                case "countdown": for (int i = 0; i < 3; i++) ThreadPool.QueueUserWorkItem(Close, i); break;
                case "countdownthreads": for (int i = 0; i < 3; i++) { int k = i; T("closer " + i, () => Counts(k)); } break;
                case "countdowntasks": for (int i = 0; i < 3; i++) { int k = i; Task.Run(() => Counts(k)); } break;
                case "countdownlater": for (int i = 0; i < 3; i++) ThreadPool.QueueUserWorkItem(Close, i); keep.Add(new Timer(_ => other.Signal(), null, 600000, 600000)); break;
                case "countdownshift": for (int i = 0; i < 3; i++) ThreadPool.QueueUserWorkItem(Close, i); { var s = new Shift(other); keep.Add(s); acts.Add(s.Ends); } break;
                case "barrierlost": T("c", MeetsOrFails); break;
                case "pulse": Sorters(); break;
                case "pulseoffice": T("office", new Office().Works); Sorters(); break;
                // healthy
                case "queued": ThreadPool.SetMaxThreads(2, 2); for (int i = 0; i < 8; i++) ThreadPool.QueueUserWorkItem(Sleeps, i); ThreadPool.QueueUserWorkItem(_ => done.Signal()); break;
                case "queuedgroup": ThreadPool.SetMaxThreads(2, 2); for (int i = 0; i < 8; i++) ThreadPool.QueueUserWorkItem(Sleeps, i); ThreadPool.QueueUserWorkItem(Close, 1); break;
                case "timer": keep.Add(new Timer(_ => done.Signal(), null, 600000, 600000)); break;
                case "async": keep.Add(SignalsAsync()); break;
                case "asyncdeep": keep.Add(SignalsDeepAsync()); break;
                case "sleeper": T("later", Later); break;
                case "list": acts.Add(Signals); break;
                case "librarymethod": keep.Add(new Func<bool>(done.Signal)); break;
                case "finalizer": keep.Add(new Last()); break;
                case "event": Evening += () => done.Signal(); break;
                case "unstarted": keep.Add(new Thread(Signals)); break;
                case "starts": T("starter", StartsLater); break;
                case "iterator": { var e = Steps(); e.MoveNext(); keep.Add(e); break; }
                case "interface": T("ringer", () => Rings(new Bell())); break;
                case "base": T("striker", () => Strikes(new Noon())); break;
                case "dispose": keep.Add(new Guard()); break;
                case "reflection": T("reflector", Reflects); break;
                case "continuation": Task.Delay(600000).ContinueWith(_ => done.Signal()); break;
                case "token": { var c = new CancellationTokenSource(600000); c.Token.Register(() => done.Signal()); keep.Add(c); break; }
                case "lazy": keep.Add(new Lazy<bool>(() => done.Signal())); break;
                case "exit": AppDomain.CurrentDomain.ProcessExit += (s, e) => done.Signal(); break;
                case "registered": ThreadPool.RegisterWaitForSingleObject(new AutoResetEvent(false), (s, t) => done.Signal(), null, -1, true); break;
                case "shift": { var s = new Shift(done); keep.Add(s); acts.Add(s.Ends); break; }
                case "generic": T("opener", () => Opens(new Box<string>())); break;
                case "native": { Action d = Signals; keep.Add(d); n = (long)Marshal.GetFunctionPointerForDelegate(d); break; }
                case "barrierlate": T("c", () => { Thread.Sleep(600000); Meets(); }); break;
                case "barriertask": keep.Add(Task.Delay(600000).ContinueWith(_ => Meets())); break;
                case "pulsetimer": Sorters(); keep.Add(new Timer(_ => Wakes(), null, 600000, 600000)); break;
                case "pulselist": Sorters(); acts.Add(Wakes); break;
                case "pulsedrain": Sorters(); T("drain", Drains); break;
                case "pulsejoins": Sorters(); T("late sorter", () => { Thread.Sleep(600000); Sorts(); }); break;
            }
            if (kind == "countdownmain") { for (int i = 0; i < 3; i++) ThreadPool.QueueUserWorkItem(Close, i); new Timer(s => Say("READY 0"), null, 1500, -1); done.Wait(); return; }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
