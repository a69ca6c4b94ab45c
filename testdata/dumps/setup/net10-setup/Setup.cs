using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
// How a process was set up: collections with their figures, what threads allocated, and load contexts that were asked to unload.
namespace Setup
{
    public class Plugin
    {
        public string Name;
        public static object Kept = new object();
        public void Wait() { Thread.Sleep(-1); GC.KeepAlive(this); }
        public void OnChange(object sender, EventArgs e) { GC.KeepAlive(Name); }
    }
    public static class Registry { public static readonly List<object> Plugins = new List<object>(); public static event EventHandler Changed; public static void Raise() { var c = Changed; if (c != null) c(null, EventArgs.Empty); } }
    public static class M
    {
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static readonly Func<long> allocated = (Func<long>)Delegate.CreateDelegate(typeof(Func<long>), typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread"));
        static readonly long[] bytes = new long[3];
        static readonly List<object> keep = new List<object>();
        static readonly List<GCHandle> handles = new List<GCHandle>();
        static object info;
        static readonly Type contextType = typeof(object).Assembly.GetType("System.Runtime.Loader.AssemblyLoadContext");
        static void Allocate(object n) { int i = (int)n; var l = new List<byte[]>(); for (int k = 0; k < 1000 * (i + 1); k++) { var b = new byte[100]; if (k % 10 == 0) l.Add(b); } l.Add(new byte[200000]); bytes[i] = allocated(); Thread.Sleep(-1); GC.KeepAlive(l); }
        static object Context(string name) { return Activator.CreateInstance(contextType, name, true); }
        static object Make(object context) { var a = (Assembly)contextType.GetMethod("LoadFromAssemblyPath").Invoke(context, new object[] { typeof(M).Assembly.Location }); return Activator.CreateInstance(a.GetType("Setup.Plugin")); }
        static void Unload(object context) { contextType.GetMethod("Unload").Invoke(context, null); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Contexts()
        {
            var alive = Context("alive"); keep.Add(alive); keep.Add(Make(alive));
            var inList = Context("in a list"); Registry.Plugins.Add(Make(inList)); Unload(inList);
            var inHandle = Context("in a handle"); handles.Add(GCHandle.Alloc(Make(inHandle))); Unload(inHandle);
            var subscribed = Context("subscribed"); object s = Make(subscribed);
            Registry.Changed += (EventHandler)Delegate.CreateDelegate(typeof(EventHandler), s, s.GetType().GetMethod("OnChange")); Unload(subscribed);
            var runs = Context("runs"); object r = Make(runs);
            new Thread((ThreadStart)Delegate.CreateDelegate(typeof(ThreadStart), r, r.GetType().GetMethod("Wait"))) { Name = "plugin thread", IsBackground = true }.Start(); Unload(runs);
            var gone = Context("gone"); Make(gone); Unload(gone);
            var type = Context("its type"); keep.Add(Make(type).GetType()); Unload(type);
        }
        public static void Main(string[] args)
        {
            AppContext.SetSwitch("Setup.Legacy", true);
            Contexts();
            for (int i = 0; i < 5; i++) { keep.Add(new byte[5000]); GC.Collect(0); }
            for (int i = 0; i < 3; i++) GC.Collect(1);
            for (int i = 0; i < 4; i++) { GC.Collect(2, GCCollectionMode.Forced, true, true); GC.WaitForPendingFinalizers(); }
            for (int i = 0; i < 7; i++) handles.Add(GCHandle.Alloc(new byte[100], GCHandleType.Pinned));
            Type kind = typeof(GC).Assembly.GetType("System.GCKind");
            info = typeof(GC).GetMethod("GetGCMemoryInfo", new[] { kind }).Invoke(null, new object[] { Enum.ToObject(kind, 0) });
            foreach (var p in info.GetType().GetProperties()) { if (p.PropertyType.Name.StartsWith("ReadOnlySpan")) continue; Say("FACT info." + p.Name + "=" + p.GetValue(info, null)); }
            Say("FACT pause=" + typeof(GC).GetMethod("GetTotalPauseDuration").Invoke(null, null));
            for (int g = 0; g < 3; g++) Say("FACT collections " + g + "=" + GC.CollectionCount(g));
            Say("FACT pid=" + typeof(Environment).GetProperty("ProcessId").GetValue(null, null));
            for (int i = 0; i < 3; i++) new Thread(Allocate) { Name = "allocator " + i, IsBackground = true }.Start(i);
            Thread.Sleep(500);
            for (int i = 0; i < 3; i++) Say("FACT allocated allocator " + i + "=" + bytes[i]);
            Task.Run(() => Thread.Sleep(10)).Wait(); // the thread pool notes the time
            Say("FACT now=" + DateTime.UtcNow.ToString("o"));
            Say("FACT up=" + typeof(Environment).GetProperty("TickCount64").GetValue(null, null));
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
