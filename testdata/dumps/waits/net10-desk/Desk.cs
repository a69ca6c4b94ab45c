using System;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;

namespace System.Private.CoreLib { internal static class Anchor { } }

// Desk calls native code of the class library's console with no stream between, as code does into which the compiler has inlined the stream's methods: a worker
// writes to a pipe that is full, for a method that has entered Desk.Printer.gate, and four others wait for the gate. Another thread sleeps in a generic method of
// a generic class that it called by an interface, with more arguments than registers: the runtime has made a stub for the call.
namespace Desk
{
    unsafe delegate int Write(IntPtr file, byte* bytes, int count);

    static unsafe class Output
    {
        static Write write;

        public static void Open()
        {
            foreach (MethodInfo m in Assembly.Load("System.Console").GetType("Interop+Sys").GetMethods(BindingFlags.NonPublic | BindingFlags.Static))
            {
                ParameterInfo[] p = m.GetParameters();
                if (m.Name.Contains("Write") && p.Length == 3 && p[0].ParameterType == typeof(IntPtr) && m.ReturnType == typeof(int))
                    write = (Write)Delegate.CreateDelegate(typeof(Write), m);
            }
        }

        public static void Put(byte[] bytes)
        {
            fixed (byte* at = bytes)
                write((IntPtr)1, at, bytes.Length);
        }
    }

    class Printer
    {
        readonly SemaphoreSlim gate = new SemaphoreSlim(1, 1);
        readonly byte[] page = new byte[1 << 20];

        public async Task Print()
        {
            await gate.WaitAsync();
            try
            {
                await Task.Run(() => Output.Put(page));
            }
            finally
            {
                gate.Release();
            }
        }
    }

    interface ILog
    {
        string Log<S>(int level, long id, long more, S state, Exception error, Func<S, Exception, string> text);
    }

    struct Line<A, B>
    {
        public A First;
        public B Second;
        public string Text, Rest;
    }

    class Logger<T> : ILog
    {
        public string Log<S>(int level, long id, long more, S state, Exception error, Func<S, Exception, string> text)
        {
            Program.Stand();
            return text(state, error) + typeof(T) + typeof(S);
        }
    }

    static class Program
    {
        static readonly Printer printer = new Printer();
        static readonly ILog log = new Logger<string>();
        static readonly ManualResetEventSlim stands = new ManualResetEventSlim();

        public static void Stand()
        {
            stands.Set();
            Thread.Sleep(Timeout.Infinite);
        }

        static void Note()
        {
            log.Log(1, 2, 3, new Line<string, string>(), null, (line, error) => line.Text);
        }

        static void Main()
        {
            Output.Open();
            new Thread(Note) { IsBackground = true }.Start();
            stands.Wait();
            Output.Put(new byte[] { (byte)'R', (byte)'E', (byte)'A', (byte)'D', (byte)'Y', 10 });
            Task[] all = new Task[5];
            for (int i = 0; i < all.Length; i++)
                all[i] = printer.Print();
            Task.WhenAll(all).Wait();
        }
    }
}
