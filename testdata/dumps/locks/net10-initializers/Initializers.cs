// Initializers: classes whose static constructors have failed, run, and waited for each other's end.
using System;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Shop
{
    public static class Rates { public static int Euro; static Rates() { Euro = 3; throw new InvalidOperationException("no rates for today"); } }
    public static class Prices { public static int First = Rates.Euro; static Prices() { } }
    public class Box<T> { public static string Name; static Box() { throw new NotSupportedException(typeof(T).Name); } }
    public static class Outer { public static class Inner { public static int V; static Inner() { throw new TimeoutException(); } } }
    public static class Slow { public static int V; static Slow() { lock (Program.gate) { V = 1; } } }
    public static class Program
    {
        public static object gate = new object();
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static void Use(string what, Func<object> f) { try { f(); } catch (TypeInitializationException e) { Say("FACT " + what + " " + e.TypeName + " " + e.InnerException.GetType() + ": " + e.InnerException.Message); } }
        public static void Main(string[] args)
        {
            Use("prices", () => Prices.First); Use("rates", () => Rates.Euro); Use("box", () => Box<int>.Name); Use("inner", () => Outer.Inner.V);
            Monitor.Enter(gate);
            new Thread(() => { Say("FACT slow " + Slow.V); }) { Name = "runs Slow", IsBackground = true }.Start();
            Thread.Sleep(500);
            new Thread(() => { Say("FACT slow " + Slow.V); }) { Name = "waits for Slow", IsBackground = true }.Start();
            Thread.Sleep(500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
