// Locks behind interfaces, abstract classes and delegates, and waits that nothing ends, one by kind (C# 7). Each kind says what is true of it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Sluice
{
    public interface IGate { Task EnterAsync(); void Leave(); }
    public interface ISink { void Write(int i); }
    public sealed class Gate : IGate { readonly SemaphoreSlim permit = new SemaphoreSlim(1); public Task EnterAsync() { return permit.WaitAsync(); } public void Leave() { permit.Release(); } }
    public sealed class Bolt : IGate { readonly SemaphoreSlim permit = new SemaphoreSlim(1); Task IGate.EnterAsync() { return permit.WaitAsync(); } void IGate.Leave() { permit.Release(); } }
    public sealed class Open : IGate { public Task EnterAsync() { return Task.Delay(1); } public void Leave() { M.sum++; } } // enters nothing
    public abstract class Lock { public abstract Task EnterAsync(); public abstract void Leave(); }
    public class Weir : Lock { readonly SemaphoreSlim permit = new SemaphoreSlim(1); public override Task EnterAsync() { return permit.WaitAsync(); } public override void Leave() { permit.Release(); } }
    public sealed class Dam : Weir { }
    public sealed class Doors { public readonly Func<Task> Enter; public readonly Action Leave; public Doors(Func<Task> enter, Action leave) { Enter = enter; Leave = leave; } }
    public sealed class Sum : ISink { public void Write(int i) { M.written += i; } }
    public sealed class Pair
    {
        readonly SemaphoreSlim left = new SemaphoreSlim(1), right = new SemaphoreSlim(1);
        public void Left() { left.Wait(); Thread.Sleep(200); right.Wait(); right.Release(); left.Release(); }
        public void Right() { right.Wait(); Thread.Sleep(200); left.Wait(); left.Release(); right.Release(); }
    }
    public sealed class Fast // its methods are called so often that their code is optimized: it calls methods inside the class library itself
    {
        readonly SemaphoreSlim left = new SemaphoreSlim(1), right = new SemaphoreSlim(1);
        public void Left(int pause) { left.Wait(); Thread.Sleep(pause); right.Wait(); right.Release(); left.Release(); }
        public void Right(int pause) { right.Wait(); Thread.Sleep(pause); left.Wait(); left.Release(); right.Release(); }
        public void Cancels(int pause, CancellationToken t) { right.Wait(); Thread.Sleep(pause); left.Wait(t); left.Release(); right.Release(); }
        public void Often(CancellationToken t) { for (int i = 0; i < 4; i++) { for (int k = 0; k < 100; k++) { Left(0); Right(0); Cancels(0, t); } Thread.Sleep(300); } }
    }
    public static class M
    {
        static readonly IGate a = new Gate(), b = new Gate(), c = new Bolt(), d = new Bolt(), open = new Open(); static readonly Gate own = new Gate(); static readonly IGate[] all = { own };
        static readonly Lock upper = new Weir(), lower = new Dam(); static readonly SemaphoreSlim red = new SemaphoreSlim(1), blue = new SemaphoreSlim(1);
        static readonly Doors methods = new Doors(own.EnterAsync, own.Leave), others = new Doors(a.EnterAsync, a.Leave);
        static readonly Doors direct = new Doors(red.WaitAsync, () => red.Release()), captured = Captured(blue), chosen = new Doors(() => own.EnterAsync(), () => own.Leave());
        static readonly ISink[] sinks = { new Sum() }; static readonly SemaphoreSlim seats = new SemaphoreSlim(1), stamps = new SemaphoreSlim(1);
        static readonly SemaphoreSlim[] seated = { seats }; static readonly Pair both = new Pair(); static readonly Fast fast = new Fast(); static readonly CancellationTokenSource stopping = new CancellationTokenSource();
        public static readonly TaskCompletionSource<int> never = new TaskCompletionSource<int>(); static readonly List<object> keep = new List<object>(); public static int sum, written; static volatile bool done = sum > 1 << 30;
        static Doors Captured(SemaphoreSlim s) { return new Doors(() => s.WaitAsync(), () => s.Release()); }
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type k = Type.GetType("System.Console, System.Console"); k.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static async Task Both(IGate x, IGate y) { await x.EnterAsync(); try { await Task.Delay(60); await y.EnterAsync(); y.Leave(); } finally { x.Leave(); } }
        static async Task Locks(Lock x, Lock y) { await x.EnterAsync(); try { await Task.Delay(60); await y.EnterAsync(); y.Leave(); } finally { x.Leave(); } }
        static async Task Doubles(Doors x, Doors y) { await x.Enter(); try { await Task.Delay(60); await y.Enter(); y.Leave(); } finally { x.Leave(); } }
        static async Task Stays(IGate x) { await x.EnterAsync(); try { await never.Task; } finally { x.Leave(); } }
        static async Task Odd(int i) { await all[i].EnterAsync(); try { await never.Task; } finally { all[i].Leave(); } } // the suspended method has i alone
        static async Task Element(int i) { await seated[i].WaitAsync(); try { await never.Task; } finally { seated[i].Release(); } }
        static async Task Seat() { await seats.WaitAsync(); sum++; seats.Release(); }
        static async Task Given(Func<Task> enter, Action leave) { Func<Task> e = enter; enter = null; await e(); try { await never.Task; } finally { leave(); } }
        static async Task Passes() { await own.EnterAsync(); sum++; own.Leave(); }
        static async Task Loses() { await own.EnterAsync(); sum++; if (sum == 1) throw new FormatException("ticket"); own.Leave(); }
        static async Task Logs(int i) { sinks[i].Write(1); await never.Task; sinks[i].Write(2); }
        static async Task Turns(IGate x) { while (true) { await x.EnterAsync(); try { await Task.Delay(5); } finally { x.Leave(); } } }
        static async Task Polls() { await stamps.WaitAsync(); try { while (!done) await Task.Delay(20); } finally { stamps.Release(); } }
        static async Task Ready() { while (!done) await Task.Delay(20); }
        static async Task PollsBelow() { await stamps.WaitAsync(); try { await Ready(); } finally { stamps.Release(); } }
        static async Task Stamps() { await stamps.WaitAsync(); sum++; stamps.Release(); }
        static async Task Steps() { while (true) { await stamps.WaitAsync(); try { await Task.Delay(4); await Step(); } finally { stamps.Release(); } } }
        static async Task Step() { await Task.Delay(3); sum++; }
        static void Naps() { Thread.Sleep(20); }
        public static void Main(string[] args)
        {
            switch (args.Length > 1 ? args[1] : args[0])
            {
                case "interface": keep.Add(Both(a, b)); keep.Add(Both(b, a)); break; // deadlock
                case "explicit": keep.Add(Both(c, d)); keep.Add(Both(d, c)); break; // deadlock
                case "abstract": keep.Add(Locks(upper, lower)); keep.Add(Locks(lower, upper)); break; // deadlock; one class inherits its methods
                case "delegates": keep.Add(Doubles(methods, others)); keep.Add(Doubles(others, methods)); break; // deadlock
                case "lambdas": keep.Add(Doubles(direct, captured)); keep.Add(Doubles(captured, direct)); break; // deadlock; a method of SemaphoreSlim itself, and a closure
                case "chosen": keep.Add(Doubles(chosen, others)); keep.Add(Doubles(others, chosen)); break; // deadlock; lambdas without a closure
                case "stays": keep.Add(Stays(own)); for (int i = 0; i < 12; i++) keep.Add(Passes()); break; // Stays holds it and waits for a promise
                case "unknown": keep.Add(Odd(0)); for (int i = 0; i < 12; i++) keep.Add(Passes()); break; // Odd holds it, which the code does not show: nobody may be said to be missing
                case "element": keep.Add(Element(0)); Thread.Sleep(100); for (int i = 0; i < 12; i++) keep.Add(Seat()); break; // Element holds it, which the code does not show
                case "parameter": keep.Add(Given(own.EnterAsync, own.Leave)); for (int i = 0; i < 12; i++) keep.Add(Passes()); break; // Given holds it; the suspended method has what leaves it alone
                case "fields": T("left first", both.Left); T("right first", both.Right); break; // deadlock of threads over fields of an object
                case "optimized": fast.Often(stopping.Token); T("left first", () => fast.Left(200)); T("right first", () => fast.Right(200)); break; // deadlock
                case "cancels": fast.Often(stopping.Token); T("left first", () => fast.Left(200)); T("right first", () => fast.Cancels(200, stopping.Token)); break; // a circle that a token can end
                case "logged": keep.Add(Logs(0)); for (int i = 0; i < 12; i++) keep.Add(Loses()); break; // the first failed and has not left; what Logs calls enters nothing
                case "polls": keep.Add(Polls()); Thread.Sleep(200); for (int i = 0; i < 12; i++) keep.Add(Stamps()); break; // the holder polls for ever
                case "below": keep.Add(PollsBelow()); Thread.Sleep(200); for (int i = 0; i < 12; i++) keep.Add(Stamps()); break; // what the holder awaits polls for ever
                case "thread": T("holder", () => { seats.Wait(); while (!done) Thread.Sleep(20); seats.Release(); }); Thread.Sleep(100); for (int i = 0; i < 12; i++) T("sitter " + i, () => { seats.Wait(); sum++; seats.Release(); }); break; // the holder polls for ever
                case "threadbelow": T("holder", () => { seats.Wait(); while (!done) Naps(); seats.Release(); }); Thread.Sleep(100); for (int i = 0; i < 12; i++) T("sitter " + i, () => { seats.Wait(); sum++; seats.Release(); }); break; // the holder polls for ever, by a method without a loop
                // nothing is wrong
                case "open": for (int i = 0; i < 6; i++) keep.Add(Stays(open)); break; // enters nothing
                case "turns": for (int i = 0; i < 20; i++) keep.Add(Turns(a)); break;
                case "steps": for (int i = 0; i < 20; i++) keep.Add(Steps()); break;
            }
            Thread.Sleep(1200);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
