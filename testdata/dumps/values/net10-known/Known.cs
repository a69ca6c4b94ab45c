using System; using System.Threading; using System.Collections.Generic; using System.Reflection;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace K { public class Holder { public Version V = new Version(1, 2, 3), Short = new Version(10, 0); public Type T = typeof(Dictionary<string, int>); public object Uri, Four, Six, Loop, Big, Neg, Small, Regex; public KeyValuePair<Version, string> Pair = new KeyValuePair<Version, string>(new Version(4, 5, 6, 7), "x"); }
 public static class M { public static Holder H = new Holder();
  static void Say(string s) { System.Type c = System.Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
  static object Parse(string type, string text) { return System.Type.GetType(type, true).GetMethod("Parse", new[] { typeof(string) }).Invoke(null, new object[] { text }); }
  public static void Main(string[] a) { H.Uri = Activator.CreateInstance(System.Type.GetType("System.Uri, System.Private.Uri", true), "http://example.org/a b?c=d");
   H.Four = Parse("System.Net.IPAddress, System.Net.Primitives", "192.168.7.9"); H.Six = Parse("System.Net.IPAddress, System.Net.Primitives", "fe80::1:2%3"); H.Loop = System.Type.GetType("System.Net.IPAddress, System.Net.Primitives").GetField("Loopback").GetValue(null);
   H.Big = Parse("System.Numerics.BigInteger, System.Runtime.Numerics", "123456789012345678901234567890123456789"); H.Neg = Parse("System.Numerics.BigInteger, System.Runtime.Numerics", "-98765432109876543210"); H.Small = Parse("System.Numerics.BigInteger, System.Runtime.Numerics", "-5");
   H.Regex = Activator.CreateInstance(System.Type.GetType("System.Text.RegularExpressions.Regex, System.Text.RegularExpressions", true), "^a+\"b$");
   foreach (var f in typeof(Holder).GetFields()) Say("FACT " + f.Name + " " + f.GetValue(H)); Say("READY 0"); Thread.Sleep(-1); } } }
