// Ways to die that Crashes.cs doesn't have, one by kind (C# 7).
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Harbor
{
    public class Cargo : Exception { public int Berth; public Cargo(int b) : base("base text") { Berth = b; } public override string Message { get { return "computed for berth " + Berth; } } public override string ToString() { return "cargo"; } public override string StackTrace { get { return "hidden"; } } }
    public class Rude : Exception { public override string Message { get { throw new InvalidOperationException("the message itself fails"); } } }
    public class Generic<T> : Exception { public Generic(string m) : base(m) { } }
    public static class Outer { public static int V = Mid.V + 1; }
    public static class Mid { public static int V = Innermost.V + 1; }
    public static class Innermost { public static int V = Fail(); static int Fail() { throw new FormatException("no tide table"); } }
    public class Node { public Node Next; public int Weight; public long[] Pad; public override string ToString() { return Next == null ? "end" : Next.ToString() + Weight; } public virtual int Sum() { return Weight + Next.Sum(); } }
    public struct Big { public long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; }
    public class Wide { public Big A, B, C, D; public int Far; }
    public interface ICrane { int Lift(); }
    public class Holder : IDisposable { public void Dispose() { throw new InvalidOperationException("in Dispose"); } }
    public class NoDefault { public NoDefault(int i) { } }
    public class Property { int v; public int Value { get { return v == 0 ? throw new NotSupportedException("no value") : v; } } public Property(int i) { if (i < 0) throw new ArgumentOutOfRangeException("i", i, "must be positive"); v = i; } public static Property operator +(Property a, Property b) { throw new NotImplementedException(); } public int this[int k] { get { throw new KeyNotFoundException("indexer " + k); } } }
    public class Fin2 { ~Fin2() { M.Down(1); } }
    public class Pump : SynchronizationContext { public override void Post(SendOrPostCallback d, object s) { d(s); } }
    public static class Jobs
    {
        public static async Task<int> Job(int i) { await Task.Delay(5); throw new InvalidOperationException("job " + i); }
        public static async Task<int> Chain(int i) { return await Job(i) + 1; }
        public static async Task<int> Sync(int i) { if (i == 0) await Task.Delay(1); return await Sync(i + 1) + 1; }
        public static async void Void() { await Task.Delay(5); M.Throw("in async void"); }
        public static async void VoidNow() { M.Throw("before the first await"); await Task.Delay(5); }
    }
    public static unsafe class M
    {
        [DllImport("nosuchlib")] static extern int missing(); [DllImport("libc", EntryPoint = "no_such_entry")] static extern int noentry();
        [DllImport("libc")] static extern IntPtr malloc(IntPtr n); [DllImport("libc")] static extern void free(IntPtr p); [DllImport("libc")] static extern int raise(int s);
        [DllImport("libc")] static extern void __assert_fail(string a, string f, uint l, string fn); [DllImport("libc")] static extern IntPtr mmap(IntPtr a, IntPtr n, int prot, int flags, int fd, IntPtr off);
        [DllImport("libc")] static extern void qsort(int[] a, IntPtr n, IntPtr size, Compare c); [DllImport("libc")] static extern IntPtr memset(IntPtr p, int c, IntPtr n); [DllImport("libc")] static extern int open(string p, int f, int m); [DllImport("libc")] static extern int ftruncate(int fd, long n);
        [DllImport("libc")] static extern int prctl(int a, IntPtr b, IntPtr c, IntPtr d, IntPtr e); [DllImport("libc")] static extern uint alarm(uint s); [DllImport("libc")] static extern IntPtr signal(int s, IntPtr h);
        delegate int Compare(IntPtr a, IntPtr b); delegate void Code();
        static void Raw(params byte[] code) { IntPtr p = mmap(IntPtr.Zero, new IntPtr(4096), 7, 0x22, -1, IntPtr.Zero); Marshal.Copy(code, 0, p, code.Length); ((Code)Marshal.GetDelegateForFunctionPointer(p, typeof(Code)))(); }
        [MethodImpl(MethodImplOptions.NoInlining)] public static int Down(int n) { return Down(n + 1) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Grow<T>(int n) { return Grow<KeyValuePair<T, T>>(n + 1) + 1; }
        [MethodImpl(MethodImplOptions.NoInlining)] public static void Throw(string m) { throw new InvalidOperationException(m); }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Alloca(int n) { byte* p = stackalloc byte[n]; for (int i = n - 1; i >= 0; i -= 1) p[i] = 1; return p[n / 2]; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Level(int n) { if (n == 0) throw new FormatException("level 0"); try { Level(n - 1); } catch (Exception e) { throw new InvalidOperationException("level " + n, e); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Far(Wide w) { return w.Far; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Elem(int[] a, int i) { return a[i]; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Lift(ICrane c) { return c.Lift(); }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Divide(long a, long b) { return (int)(a / b); }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Add(int a, int b) { return checked(a + b); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Store(object[] a, object o) { a[0] = o; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Unbox(object o) { return (int)o; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Poke(IntPtr p) { return *(int*)p = 7; }
        static IEnumerable<int> Items() { yield return 1; Throw("in an iterator"); yield return 2; }
        static readonly List<object> keep = new List<object>();
        static Thread T(string n, ThreadStart st, int size = 0) { var th = new Thread(st, size) { Name = n }; th.Start(); return th; }
        static readonly Lazy<int> lazy = new Lazy<int>(() => { Throw("in a Lazy"); return 1; });
        static Func<int, int> rec;
        public static void Main(string[] args)
        {
            string k = args[1];
            switch (k)
            {
                case "dllmissing": missing(); break;
                case "entrymissing": noentry(); break;
                case "badimage": Assembly.Load(new byte[] { 77, 90, 1, 2, 3, 4, 5, 6, 7, 8 }); break;
                case "assemblymissing": Assembly.Load("No.Such.Assembly, Version=1.2.3.4"); break;
                case "typemissing": Type.GetType("Harbor.NoSuch", true); break;
                case "nodefault": Activator.CreateInstance(typeof(NoDefault)); break;
                case "timer": keep.Add(new Timer(o => Throw("in a timer"), null, 10, -1)); Thread.Sleep(5000); break;
                case "pool": ThreadPool.QueueUserWorkItem(o => Throw("in the pool")); Thread.Sleep(5000); break;
                case "custom": throw new Cargo(7);
                case "rude": throw new Rude();
                case "generic": throw new Generic<Dictionary<string, int[]>>("of a generic type");
                case "nested": Level(6); break;
                case "catch": try { Throw("first"); } catch (Exception) { throw new ArgumentException("second, in the catch"); } break;
                case "finally": try { Throw("first"); } finally { Throw("second, in the finally"); } break;
                case "cctors": GC.KeepAlive(Outer.V); break;
                case "dispose": using (var h = new Holder()) { Throw("in the body"); } break;
                case "throwe": try { Throw("thrown again by throw e"); } catch (Exception e) { throw e; } break;
                case "thrownull": throw null;
                case "sogeneric": Grow<int>(0); break;
                case "sosmall": T("small stack", () => Down(0), 128 * 1024).Join(); break;
                case "sobig": Alloca(args.Length * 20000000); break;
                case "sostring": { var n = new Node(); n.Next = n; n.ToString(); break; }
                case "sovirtual": { var n = new Node(); n.Next = n; n.Sum(); break; }
                case "solambda": rec = i => rec(i + 1) + 1; rec(0); break;
                case "soasync": Jobs.Sync(1).Wait(); break;
                case "sofinalizer": new Action(() => new Fin2())(); GC.Collect(); GC.WaitForPendingFinalizers(); Thread.Sleep(3000); break;
                case "sopool": ThreadPool.QueueUserWorkItem(o => Down(0)); Thread.Sleep(8000); break;
                case "sofilter": try { Throw("x"); } catch (Exception) when (Down(0) > 0) { } break;
                case "sonative": Raw(0x55, 0x48, 0x89, 0xe5, 0xe8, 0xf7, 0xff, 0xff, 0xff); break; // push rbp; mov rbp, rsp; call -9
                case "invoke": typeof(M).GetMethod("Throw", BindingFlags.NonPublic | BindingFlags.Static).Invoke(null, new object[] { "by reflection" }); break;
                case "dyninvoke": ((Delegate)new Action<string>(Throw)).DynamicInvoke("by DynamicInvoke"); break;
                case "result": GC.KeepAlive(Task.Run(() => { Throw("in Task.Run"); return 1; }).Result); break;
                case "whenall": Task.WhenAll(Jobs.Job(1), Jobs.Job(2), Jobs.Job(3)).GetAwaiter().GetResult(); break;
                case "waitall": Task.WaitAll(Jobs.Job(1), Jobs.Job(2), Jobs.Job(3)); break;
                case "chain": Jobs.Chain(4).GetAwaiter().GetResult(); break;
                case "cancelled": { var s = new CancellationTokenSource(20); Task.Delay(5000, s.Token).GetAwaiter().GetResult(); break; }
                case "token": { var s = new CancellationTokenSource(); s.Cancel(); s.Token.ThrowIfCancellationRequested(); break; }
                case "nullfield": Far(null); break;
                case "nullarray": Elem(null, 3); break;
                case "nulldelegate": { Action a = null; a(); break; }
                case "nullinterface": Lift(null); break;
                case "nullstring": { string s = null; GC.KeepAlive(s.Length); break; }
                case "nullunbox": Unbox(null); break;
                case "calldead": ((Code)Marshal.GetDelegateForFunctionPointer(new IntPtr(0x123450), typeof(Code)))(); break;
                case "callnull16": ((Code)Marshal.GetDelegateForFunctionPointer(new IntPtr(16), typeof(Code)))(); break;
                case "execdata": { IntPtr p = mmap(IntPtr.Zero, new IntPtr(4096), 3, 0x22, -1, IntPtr.Zero); ((Code)Marshal.GetDelegateForFunctionPointer(p, typeof(Code)))(); break; }
                case "readonly": Poke(mmap(IntPtr.Zero, new IntPtr(4096), 1, 0x22, -1, IntPtr.Zero)); break;
                case "readonlynative": memset(mmap(IntPtr.Zero, new IntPtr(4096), 1, 0x22, -1, IntPtr.Zero), 1, new IntPtr(100)); break;
                case "memcpy": { byte* b = stackalloc byte[16]; Buffer.MemoryCopy(b, (void*)0x5000000000, 16, 16); break; }
                case "marshalstring": Marshal.PtrToStringAnsi(new IntPtr(0x5000000000)); break;
                case "doublefree": { IntPtr p = malloc(new IntPtr(100)); free(p); free(p); break; }
                case "smash": { IntPtr p = malloc(new IntPtr(2000)), q = malloc(new IntPtr(2000)); memset(p, 65, new IntPtr(2100)); free(q); free(p); break; }
                case "nassert": __assert_fail("berth < MAX", "port.c", 42, "dock"); break;
                case "ud2": Raw(0x0f, 0x0b); break;
                case "int3": Raw(0xcc); break;
                case "hlt": Raw(0xf4); break;
                case "callzero": Raw(0x48, 0x83, 0xec, 8, 0x31, 0xc0, 0xff, 0xd0, 0xc3); break; // sub rsp, 8; xor eax, eax; call rax
                case "ndiv": Raw(0x31, 0xc9, 0x31, 0xd2, 0xb8, 5, 0, 0, 0, 0xf7, 0xf9, 0xc3); break; // xor ecx, ecx; idiv ecx
                case "movaps": Raw(0x48, 0x83, 0xec, 0x28, 0x0f, 0x28, 0x44, 0x24, 0x03, 0xc3); break; // movaps xmm0, [rsp+3]
                case "bus": { int fd = open("/tmp/harbor-bus", 0x42, 0x1ff); ftruncate(fd, 4096); IntPtr p = mmap(IntPtr.Zero, new IntPtr(8192), 3, 1, fd, IntPtr.Zero); ftruncate(fd, 0); memset(p, 1, new IntPtr(10)); break; }
                case "busmanaged": { int fd = open("/tmp/harbor-bus", 0x42, 0x1ff); ftruncate(fd, 4096); IntPtr p = mmap(IntPtr.Zero, new IntPtr(8192), 3, 1, fd, IntPtr.Zero); ftruncate(fd, 0); Poke(p); break; }
                case "sigtrap": raise(5); break;
                case "sigbus": raise(7); break;
                case "sigquit": raise(3); Thread.Sleep(2000); break;
                case "callback": { var a = new[] { 3, 1, 2 }; qsort(a, new IntPtr(3), new IntPtr(4), (x, y) => { Throw("in a callback from native code"); return 0; }); break; }
                case "overflow": Add(int.MaxValue, args.Length); break;
                case "mindiv": GC.KeepAlive(Divide(long.MinValue, 1 - args.Length)); break;
                case "negative": GC.KeepAlive(new int[1 - args.Length]); break;
                case "mismatch": Store(new string[1], new object()); break;
                case "unbox": Unbox("text"); break;
                case "parse": int.Parse("12,x"); break;
                case "list": GC.KeepAlive(new List<int> { 1 }[args.Length]); break;
                case "argnull": GC.KeepAlive(new List<int>((IEnumerable<int>)null)); break;
                case "substring": "short".Substring(7, 3); break;
                case "iterator": foreach (int i in Items()) GC.KeepAlive(i); break;
                case "ctor": GC.KeepAlive(new Property(-3)); break;
                case "getter": GC.KeepAlive(new Property(0).Value); break;
                case "indexer": GC.KeepAlive(new Property(1)[5]); break;
                case "operator": GC.KeepAlive(new Property(1) + new Property(2)); break;
                case "lazy": GC.KeepAlive(lazy.Value); break;
                case "lazytwice": try { GC.KeepAlive(lazy.Value); } catch (Exception) { } GC.KeepAlive(lazy.Value); break;
                case "cctortwice": try { GC.KeepAlive(Outer.V); } catch (Exception) { } GC.KeepAlive(Mid.V); break;
                case "multiline": Throw("first line\nsecond line\r\n\tthird \u001b[31mred\u001b[0m [proved]"); break;
                case "longmsg": Throw(new string('m', 300000)); break;
                case "failfastlines": Environment.FailFast("first line\nsecond line"); break;
                case "failfastthread": T("guard", () => Environment.FailFast("by the guard thread")); Thread.Sleep(3000); break;
                case "failfasthandler": AppDomain.CurrentDomain.UnhandledException += (s, e) => Environment.FailFast("in the handler", (Exception)e.ExceptionObject); Throw("handled by FailFast"); break;
                case "handlersleeps": AppDomain.CurrentDomain.UnhandledException += (s, e) => { GC.Collect(); keep.Clear(); }; Throw("after a handler"); break;
                case "handleraborts": AppDomain.CurrentDomain.UnhandledException += (s, e) => raise(6); Throw("the handler aborts"); break;
                case "oomarray": GC.KeepAlive(new byte[2147483647]); break;
                case "oomstring": GC.KeepAlive(new string('A', int.MaxValue)); break;
                case "oomhglobal": Marshal.AllocHGlobal(new IntPtr(0x7fffffffffff0)); break;
                case "oommany": { var l = new List<object>(); keep.Add(l); while (true) { l.Add(new Node { Pad = new long[50] }); } }
                case "oomtwice": { try { while (true) keep.Add(new byte[1000000]); } catch (OutOfMemoryException) { keep.Clear(); } GC.Collect(); Throw("after a caught OutOfMemoryException"); break; }
                case "insufficient": T("deep", () => { Ensure(0); }).Join(); break;
                case "interrupted": { var t = T("sleeper", () => Thread.Sleep(-1)); Thread.Sleep(100); t.Interrupt(); Thread.Sleep(3000); break; }
                case "badil": { var dm = new DynamicMethod("bad", typeof(int), Type.EmptyTypes, typeof(M).Module, true); var il = dm.GetILGenerator(); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret); ((Func<int>)dm.CreateDelegate(typeof(Func<int>)))(); break; }
                case "disposed": { var e = new ManualResetEvent(false); e.Dispose(); e.WaitOne(); break; }
                case "voidasync": Jobs.Void(); Thread.Sleep(5000); break;
                case "voidnow": SynchronizationContext.SetSynchronizationContext(new Pump()); Jobs.VoidNow(); Thread.Sleep(5000); break;
                case "badlength": { var a = new int[10]; var h = GCHandle.Alloc(a, GCHandleType.Pinned); ((int*)h.AddrOfPinnedObject())[-2] = 0x7fffffff; int sum = 0; for (int i = 0; i < 0x7fffffff; i += 1024) sum += a[i]; GC.KeepAlive(sum); break; }
                case "badref": { var n = new Node { Next = new Node() }; object o = n; var tr = __makeref(o); ulong* a = (ulong*)*(IntPtr*)*(IntPtr*)&tr; a[1] = 0x6900660065; GC.KeepAlive(n.Next.Sum()); break; }
                case "badvtable": { var n = new Node { Next = new Node() }; object o = n.Next; var tr = __makeref(o); ulong* a = (ulong*)*(IntPtr*)*(IntPtr*)&tr; a[0] = 0x5a5a5a5a5a58; GC.KeepAlive(n.Next.Sum()); break; }
                case "paramthread": new Thread(o => Throw("got " + o)) { Name = "with parameter" }.Start(42); Thread.Sleep(3000); break;
                case "bgthrow": { var t = new Thread(() => Throw("on a background thread")) { IsBackground = true, Name = "background" }; t.Start(); Thread.Sleep(3000); break; }
                case "notexception": { var dm = new DynamicMethod("throwsstring", typeof(void), Type.EmptyTypes, typeof(M).Module, true); var il = dm.GetILGenerator(); il.Emit(OpCodes.Ldstr, "a thrown string"); il.Emit(OpCodes.Throw); ((Action)dm.CreateDelegate(typeof(Action)))(); break; }
                case "resolve": AppDomain.CurrentDomain.AssemblyResolve += (s, e) => { Throw("in AssemblyResolve"); return null; }; Assembly.Load("No.Such.Assembly"); break;
                case "lockheld": lock (keep) { T("waiter", () => { lock (keep) { } }); Thread.Sleep(300); Throw("while a lock is held"); } break;
                case "wrapped": try { Throw("inner one"); } catch (Exception e) { throw new Cargo2("outer one", e); } break;
            }
        }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Ensure(int n) { RuntimeHelpers.EnsureSufficientExecutionStack(); return Ensure(n + 1) + 1; }
    }
    public class Cargo2 : Exception { public Cargo2(string m, Exception e) : base(m, e) { } public override string Message { get { return "Cargo2!"; } } }
}
