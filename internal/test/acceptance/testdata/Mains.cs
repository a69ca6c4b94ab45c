// A service's wait for its end, in Main or what Main calls in other ways; and twins that block other threads.
using System; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks;
namespace Mains
{
    class Service
    {
        public readonly TaskCompletionSource<bool> Stopped = new TaskCompletionSource<bool>();
        public void Run() { Stopped.Task.Wait(); }
        public void RunResult() { GC.KeepAlive(Stopped.Task.Result); }
        public async Task RunAsync() { await Stopped.Task; }
        public void OnEach(int x) { Stopped.Task.GetAwaiter().GetResult(); }
        public void OnContext(object o) { Stopped.Task.Wait(); }
        public void Stop() { Stopped.TrySetResult(true); }
    }
    static class All
    {
        public static readonly List<object> Keep = new List<object>();
        static void Guarded(Action a) { try { a(); } catch (OperationCanceledException) { } }
        static void Main(string[] a)
        {
            string k = a[a.Length - 1]; var s = new Service(); Keep.Add(s); Action stop = s.Stop; Keep.Add(stop);
            Timer t = new Timer(Beat, null, 50, 50); Keep.Add(t);
            Thread.Sleep(500); Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { "READY" });
            if (k == "call") s.Run();
            if (k == "result") s.RunResult();
            if (k == "delegate") { Action r = s.Run; r(); }
            if (k == "lambda") Guarded(() => s.Run());
            if (k == "guarded") Guarded(s.Run);
            if (k == "async") s.RunAsync().GetAwaiter().GetResult();
            if (k == "foreach") new List<int> { 1 }.ForEach(s.OnEach);
            if (k == "context") ExecutionContext.Run(ExecutionContext.Capture(), s.OnContext, null);
            if (k == "multi") { Action r = Empty; r += s.Run; r(); }
            if (k == "reflect") typeof(Service).GetMethod("Run").Invoke(s, null);
            if (k == "dynamic") { Delegate d = (Action)s.Run; d.DynamicInvoke(); }
            if (k == "lazy") GC.KeepAlive(new Lazy<int>(() => { s.Run(); return 1; }).Value);
            if (k == "thread") { for (int i = 0; i < 3; i++) { var th = new Thread(s.Run) { Name = "blocker " + i, IsBackground = true }; th.Start(); } Thread.Sleep(-1); }
            if (k == "pool") { for (int i = 0; i < 6; i++) Task.Run((Action)s.Run); Thread.Sleep(-1); }
            if (k == "tasks") { var l = new List<Task>(); for (int i = 0; i < 3; i++) l.Add(s.RunAsync()); Task.WaitAll(l.ToArray()); }
        }
        static void Empty() { }
        static void Beat(object o) { }
    }
}
