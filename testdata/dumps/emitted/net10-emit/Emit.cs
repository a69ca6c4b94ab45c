using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

namespace System.Private.CoreLib { internal static class Anchor { } }

public unsafe struct Buffers
{
    public fixed byte Bytes[16];
    public fixed short Odd[3];
    public fixed double Reals[2];
    public int After;
}

public class Holder { public Buffers B; }

public static class Emit
{
    static readonly List<object> keep = new List<object>();
    static void Say(string s)
    {
        Type c = Type.GetType("System.Console, System.Console");
        c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s });
    }
    static void Make(string name, AssemblyBuilderAccess access, int methods)
    {
        AssemblyBuilder b = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), access);
        ModuleBuilder m = b.DefineDynamicModule(name + ".Module");
        TypeBuilder t = m.DefineType(name + ".Calc", TypeAttributes.Public);
        for (int i = 0; i < methods; i++)
        {
            MethodBuilder mb = t.DefineMethod("Add" + i, MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) });
            ILGenerator g = mb.GetILGenerator();
            g.DeclareLocal(typeof(int));
            if (i == 1)
            {
                g.BeginExceptionBlock();
                g.Emit(OpCodes.Ldarg_0);
                g.Emit(OpCodes.Ldc_I4, 1000 + i);
                g.Emit(OpCodes.Div);
                g.Emit(OpCodes.Stloc_0);
                g.BeginCatchBlock(typeof(DivideByZeroException));
                g.Emit(OpCodes.Pop);
                g.EndExceptionBlock();
                g.Emit(OpCodes.Ldloc_0);
                g.Emit(OpCodes.Ret);
                continue;
            }
            g.Emit(OpCodes.Ldarg_0);
            g.Emit(OpCodes.Ldc_I4, 1000 + i);
            g.Emit(OpCodes.Add);
            if (i == 2) { g.Emit(OpCodes.Ldstr, "emitted string"); g.Emit(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod()); g.Emit(OpCodes.Add); }
            g.Emit(OpCodes.Ret);
        }
        Type made = t.CreateType();
        for (int i = 0; i < methods; i++)
        {
            object r = made.GetMethod("Add" + i).Invoke(null, new object[] { 5 });
            if (i < 3) Say("FACT " + name + ".Add" + i + " " + made.GetMethod("Add" + i).MethodHandle.Value.ToInt64().ToString("x") + " = " + r);
        }
        keep.Add(made);
        keep.Add(Activator.CreateInstance(made));
    }
    public static void Main()
    {
        Make("Kept", AssemblyBuilderAccess.Run, 4);
        Make("Collectible", AssemblyBuilderAccess.RunAndCollect, 200);
        Make("One", AssemblyBuilderAccess.Run, 1);
        var h = new Holder();
        unsafe
        {
            fixed (byte* p = h.B.Bytes) for (int i = 0; i < 16; i++) p[i] = (byte)(3 * i);
            fixed (short* p = h.B.Odd) for (int i = 0; i < 3; i++) p[i] = (short)(-i);
            fixed (double* p = h.B.Reals) for (int i = 0; i < 2; i++) p[i] = i + 0.5;
        }
        h.B.After = 77;
        keep.Add(h);
        unsafe { TypedReference r = __makeref(h); Say("FACT Holder " + (**(IntPtr**)&r).ToInt64().ToString("x")); }
        Say("READY");
        Thread.Sleep(Timeout.Infinite);
    }
}
