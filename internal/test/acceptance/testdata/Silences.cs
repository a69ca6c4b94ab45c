// What a service waits for where nothing seems wrong: each sick kind has a healthy twin (C# 7). Each kind says what is true of it.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Ferry
{
    public sealed class Ramp { readonly ManualResetEvent down; public Ramp(ManualResetEvent d) { down = d; } ~Ramp() { down.WaitOne(); } }
    public sealed class Rope { ~Rope() { M.sum++; } }
    public static class M
    {
        static readonly object gate = new object(); static readonly SemaphoreSlim berths = new SemaphoreSlim(1), spare = new SemaphoreSlim(1); static readonly List<object> keep = new List<object>();
        static readonly ManualResetEvent never = new ManualResetEvent(false); public static int sum; public static volatile bool tide;
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type k = Type.GetType("System.Console, System.Console"); k.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Ramps(int n) { for (int i = 0; i < n; i++) new Ramp(never); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Ropes(int n) { for (int i = 0; i < n; i++) new Rope(); }
        // asks again for ever; who has the berth has lost it
        static async Task Docks() { while (!await berths.WaitAsync(700)) sum++; sum--; berths.Release(); }
        static async Task Leaves() { while (!await spare.WaitAsync(700)) sum++; await Task.Delay(2); spare.Release(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Loses() { berths.Wait(); }
        static void Boards() { while (!Monitor.TryEnter(gate, 600)) sum++; sum--; Monitor.Exit(gate); }
        // goes on with the first harbor that answers; one has failed, and nothing completes the other
        static async Task<int> Fails() { await Task.Delay(10); throw new InvalidOperationException("no harbor"); }
        static async Task First(Task<int> other) { var list = new List<Task<int>> { Fails(), other }; while (list.Count > 0) { var t = await Task.WhenAny(list); if (t.Status == TaskStatus.RanToCompletion) { sum += t.Result; return; } list.Remove(t); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static Task<int> Mute() { return new TaskCompletionSource<int>().Task; }
        static async Task<int> Slow() { await Task.Delay(3600000); return 1; }
        static void Turns() { lock (gate) { while (!tide) { } } }
        static void Works() { while (true) { lock (gate) { for (int i = 0; i < 1000; i++) sum += i % 7; } Thread.Sleep(1); } }
        static void Waits() { while (true) { lock (gate) sum++; Thread.Sleep(1); } }
        public static void Main(string[] args)
        {
            switch (args.Length > 1 ? args[1] : args[0])
            {
                case "finalizer": Ramps(50); GC.Collect(); break; // the finalizer thread waits for an event that nobody sets
                case "finalized": for (int i = 0; i < 20; i++) { Ropes(50); GC.Collect(); } break;
                case "retries": Loses(); for (int i = 0; i < 12; i++) keep.Add(Docks()); break; // 12 ask every 700 ms for a permit that is lost
                case "retrieved": for (int i = 0; i < 12; i++) keep.Add(Task.Run(async () => { while (true) await Leaves(); })); break; // each has its turn within 24 ms
                case "tries": T("owner", () => { lock (gate) never.WaitOne(); }); Thread.Sleep(100); for (int i = 0; i < 6; i++) T("boards " + i, Boards); break; // the owner waits for ever
                case "tried": T("owner", () => { while (true) { lock (gate) Thread.Sleep(1); Thread.Sleep(1); } }); Thread.Sleep(100); for (int i = 0; i < 6; i++) T("boards " + i, () => { while (true) { Boards(); Thread.Sleep(3); } }); break;
                case "first": for (int i = 0; i < 12; i++) keep.Add(First(Mute())); break; // the rest has failed, and nothing can complete what is left
                case "firsts": for (int i = 0; i < 12; i++) keep.Add(First(Slow())); break; // a delay completes it
                case "turns": T("owner", Turns); Thread.Sleep(200); for (int i = 0; i < 6; i++) T("waits " + i, Waits); break; // the owner runs in a loop that nothing ends while it has the lock
                case "works": T("owner", Works); for (int i = 0; i < 6; i++) T("waits " + i, Waits); break;
            }
            Thread.Sleep(1500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
