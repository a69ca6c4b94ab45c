using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace System.Private.CoreLib { internal static class Anchor { } }

namespace Shop
{
    [EventSource(Name = "Shop-Orders")]
    public sealed class OrdersSource : EventSource
    {
        public static readonly OrdersSource Log = new OrdersSource();
        public static class Keywords { public const EventKeywords Trouble = (EventKeywords)1; public const EventKeywords Business = (EventKeywords)16; }
        [Event(1, Level = EventLevel.Warning, Keywords = (EventKeywords)1)] public void Late(int id) { WriteEvent(1, id); }
        [Event(2, Level = EventLevel.Informational, Keywords = (EventKeywords)16)] public void Placed(int id) { WriteEvent(2, id); }
    }

    [EventSource(Name = "Shop-Quiet")]
    public sealed class QuietSource : EventSource
    {
        public static readonly QuietSource Log = new QuietSource();
        [Event(1)] public void Nothing() { WriteEvent(1); }
    }

    [EventSource(Name = "Shop-Gone")]
    public sealed class GoneSource : EventSource { public static readonly GoneSource Log = new GoneSource(); }

    public sealed class AuditListener : EventListener { public int Seen; protected override void OnEventWritten(EventWrittenEventArgs e) { Seen++; } }
    public sealed class DebugListener : EventListener { protected override void OnEventWritten(EventWrittenEventArgs e) { } }

    public sealed class Order { public int Id; }
    public sealed class Sheet { public int Id; }
    public sealed class Proxy { public IntPtr Native; }

    public sealed unsafe class Wrappers : ComWrappers
    {
        static readonly ComInterfaceEntry* entries = Make();
        static ComInterfaceEntry* Make()
        {
            IntPtr a, b, c; GetIUnknownImpl(out a, out b, out c);
            var table = (IntPtr*)Marshal.AllocHGlobal(3 * IntPtr.Size); table[0] = a; table[1] = b; table[2] = c;
            var e = (ComInterfaceEntry*)Marshal.AllocHGlobal(2 * sizeof(ComInterfaceEntry));
            e[0].IID = new Guid("11111111-2222-3333-4444-555555555555"); e[0].Vtable = (IntPtr)table;
            e[1].IID = new Guid("66666666-7777-8888-9999-aaaaaaaaaaaa"); e[1].Vtable = (IntPtr)table;
            return e;
        }
        protected override ComInterfaceEntry* ComputeVtables(object o, CreateComInterfaceFlags flags, out int count) { count = o is Sheet ? 1 : 2; return entries; }
        protected override object CreateObject(IntPtr p, CreateObjectFlags flags) { return new Proxy { Native = p }; }
        protected override void ReleaseObjects(System.Collections.IEnumerable objects) { }
    }

    public static class Program
    {
        public static void Say(string s) { Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static void Fact(string name, object value) { Say("FACT " + name + " = " + value); }
        public static List<object> Kept = new List<object>();

        [MethodImpl(MethodImplOptions.NoInlining)] public static int Hot(int i) { return i * 3 + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static int Cold(int i) { return i * 5 + 1; }
        public static int Optimized(int i) { return i * 7; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static int Loop(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i ^ (sum >> 3); return sum; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static int Never(int i) { return i; }

        public static void Main(string[] args)
        {
            AppDomain.CurrentDomain.AssemblyResolve += (s, e) => e.Name.StartsWith("mscorlib") ? typeof(object).Assembly : null;
            var quiet = QuietSource.Log; var gone = GoneSource.Log; var orders = OrdersSource.Log;
            gone.Dispose();
            var audit = new AuditListener(); var debug = new DebugListener();
            Kept.Add(audit); Kept.Add(debug);
            audit.EnableEvents(orders, EventLevel.Warning, (EventKeywords)3);
            debug.EnableEvents(orders, EventLevel.Error, (EventKeywords)8);
            debug.EnableEvents(quiet, EventLevel.Verbose); debug.DisableEvents(quiet);
            orders.Late(1); orders.Placed(2);
            Fact("audit.seen", audit.Seen);

            var w = new Wrappers(); Kept.Add(w);
            var order = new Order { Id = 7 }; var sheet = new Sheet { Id = 8 };
            Kept.Add(order); Kept.Add(sheet);
            var a = w.GetOrCreateComInterfaceForObject(order, CreateComInterfaceFlags.None);
            Marshal.AddRef(a); Marshal.AddRef(a);
            var b = w.GetOrCreateComInterfaceForObject(sheet, CreateComInterfaceFlags.None);
            var shared = (Proxy)w.GetOrCreateObjectForComInstance(b, CreateObjectFlags.None);
            var unique = (Proxy)w.GetOrCreateObjectForComInstance(b, CreateObjectFlags.UniqueInstance);
            Kept.Add(shared); Kept.Add(unique);
            Fact("ccw.order", a.ToInt64().ToString("x")); Fact("ccw.sheet", b.ToInt64().ToString("x"));
            Fact("rcw.shared", shared.Native.ToInt64().ToString("x")); Fact("rcw.unique", unique.Native.ToInt64().ToString("x"));
            Marshal.AddRef(a); Fact("ccw.order.refs", Marshal.Release(a)); Marshal.AddRef(b); Fact("ccw.sheet.refs", Marshal.Release(b));

            int n = 0;
            for (int i = 0; i < 200; i++) { n += Hot(i); if (i % 40 == 0) Thread.Sleep(150); }
            n += Cold(1) + Optimized(2); n += Loop(10000000);
            Thread.Sleep(1500);
            for (int i = 0; i < 200; i++) n += Hot(i);
            Thread.Sleep(500);
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
