// Waits that end by themselves, and some that never do, one by kind (C# 7). Each kind says what is true of it.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Pier
{
    public sealed class Post { public TaskCompletionSource<int> Letter = new TaskCompletionSource<int>(); public void Arrives() { Letter.TrySetResult(1); } }
    public sealed class Ticket { readonly TaskCompletionSource<int> stamp = new TaskCompletionSource<int>(); public Task<int> Stamped { get { return stamp.Task; } } ~Ticket() { stamp.TrySetResult(1); } }
    public sealed class Pump
    {
        readonly SemaphoreSlim wake = new SemaphoreSlim(0); readonly Task loop; readonly Timer timer;
        public Pump(bool ends) { loop = Runs(); if (ends) timer = new Timer(o => ((Pump)o).wake.Release(), this, 3600000, -1); }
        async Task Runs() { await wake.WaitAsync(); M.sum++; }
        public async Task DisposeAsync() { await loop; GC.KeepAlive(timer); }
    }
    public static class M
    {
        static readonly object gate = new object(); static readonly SemaphoreSlim seats = new SemaphoreSlim(1); static readonly List<object> keep = new List<object>();
        static readonly CancellationTokenSource stopping = new CancellationTokenSource(); static readonly Dictionary<int, TaskCompletionSource<int>> pending = new Dictionary<int, TaskCompletionSource<int>>();
        static readonly List<WeakReference> weak = new List<WeakReference>(); static Timer timer; public static int sum;
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type k = Type.GetType("System.Console, System.Console"); k.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static async Task Reads() { while (true) { await Task.Delay(50); sum++; } }
        static async Task Sits() { await seats.WaitAsync(); sum++; seats.Release(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Naps() { Thread.Sleep(20); }
        static void Run() { Start(); }
        static void Start() { Reads().GetAwaiter().GetResult(); }
        static void Handles(int i) { Reads().GetAwaiter().GetResult(); }
        static async Task Stops(bool ends) { await new Pump(ends).DisposeAsync(); sum++; }
        static async Task Waits(Task<int> t) { sum += await t; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Forgotten() { return new TaskCompletionSource<int>().Task; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Finalized() { return new Ticket().Stamped; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Weakly() { var t = new TaskCompletionSource<int>(); weak.Add(new WeakReference(t)); return t.Task; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Registered() { var p = new Post(); stopping.Token.Register(p.Arrives); return p.Letter.Task; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Pending(int i) { var t = new TaskCompletionSource<int>(); pending[i] = t; return t.Task; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Timed() { var p = new Post(); keep.Add(new Timer(o => ((Post)o).Arrives(), p, 3600000, -1)); return p.Letter.Task; }
        static async Task Delivers(TaskCompletionSource<int> to, Task<int> after) { to.SetResult(await after); }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Behind() { var t = new TaskCompletionSource<int>(); keep.Add(Delivers(t, Forgotten())); return t.Task; }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Delayed() { var t = new TaskCompletionSource<int>(); keep.Add(Later(t)); return t.Task; }
        static async Task Later(TaskCompletionSource<int> to) { await Task.Delay(3600000); to.SetResult(1); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Drop(int n) { for (int i = 0; i < n; i++) Waits(Forgotten()); }
        public static void Main(string[] args)
        {
            string kind = args.Length > 1 ? args[1] : args[0];
            if (kind == "mainruns" || kind == "mainparks" || kind == "handler") T("ready", () => { Thread.Sleep(2000); Say("READY 0"); Thread.Sleep(-1); });
            switch (kind)
            {
                // ends, or goes on
                case "mainruns": Run(); break; // Main calls what waits for the end of its reading loop
                case "mainparks": Waits(Forgotten()).Wait(); break; // Main waits for ever, as services do
                case "spins": T("holder", () => { while (true) { seats.Wait(); Thread.Sleep(20); seats.Release(); } }); Thread.Sleep(100); for (int i = 0; i < 12; i++) T("sitter " + i, () => { while (true) { seats.Wait(); sum++; seats.Release(); } }); break;
                case "nap": T("holder", () => { while (true) { seats.Wait(); Naps(); seats.Release(); } }); Thread.Sleep(100); for (int i = 0; i < 12; i++) T("sitter " + i, () => { while (true) { seats.Wait(); sum++; seats.Release(); Thread.Sleep(1); } }); break;
                case "napper": T("holder", () => { while (true) { seats.Wait(); Thread.Sleep(20); seats.Release(); } }); Thread.Sleep(100); for (int i = 0; i < 12; i++) T("sitter " + i, () => { while (true) { seats.Wait(); sum++; seats.Release(); Thread.Sleep(1); } }); break;
                case "callbackruns": { var r = stopping.Token.Register(() => Thread.Sleep(30000)); T("canceler", () => stopping.Cancel()); Thread.Sleep(200); T("closer", () => { lock (gate) r.Dispose(); }); break; } // the callback ends
                case "pending": for (int i = 0; i < 12; i++) keep.Add(Waits(Pending(i))); break; // answers may come
                case "weakly": for (int i = 0; i < 12; i++) keep.Add(Waits(Weakly())); break;
                case "finalized": for (int i = 0; i < 12; i++) keep.Add(Waits(Finalized())); break; // the next collection lets finalizers complete them
                case "registered": for (int i = 0; i < 12; i++) keep.Add(Waits(Registered())); break;
                case "timed": for (int i = 0; i < 12; i++) keep.Add(Waits(Timed())); break;
                case "delayed": for (int i = 0; i < 12; i++) keep.Add(Waits(Delayed())); break; // suspended code completes them
                case "dropped": Drop(12); break; // nobody waits for what waits
                case "stopslater": keep.Add(Stops(true)); break; // a timer gives the signal
                // does not
                case "stops": keep.Add(Stops(false)); break; // nothing can give the signal
                case "handler": Array.ForEach(new[] { 1 }, Handles); break; // the class library calls what blocks
                case "sleeper": T("holder", () => { seats.Wait(); Thread.Sleep(600000); seats.Release(); }); Thread.Sleep(100); for (int i = 0; i < 12; i++) keep.Add(Sits()); break;
                case "callback": { var r = stopping.Token.Register(() => { Thread.Sleep(400); lock (gate) sum++; }); T("canceler", () => stopping.Cancel()); Thread.Sleep(200); T("closer", () => { lock (gate) r.Dispose(); }); break; } // deadlock
                case "lasttick": { timer = new Timer(o => { Thread.Sleep(400); lock (gate) sum++; }, null, 0, -1); Thread.Sleep(200); T("closer", () => { lock (gate) { var e = new ManualResetEvent(false); timer.Dispose(e); e.WaitOne(); } }); break; } // deadlock
                case "forgotten": for (int i = 0; i < 12; i++) keep.Add(Waits(Forgotten())); break; // nothing can complete them
                case "flight": { var t = new TaskCompletionSource<int>(); keep.Add(Later(t)); for (int i = 0; i < 12; i++) keep.Add(Waits(t.Task)); break; } // one method completes what all of them wait for
                case "behind": for (int i = 0; i < 12; i++) keep.Add(Waits(Behind())); break; // what completes them waits for what nothing can complete
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
