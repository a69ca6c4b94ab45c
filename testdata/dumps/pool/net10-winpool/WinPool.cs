// A process whose thread pool is that of Windows, made on Linux: System.Threading.WindowsThreadPool has the fields of the class of that
// name (WindowsThreadPool.cs, .NET 8 to 10), and its workers have the thread statics that ThreadPoolWorkQueue.Dispatch gives them.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace System.Threading
{
    internal static class WindowsThreadPool
    {
        private static readonly int MaxThreadCount = Math.Max(8 * 2, 768);
        private static IntPtr s_work;
        private static int s_threadCount;
        [StructLayout(LayoutKind.Explicit, Size = 60)]
        private struct PaddingFor32 { }
        [StructLayout(LayoutKind.Sequential)]
        private struct WorkingThreadCounter
        {
            private PaddingFor32 pad1;
            public volatile int Count;
            private PaddingFor32 pad2;
        }
        private static WorkingThreadCounter s_workingThreadCounter;
        internal static void Begin() { s_work = new IntPtr(0x1234560); GC.KeepAlive(s_work); GC.KeepAlive(MaxThreadCount); }
        // A callback of the system's pool: the thread is none of the runtime's workers.
        internal static void DispatchCallback(Action worker)
        {
            Interlocked.Increment(ref s_threadCount);
            Interlocked.Increment(ref s_workingThreadCounter.Count);
            worker();
            Interlocked.Decrement(ref s_workingThreadCounter.Count);
        }
    }
}
namespace Pools
{
    public static class Program
    {
        const BindingFlags Any = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        static readonly ManualResetEventSlim never = new ManualResetEventSlim(false);
        static void Say(string line) { Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { line }); }
        static void Order() { }
        static void Blocked() { never.Wait(); }
        public static void Main(string[] args)
        {
            object queue = typeof(ThreadPool).GetField("s_workQueue", Any).GetValue(null);
            Type locals = Type.GetType("System.Threading.ThreadPoolWorkQueueThreadLocals");
            WindowsThreadPool.Begin();
            for (int i = 0; i < 3; i++)
            {
                new Thread(() =>
                {
                    locals.GetField("threadLocals", Any).SetValue(null, Activator.CreateInstance(locals, Any, null, new object[] { queue }, null));
                    WindowsThreadPool.DispatchCallback(Blocked);
                }) { IsBackground = true, Name = "pool " + i }.Start();
            }
            object items = queue.GetType().GetField("workItems", Any).GetValue(queue);
            Type callback = Type.GetType("System.Threading.QueueUserWorkItemCallbackDefaultContext");
            for (int i = 0; i < 7; i++)
            {
                WaitCallback c = _ => Order();
                items.GetType().GetMethod("Enqueue").Invoke(items, new[] { Activator.CreateInstance(callback, Any, null, new object[] { c, null }, null) });
            }
            Thread.Sleep(500);
            Say("READY");
            Thread.Sleep(-1);
        }
    }
}
