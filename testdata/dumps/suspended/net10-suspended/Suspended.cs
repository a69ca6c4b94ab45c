// Objects as runtime async makes them, made by reflection: a task with three continuations, one whose continuations are a ring,
// and one that runs. (C# compilers of that time don't make such methods unless asked for.)
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
public static class Suspended {
  const BindingFlags All = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
  static readonly MethodInfo write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
  static readonly MethodInfo make = typeof(RuntimeHelpers).GetMethod("GetUninitializedObject");
  static readonly Type step = Type.GetType("System.Runtime.CompilerServices.Continuation");
  static readonly Type task = Type.GetType("System.Runtime.CompilerServices.AsyncHelpers+ThunkTask`1").MakeGenericType(typeof(string));
  static object[] kept = new object[3];
  static object Make(Type t) { return make.Invoke(null, new object[] { t }); }
  static void Set(object o, string name, object value) {
    for (Type t = o.GetType(); t != null; t = t.BaseType) { FieldInfo f = t.GetField(name, All | BindingFlags.DeclaredOnly); if (f != null) { f.SetValue(o, value); return; } }
    throw new Exception(name);
  }
  static object Step(string method, object next) {
    object o = Make(step);
    MethodInfo m = typeof(Suspended).GetMethod(method, BindingFlags.Static | BindingFlags.NonPublic);
    RuntimeHelpers.PrepareMethod(m.MethodHandle);
    Set(o, "Resume", m.MethodHandle.GetFunctionPointer());
    if (next != null) Set(o, "Next", next);
    return o;
  }
  static object Task(object state) { object o = Make(task); Set(o, "m_stateFlags", 0x2000400); if (state != null) Set(o, "m_stateObject", state); return o; }
  static object Inner(object o) { return o; }
  static object Middle(object o) { return o; }
  static object Outer(object o) { return o; }
  public static void Main(string[] args) {
    kept[0] = Task(Step("Inner", Step("Middle", Step("Outer", null))));
    object last = Step("Outer", null), first = Step("Inner", last); Set(last, "Next", first);
    kept[1] = Task(first);
    kept[2] = Task(null);
    write.Invoke(null, new object[] { "READY" }); Thread.Sleep(-1);
  }
}
