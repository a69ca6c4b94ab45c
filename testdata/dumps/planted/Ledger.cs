using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
// Each booking keeps its scanned receipt in a static dictionary; nothing takes one out.
namespace Bookkeeping
{
    public sealed class Receipt { public int Number; public byte[] Scan; }
    public static class Ledger { public static readonly Dictionary<int, Receipt> Receipts = new Dictionary<int, Receipt>(); }
    public static class M
    {
        static void Say(string s) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { s }); }
        static void Book(int i) { Ledger.Receipts[i] = new Receipt { Number = i, Scan = new byte[20000] }; }
        public static void Main(string[] a) { for (int i = 0; i < 3000; i++) Book(i); Say("FACT receipts " + Ledger.Receipts.Count); Thread.Sleep(600); Say("READY 0"); Thread.Sleep(-1); }
    }
}
