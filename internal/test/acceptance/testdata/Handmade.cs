// Async methods whose state machines a person wrote (C# 7): no field has the number of the await at which they are.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Loom
{
    public struct Stateless : IAsyncStateMachine
    {
        public AsyncTaskMethodBuilder Builder;
        public TaskAwaiter Awaiter;
        public Task Until;
        public void MoveNext()
        {
            if (Until == null) { Builder.SetResult(); return; }
            Awaiter = Until.GetAwaiter();
            Until = null;
            Builder.AwaitUnsafeOnCompleted(ref Awaiter, ref this);
        }
        public void SetStateMachine(IAsyncStateMachine m) { Builder.SetStateMachine(m); }
    }

    // It counts its steps in a field of another name.
    public sealed class Named : IAsyncStateMachine
    {
        public AsyncTaskMethodBuilder<int> Builder;
        public TaskAwaiter Awaiter;
        public int Step;
        public Task Until;
        public void MoveNext()
        {
            if (Step == 1) { Builder.SetResult(7); return; }
            Step = 1;
            Awaiter = Until.GetAwaiter();
            Named me = this;
            Builder.AwaitUnsafeOnCompleted(ref Awaiter, ref me);
        }
        public void SetStateMachine(IAsyncStateMachine m) { }
    }

    public struct Bell : INotifyCompletion
    {
        public static Action Rung;
        public void OnCompleted(Action then) { Rung = then; }
    }

    // Nothing shows what it waits for: its awaiter is its own.
    public struct Deaf : IAsyncStateMachine
    {
        public AsyncTaskMethodBuilder Builder;
        public Bell Awaiter;
        public bool Asked;
        public void MoveNext()
        {
            if (Asked) { Builder.SetResult(); return; }
            Asked = true;
            Builder.AwaitOnCompleted(ref Awaiter, ref this);
        }
        public void SetStateMachine(IAsyncStateMachine m) { Builder.SetStateMachine(m); }
    }

    public static class M
    {
        public static TaskCompletionSource<int> Never = new TaskCompletionSource<int>();
        public static Task First, Second, Last, Alone, Behind;
        public static async Task Compiled(Task t) { await t; }
        public static void Main(string[] args)
        {
            Stateless s = new Stateless { Builder = AsyncTaskMethodBuilder.Create(), Until = Never.Task };
            s.Builder.Start(ref s);
            First = s.Builder.Task;
            Named n = new Named { Builder = AsyncTaskMethodBuilder<int>.Create(), Until = First };
            n.Builder.Start(ref n);
            Second = n.Builder.Task;
            Last = Compiled(Second);
            Deaf d = new Deaf { Builder = AsyncTaskMethodBuilder.Create() };
            d.Builder.Start(ref d);
            Alone = d.Builder.Task;
            Behind = Compiled(Alone);
            Type console = Type.GetType("System.Console, System.Console");
            console.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" });
            Last.Wait();
        }
    }
}
