using System; using System.Threading; using System.Collections.Generic; using System.Globalization; using System.Reflection; using System.Text;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace K {
 public class Texts {
  public StringBuilder Empty = new StringBuilder(), Short = new StringBuilder("one \"two\"\n"), Chunks = new StringBuilder(4), Long = new StringBuilder();
  public CultureInfo Culture, Invariant = CultureInfo.InvariantCulture, Custom = new CultureInfo("de-CH");
  public Encoding Utf8 = Encoding.UTF8, Unicode = Encoding.Unicode, Big = Encoding.BigEndianUnicode, Utf32 = Encoding.UTF32, Ascii = Encoding.ASCII, Latin = Encoding.GetEncoding("iso-8859-1"), Own = new UTF8Encoding(false), Utf32Big = new UTF32Encoding(true, true);
  public CancellationToken None, Open, Canceled, Dead = new CancellationToken(true);
  public object BoxedCanceled;
  public ArraySegment<int> Segment = new ArraySegment<int>(new[] { 1, 2, 3, 4, 5 }, 1, 3);
  public object Index, Range, Immutable;
  public CancellationTokenSource Source = new CancellationTokenSource(), Fired = new CancellationTokenSource();
 }
 public class Generic<T> { public T Value; }
 public static class M {
  public static Texts H = new Texts();
  public static ArraySegment<int> Part = new ArraySegment<int>(new[] { 10, 20, 30, 40 }, 1, 2);
  public static object[] Holders;
  static void Say(string s) { System.Type c = System.Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
  static object Make(string generic, System.Type arg, params object[] args) { return Activator.CreateInstance(System.Type.GetType(generic, true).MakeGenericType(arg), args); }
  static object Hold(object value) { var g = Activator.CreateInstance(typeof(Generic<>).MakeGenericType(value.GetType())); g.GetType().GetField("Value").SetValue(g, value); return g; }
  public static void Main(string[] a) {
   H.Culture = new CultureInfo("fr-FR");
   for (int i = 0; i < 10; i++) H.Chunks.Append("part" + i + ";");
   for (int i = 0; i < 500; i++) H.Long.Append("0123456789");
   H.Open = H.Source.Token; H.Fired.Cancel(); H.Canceled = H.Fired.Token; H.BoxedCanceled = H.Canceled;
   System.Type index = System.Type.GetType("System.Index"), range = System.Type.GetType("System.Range");
   object two = Activator.CreateInstance(index, 2, false), end = Activator.CreateInstance(index, 3, true);
   H.Index = end; H.Range = Activator.CreateInstance(range, two, end);
   System.Type im = System.Type.GetType("System.Collections.Immutable.ImmutableArray, System.Collections.Immutable", true);
   object arr = null; foreach (var m in im.GetMethods()) if (m.Name == "Create" && m.GetParameters().Length == 1 && m.GetParameters()[0].ParameterType.IsArray) arr = m.MakeGenericMethod(typeof(string)).Invoke(null, new object[] { new[] { "x", "y", "z" } });
   H.Immutable = arr;
   object memory = Make("System.Memory`1", typeof(int), new[] { 7, 8, 9, 10 }, 1, 2), ro = Make("System.ReadOnlyMemory`1", typeof(string), new[] { "p", "q", "r" }, 0, 2);
   Holders = new object[] { Hold(arr), Hold(memory), Hold(ro), Hold(H.Segment), Hold(two), Hold(H.Range) };
   foreach (var f in typeof(Texts).GetFields()) { object v = f.GetValue(H); string s = v.ToString(); if (v is Encoding) s = ((Encoding)v).WebName; if (v is CultureInfo) s = ((CultureInfo)v).Name; if (v is CancellationToken) s = ((CancellationToken)v).IsCancellationRequested + " " + ((CancellationToken)v).CanBeCanceled; Say("FACT " + f.Name + " " + (s.Length > 60 ? s.Length + " " + s.Substring(0, 20) : s).Replace("\n", "\\n")); }
   Say("FACT Part " + string.Join(",", Part)); Say("READY 0"); Thread.Sleep(-1);
  } } }
