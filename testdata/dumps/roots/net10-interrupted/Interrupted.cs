// A method that nothing but a fault interrupts, at an instruction that is no safe point: what it holds is in untracked slots alone.
using System;
using System.Runtime.CompilerServices;

namespace System.Private.CoreLib { class Name { } }

sealed class Held { public int Number; }
sealed class Dropped { }

static class Program
{
    static void Write(string line)
    {
        Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { line });
    }

    static unsafe void Fact(string name, object o)
    {
        TypedReference r = __makeref(o);
        IntPtr p = **(IntPtr**)(&r);
        Write("FACT " + name + " 0x" + p.ToInt64().ToString("x") + " " + o.GetType().Name);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop() { Fact("dropped", new Dropped()); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Change(ref Held held) { held = new Held { Number = held.Number + 1 }; }

    // held lives in a slot whose address is taken, which no safe point describes.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Interrupted(int times)
    {
        var held = new Held();
        for (int i = 0; i < times; i++) Change(ref held);
        Fact("held", held);
        *(int*)(0xdead00000000 + times) = held.Number;
        Change(ref held);
    }

    static int Main(string[] args)
    {
        Drop();
        Interrupted(3);
        return 0;
    }
}
