// A null reference in a statement that uses three references: two of them are read from static fields that are set. (C# 7)
using System;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Quay
{
    public sealed class Writer { public int Lines; public void Write(string s) { Lines += s.Length; } }
    public sealed class Host { public static readonly Host Current = new Host(); public readonly Writer Log = new Writer(); }
    public static class Program
    {
        static void Tick(string s) { Host.Current.Log.Write(s.Trim()); }
        public static int Main(string[] a) { var t = new Thread(() => { Tick("a"); Tick(null); }) { Name = "ticker" }; t.Start(); t.Join(); return 0; }
    }
}
