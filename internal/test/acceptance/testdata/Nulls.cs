using System; using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
class Customer { public string Name; public Address Home; public string GetName() { return Name; } public virtual int V() { return 1; } }
class Address { public int Zip; public string Street; }
class Order { public int Id; public Customer Customer; public Customer Buyer { get; set; } public Action Done; public int[] Lines; }
struct Pair { public Order Left; public Order Right; }
class P {
 static void Say(string s) { var t = Type.GetType("System.Console, System.Console"); t.GetMethod("WriteLine", new[]{typeof(string)}).Invoke(null, new object[]{s}); }
 static int F(Order o) { return o.Customer.Home.Zip; }
 static string G(Order o) { return o.Customer.GetName(); }
 static int V(Order o) { return o.Buyer.V(); }
 static void D(Order o) { o.Done(); }
 static int L(Order o) { return o.Lines[3]; }
 static int N(Order o) { return o.Lines.Length; }
 static void S(Order o) { o.Id = 5; }
 static int U(object o) { return (int)o; }
 static int S2(Pair p) { return p.Right.Id; }
 static void T() { throw null; }
 static int I(System.Collections.Generic.IList<int> l) { return l.Count; }
 static void Main(string[] a) { Say("READY"); string k = a[a.Length-1];
  var t = new Thread(() => { var o = new Order();
  switch (k) { case "field": o.Customer = new Customer(); F(o); break; case "field2": F(o); break; case "call": G(o); break; case "virt": V(o); break; case "delegate": D(o); break; case "elem": L(o); break; case "len": N(o); break; case "store": S(null); break; case "unbox": U(null); break; case "struct": S2(new Pair()); break; case "throw": T(); break; case "iface": I(null); break; } }); t.Start(); Thread.Sleep(-1); } }
