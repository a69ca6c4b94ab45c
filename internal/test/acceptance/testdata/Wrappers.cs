// Locks behind methods that are no async methods, one by kind (C# 7). Each kind says what is true of it.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Quay
{
    public sealed class Door // one permit; both methods are no async methods
    {
        readonly SemaphoreSlim gate = new SemaphoreSlim(1);
        public Task EnterAsync() { return gate.WaitAsync(); }
        public void Enter() { gate.Wait(); }
        public void Leave() { gate.Release(); }
    }
    public sealed class Vault // a door behind a door
    {
        readonly Door door = new Door();
        public Task OpenAsync() { return door.EnterAsync(); }
        public void Close() { door.Leave(); }
    }
    public static class Extensions
    {
        public static Task LockAsync(this SemaphoreSlim s) { return s.WaitAsync(CancellationToken.None); }
        public static void Unlock(this SemaphoreSlim s) { s.Release(); }
    }
    public sealed class AsyncLock // as published many times: the releaser is made once
    {
        readonly SemaphoreSlim permit = new SemaphoreSlim(1); readonly Task<IDisposable> releaser;
        public AsyncLock() { releaser = Task.FromResult((IDisposable)new Releaser(this)); }
        public Task<IDisposable> LockAsync() { var wait = permit.WaitAsync(); return wait.IsCompleted ? releaser : wait.ContinueWith((t, state) => (IDisposable)state, releaser.Result, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default); }
        sealed class Releaser : IDisposable { readonly AsyncLock of; public Releaser(AsyncLock of) { this.of = of; } public void Dispose() { of.permit.Release(); } }
    }
    public sealed class Guard : IDisposable { readonly SemaphoreSlim of; public Guard(SemaphoreSlim s) { of = s; s.Wait(); } public void Dispose() { of.Release(); } }
    public sealed class Shelf<T> // of a generic class, and used by generic code
    {
        readonly SemaphoreSlim gate = new SemaphoreSlim(1); public T Value;
        public Task EnterAsync() { return gate.WaitAsync(); }
        public void Leave() { gate.Release(); }
        public async Task With<U>(Shelf<U> other) { await EnterAsync(); try { await Task.Delay(60); await other.EnterAsync(); other.Leave(); } finally { Leave(); } }
    }
    public sealed class Belt // a queue, and no lock
    {
        readonly SemaphoreSlim items = new SemaphoreSlim(0); readonly Queue<int> queue = new Queue<int>();
        public Task Arrived() { return items.WaitAsync(); }
        public void Put(int i) { lock (queue) queue.Enqueue(i); items.Release(); }
        public int Take() { lock (queue) return queue.Dequeue(); }
        public async Task Consumes() { while (true) { await Arrived(); int i = Take(); if (i < 0) Put(-i); using (M.Scope()) await Task.Delay(-1 - i % 1); } }
        public async Task Rests() { while (true) { await items.WaitAsync(); M.sum += Take(); await M.never.Task; } }
    }
    public class Turnstile // methods that a class may replace
    {
        public readonly SemaphoreSlim Gate = new SemaphoreSlim(1);
        public virtual Task EnterAsync() { return Gate.WaitAsync(); }
        public virtual void Leave() { Gate.Release(); }
    }
    public sealed class OpenTurnstile : Turnstile { public override Task EnterAsync() { return Task.Delay(1); } public override void Leave() { } } // enters nothing
    public sealed class PlainTurnstile : Turnstile { }
    public sealed class Scoped : IDisposable { public void Dispose() { M.sum++; } }
    public static class M
    {
        public static readonly Door a = new Door(), b = new Door(), c = new Door(); static readonly Vault left = new Vault(), right = new Vault();
        static readonly AsyncLock first = new AsyncLock(), second = new AsyncLock(); static readonly Shelf<int> numbers = new Shelf<int>(); static readonly Shelf<string> names = new Shelf<string>();
        static readonly SemaphoreSlim red = new SemaphoreSlim(1, 1), blue = new SemaphoreSlim(1, 1); static readonly Belt belt = new Belt();
        public static readonly TaskCompletionSource<int> never = new TaskCompletionSource<int>(); static readonly List<object> keep = new List<object>(); public static int sum;
        public static IDisposable Scope() { return new Scoped(); }
        static Thread T(string n, ThreadStart st) { var th = new Thread(st) { Name = n, IsBackground = true }; th.Start(); return th; }
        static void Say(string st) { Type k = Type.GetType("System.Console, System.Console"); k.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static async Task Both(Door x, Door y) { await x.EnterAsync(); try { await Task.Delay(60); await y.EnterAsync(); y.Leave(); } finally { x.Leave(); } }
        static async Task Vaults(Vault x, Vault y) { await x.OpenAsync(); try { await Task.Delay(60); await y.OpenAsync(); y.Close(); } finally { x.Close(); } }
        static async Task Colors(SemaphoreSlim x, SemaphoreSlim y) { await x.LockAsync(); try { await Task.Delay(60); await y.LockAsync(); y.Unlock(); } finally { x.Unlock(); } }
        static async Task Pairs(AsyncLock x, AsyncLock y) { using (await x.LockAsync()) { await Task.Delay(60); using (await y.LockAsync()) sum++; } }
        static async Task Stays() { await a.EnterAsync(); try { await never.Task; } finally { a.Leave(); } }
        static async Task Passes() { await a.EnterAsync(); sum++; a.Leave(); }
        static async Task Loses() { await b.EnterAsync(); sum++; if (sum == 1) throw new FormatException("ticket"); b.Leave(); }
        static async Task Turns() { while (true) { await c.EnterAsync(); try { await Task.Delay(5); } finally { c.Leave(); } } }
        static readonly Turnstile open = new OpenTurnstile(), plain = new PlainTurnstile(); static readonly Queue<int> box = new Queue<int>();
        static async Task Visits() { await open.EnterAsync(); try { await never.Task; } finally { open.Leave(); } }
        static async Task Tickets() { await open.Gate.WaitAsync(); sum++; if (sum == 1) throw new FormatException("ticket"); open.Gate.Release(); }
        static async Task Stands() { await plain.EnterAsync(); try { await never.Task; } finally { plain.Leave(); } }
        static async Task Follows() { await plain.EnterAsync(); sum++; plain.Leave(); }
        static void Takes() { while (true) lock (box) { while (box.Count == 0) Monitor.Wait(box); sum += box.Dequeue(); } }
        static void Fills() { while (true) { lock (box) { box.Enqueue(1); Monitor.Pulse(box); } Thread.Sleep(20); } }
        static void Save() { a.Enter(); try { sum++; } finally { a.Leave(); } }
        static async Task SavesFirst() { Save(); await never.Task; }
        static void Nests() { a.Enter(); try { Thread.Sleep(100); Log(); } finally { a.Leave(); } }
        static void Log() { a.Enter(); sum++; a.Leave(); }
        public static void Main(string[] args)
        {
            switch (args.Length > 1 ? args[1] : args[0])
            {
                case "enter": keep.Add(Both(a, b)); keep.Add(Both(b, a)); Thread.Sleep(300); for (int i = 0; i < 20; i++) keep.Add(Both(a, b)); break; // deadlock of two, 20 more
                case "nested": keep.Add(Vaults(left, right)); keep.Add(Vaults(right, left)); break; // deadlock
                case "extension": keep.Add(Colors(red, blue)); keep.Add(Colors(blue, red)); break; // deadlock
                case "releaser": keep.Add(Pairs(first, second)); keep.Add(Pairs(second, first)); break; // deadlock
                case "generic": keep.Add(numbers.With(names)); keep.Add(names.With(numbers)); break; // deadlock
                case "guard": T("red first", () => { using (new Guard(red)) { Thread.Sleep(200); using (new Guard(blue)) sum++; } }); T("blue first", () => { using (new Guard(blue)) { Thread.Sleep(200); using (new Guard(red)) sum++; } }); break; // deadlock
                case "own": T("a first", () => { a.Enter(); Thread.Sleep(200); b.Enter(); b.Leave(); a.Leave(); }); T("b first", () => { b.Enter(); Thread.Sleep(200); a.Enter(); a.Leave(); b.Leave(); }); break; // deadlock
                case "again": T("saver", Nests); break; // the thread waits for what it has entered
                case "held": keep.Add(Stays()); for (int i = 0; i < 12; i++) keep.Add(Passes()); break; // Stays holds it and waits for a promise
                case "lost": for (int i = 0; i < 12; i++) keep.Add(Loses()); break; // the first failed and has not left
                case "saved": keep.Add(SavesFirst()); keep.Add(Stays()); for (int i = 0; i < 12; i++) keep.Add(Passes()); break; // Stays holds it, SavesFirst does not
                case "inherited": keep.Add(Stands()); for (int i = 0; i < 12; i++) keep.Add(Follows()); break; // Stands holds it and waits for a promise
                case "overridden": keep.Add(Visits()); for (int i = 0; i < 12; i++) keep.Add(Tickets()); break; // Visits has not entered the gate; the first of Tickets failed and has not left
                // nothing is wrong
                case "visits": for (int i = 0; i < 6; i++) keep.Add(Visits()); break;
                case "pulses": for (int i = 0; i < 4; i++) T("taker " + i, Takes); T("filler", Fills); break;
                case "turns": for (int i = 0; i < 20; i++) keep.Add(Turns()); break;
                case "belt": for (int i = 0; i < 6; i++) keep.Add(belt.Consumes()); for (int i = 0; i < 3; i++) belt.Put(i); break;
                case "rest": for (int i = 0; i < 6; i++) keep.Add(belt.Rests()); for (int i = 0; i < 3; i++) belt.Put(i); break;
            }
            Thread.Sleep(1200);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
