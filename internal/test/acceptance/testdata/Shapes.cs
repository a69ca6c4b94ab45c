// Values that expressions read: each fact of Harbor.M.Root is beside its expression in TestShapesOfValues.
using System; using System.Collections.Generic; using System.Threading; using System.Runtime.InteropServices;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Harbor {
 public enum Small : sbyte { Neg = -1, Max = 127 } public enum Short : ushort { Last = 65535 } public enum Wide : uint { Four = 4000000000 } public enum Huge : ulong { Eighteen = 18000000000000000000 }
 public struct Cargo { public string Name; public int Count; public object What; }
 public struct Valued { public int Raw; public int Value { get { return Raw * 2; } } }
 public unsafe struct Buffers { public int Before; public fixed int Numbers[5]; public fixed char Chars[2]; public fixed double Reals[3]; public byte After; }
 [StructLayout(LayoutKind.Explicit)] public struct Union { [FieldOffset(0)] public int I; [FieldOffset(0)] public float F; [FieldOffset(3)] public byte High; [FieldOffset(8)] public object O; }
 public struct Box<T> { public T V; public static T S; }
 public class Outer<T> { public static T St; public class Inner<U> { public T A; public U B; public static Dictionary<T, U> Map = new Dictionary<T, U>(); } }
 public unsafe class All {
  public Small Small = Small.Neg; public Short Short = Short.Last; public Wide Wide = Wide.Four; public Huge Huge = Huge.Eighteen; public Huge Odd = (Huge)17999999999999999999; public object Boxed = Huge.Eighteen;
  public Cargo? Some = new Cargo { Name = "crate", Count = 9 }; public Cargo? None; public DateTime? When = new DateTime(2026, 11, 27, 1, 2, 3, DateTimeKind.Utc); public Valued Valued = new Valued { Raw = 4 }; public Valued? Maybe = new Valued { Raw = 5 };
  public Buffers Buffers; public Union Union; public Array Corner = Array.CreateInstance(typeof(string), new[] { 2, 2 }, new[] { -3, 10 }); public Array Based = Array.CreateInstance(typeof(long), new[] { 3 }, new[] { -1 });
  public Cargo[,] Grid = new Cargo[2, 1]; public int*[] Pointers = new int*[2]; public Outer<string>.Inner<int> Inner = new Outer<string>.Inner<int> { A = "a", B = 5 }; public decimal Most = decimal.MinValue; }
 public static class M { public static All Root;
  static void Say(string s) { var t = Type.GetType("System.Console, System.Console"); t.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
  static unsafe void Main(string[] args) { var a = Root = new All();
   fixed (int* p = a.Buffers.Numbers) for (int i = 0; i < 5; i++) p[i] = 10 * i; fixed (char* c = a.Buffers.Chars) { c[0] = 'h'; c[1] = 'i'; } fixed (double* d = a.Buffers.Reals) d[2] = 2.5; a.Buffers.Before = -1; a.Buffers.After = 255;
   a.Union.I = 0x3f800000; a.Union.O = "union"; a.Corner.SetValue("corner", -3, 11); a.Based.SetValue(77L, -1); a.Grid[1, 0] = new Cargo { Name = "grid" }; a.Pointers[1] = (int*)0x99;
   Box<int>.S = 41; Box<Cargo>.S = new Cargo { Name = "static", Count = 43 }; Outer<string>.St = "st"; Outer<string>.Inner<int>.Map["k"] = 6;
   Say("READY"); Thread.Sleep(-1); } } }
