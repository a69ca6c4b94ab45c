using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;
using System.Runtime.CompilerServices;
namespace System.Private.CoreLib { internal static class Anchor { } }
public class Held { public string Name; public Held(string n) { Name = n; } }
public struct Pair { public object A; public int N; }
public struct Two { public object A, B; }
public struct Big { public object A; public long X, Y; public object B; }
public struct Mixed { public double D; public object O; }
public struct Wrap { public Pair P; }
public struct Val { public object V; public long N, M;
  [MethodImpl(MethodImplOptions.NoInlining)] public void Inst(object a) { Missing.Type.Use(a, this.V); } }
public class Obj {
  public object Field;
  [MethodImpl(MethodImplOptions.NoInlining)] public Big Ret(object a, int b, object c) { Missing.Type.Use(a, c); return new Big(); }
  [MethodImpl(MethodImplOptions.NoInlining)] public void Gen<T>(T a, object b) { Missing.Type.Use(a, typeof(T)); }
  [MethodImpl(MethodImplOptions.NoInlining)] public virtual void Virt(Two t, double d, Wrap w, object o) { Missing.Type.Use(t.A, w.P.A); }
}
public static class Program {
    static int parked;
    static ManualResetEvent forever = new ManualResetEvent(false);
    static unsafe void Fact(string name, object o) {
        TypedReference tr = __makeref(o);
        IntPtr p = **(IntPtr**)(&tr);
        Write("FACT " + name + " = 0x" + p.ToInt64().ToString("x") + " " + o.GetType().ToString());
    }
    static void Write(string s) {
        var c = Type.GetType("System.Console, System.Console");
        c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s });
    }
    static void Park() { Interlocked.Increment(ref parked); forever.WaitOne(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static object Make(string n) { var h = new Held(n); Fact(n, h); return h; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string MakeS(string n) { var h = new string('x', 10) + n; Fact(n, h); return h; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Take(object a, int i, string b, double d, Pair p, ref object r, Mixed m, object e, Big big, object f, object g) { Missing.Type.Use(a, b); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Static() {
        var box = new Obj { Field = Make("static.r") };
        Take(Make("static.a"), 5, MakeS("static.b"), 1.5, new Pair { A = Make("static.p"), N = 3 }, ref box.Field, new Mixed { D = 2, O = Make("static.m") },
            Make("static.e"), new Big { A = Make("static.bigA"), B = Make("static.bigB") }, Make("static.f"), Make("static.g"));
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Struct() { var v = new Val[1]; v[0].V = Make("struct.this"); v[0].Inst(Make("struct.a")); }
    [MethodImpl(MethodImplOptions.NoInlining)] static Obj New(string n) { var o = new Obj(); Fact(n, o); return o; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Ret() { New("ret.this").Ret(Make("ret.a"), 1, Make("ret.c")); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Gen() { New("gen.this").Gen<object>(Make("gen.a"), Make("gen.b")); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Virt() {
        New("virt.this").Virt(new Two { A = Make("virt.A"), B = Make("virt.B") }, 1, new Wrap { P = new Pair { A = Make("virt.w") } }, Make("virt.o")); }
    [ThreadStatic] static Held mine;
    static Type unloadable;
    static void MakeUnloadable() {
        var ab = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Unloadable"), AssemblyBuilderAccess.RunAndCollect);
        var tb = ab.DefineDynamicModule("m").DefineType("Unloadable.Keeper", TypeAttributes.Public);
        var f = tb.DefineField("perThread", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        f.SetCustomAttribute(new CustomAttributeBuilder(typeof(ThreadStaticAttribute).GetConstructor(Type.EmptyTypes), new object[0]));
        tb.DefineField("shared", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        unloadable = tb.CreateType();
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Fill() {
        mine = (Held)Make("threadStatic");
        unloadable.GetField("perThread").SetValue(null, Make("unloadable.threadStatic"));
        unloadable.GetField("shared").SetValue(null, Make("unloadable.static"));
    }
    static void ThreadStatics() { Fill(); Park(); GC.KeepAlive(mine); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Target(object a, object b, object c, object d, object e, object f, object g, object h) { Park(); return null; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Func<object, object> TailCaller() {
        var m = new DynamicMethod("tailcaller", typeof(object), new[] { typeof(object) }, typeof(Program));
        var il = m.GetILGenerator();
        for (int i = 0; i < 8; i++) il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Tailcall);
        il.Emit(OpCodes.Call, typeof(Program).GetMethod("Target"));
        il.Emit(OpCodes.Ret);
        return (Func<object, object>)m.CreateDelegate(typeof(Func<object, object>));
    }
    static void Tail() { TailCaller()(Make("tail.a")); }
    static void Start(ThreadStart s) { new Thread(s) { IsBackground = true, Name = s.Method.Name }.Start(); }
    public static void Main(string[] args) {
        AppDomain.CurrentDomain.AssemblyResolve += (s, e) => { Park(); return null; };
        MakeUnloadable(); Write("warm"); Make("dead"); MakeS("dead"); New("dead");
        ThreadStart[] all = { Static, Struct, Ret, Gen, Virt, ThreadStatics, Tail };
        foreach (var t in all) Start(t);
        while (Thread.VolatileRead(ref parked) < all.Length) Thread.Sleep(20);
        GC.Collect();
        Write("READY");
        forever.WaitOne();
    }
}
