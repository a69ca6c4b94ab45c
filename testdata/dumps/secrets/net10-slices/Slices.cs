// Slices.cs: secrets in parts of arrays of bytes, and copies of a password that readers of texts cut. Built for .NET 10.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Slices
{
    public class Keep { public object What; public Keep Next; }
    public class Login { public string User; public string Password; }
    public class Held
    {
        public ReadOnlyMemory<byte> SecretRead; public Memory<byte> SecretWritten; public ArraySegment<byte> SecretSegment; public ReadOnlyMemory<byte>[] SecretArray;
        public Dictionary<string, ReadOnlyMemory<byte>> SecretMap; public ReadOnlyMemory<byte> Part;
    }
    public static class Program
    {
        public static Keep All; static Action<string> print; static int ready;
        static void Hold(object o) { All = new Keep { What = o, Next = All }; }
        static byte[] B(string s) { return Encoding.UTF8.GetBytes(s); }
        // The value is put together, so that no literal has it; print keeps no copy.
        static string P(string kind, string v) { print("PLANT " + kind + " " + v); return v; }
        static string Pct(string v) { var b = new StringBuilder(); foreach (var c in B(v)) if (char.IsLetterOrDigit((char)c) && c < 128) b.Append((char)c); else b.Append("%" + c.ToString("X2")); return b.ToString(); }
        static string Js(string v) { var b = new StringBuilder(); foreach (var c in v) if (char.IsLetterOrDigit(c) && c < 128) b.Append(c); else b.Append("\\u" + ((int)c).ToString("x4")); return b.ToString(); }
        public static void Main(string[] args)
        {
            var write = Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[] { typeof(string) });
            print = s => write.Invoke(null, new object[] { s });
            var f = new Held(); Hold(f);
            f.SecretRead = new ReadOnlyMemory<byte>(B(P("read", "rdk83" + "NVQ_551ms")));
            f.SecretWritten = new Memory<byte>(B(P("written", "wmt27" + "KLP_448bd")));
            f.SecretSegment = new ArraySegment<byte>(B("xx" + P("segment", "sgq94" + "TRX_337wf") + "yy"), 2, 14);
            f.SecretArray = new[] { new ReadOnlyMemory<byte>(B(P("array", "afz61" + "MPL_226kd"))) };
            f.SecretMap = new Dictionary<string, ReadOnlyMemory<byte>> { { "x", B(P("map", "mjw55" + "QWN_119tz")) } };
            Hold(new Dictionary<string, object> { { "ApiKey", new ReadOnlyMemory<byte>(B(P("key", "kcx72" + "BGH_883rv"))) } });
            Hold(new Dictionary<string, Memory<byte>> { { "Password", B(P("entry", "evb38" + "SDF_664pl")) } });
            f.Part = B("no secret, but 28 bytes long");
            var v = "Rq7+Kx/92=" + "Lm&Zt5%Wv8"; var w = "p\u00e4ss-w\u00f6rd-\u0416" + "5519q";
            Hold(new Login { User = "u", Password = v }); Hold(new Login { User = "u", Password = w }); print("CUT " + v); print("CUT " + w);
            foreach (var x in new[] { v, w })
            {
                Hold(B("bytes " + x + " end")); Hold(Encoding.Unicode.GetBytes("wide " + x + " end")); Hold(B(new string('-', 118) + x + " end"));
                foreach (var form in new[] { x, Convert.ToBase64String(B(x)), Pct(x), Js(x) })
                    foreach (var at in new[] { 46, 58, 246, 248, 1014, 1016 })
                    {
                        Hold(new string('.', at) + form + " goes on");
                        if (at < 1000) Hold(new StringBuilder(new string('.', at) + form + " goes on"));
                    }
            }
            new Thread(() => OnStack(new ReadOnlyMemory<byte>(B(P("stack", "stn46" + "ZXC_775gh"))))) { IsBackground = true }.Start();
            while (Volatile.Read(ref ready) < 1) Thread.Sleep(10);
            GC.Collect();
            print("READY");
            Thread.Sleep(-1);
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OnStack(ReadOnlyMemory<byte> secretOnStack) { Interlocked.Increment(ref ready); Thread.Sleep(-1); GC.KeepAlive(secretOnStack.Length); }
    }
}
