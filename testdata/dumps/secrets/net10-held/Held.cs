using System;
using System.Collections.Generic;
using System.Collections;
using System.Reflection;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
public unsafe struct Buf { public int N; public fixed char Pin[24]; public fixed byte Raw[24]; }
public class Login { public string Password; public Buf Buf; public List<char> Letters; public List<byte> Bytes; public Queue<char> Q; public char[] Plain; public byte[] PlainBytes; public Guid Id; public object Box; public ArraySegment<char> Seg; public Memory<char> Mem; public HashSet<char> None; public Dictionary<int,char> Map; public ushort[] Words; public Hashtable Table; }
public static class Program {
  public static Login L;
  public static Login[] Many;
  public static Buf StaticBuf;
  static void Say(string s) { Type.GetType("System.Console, System.Console").GetMethod("WriteLine", new[]{typeof(string)}).Invoke(null, new object[]{s}); }
  public static unsafe void Main(string[] args) {
    string secret = "Zx9!qrTm-77Vw";
    string guid = "5f0c1b7e-93d2-4c11-8a55-0d9e2f7b6a31";
    L = new Login { Password = secret, Letters = new List<char>(secret.ToCharArray()), Plain = secret.ToCharArray(), Id = new Guid(guid) };
    Many = new[]{ new Login { Password = guid } };
    byte[] b = new byte[secret.Length]; for (int i = 0; i < b.Length; i++) b[i] = (byte)secret[i];
    L.PlainBytes = b; L.Bytes = new List<byte>(b); L.Q = new Queue<char>(secret.ToCharArray()); L.Seg = new ArraySegment<char>(L.Plain); 
    L.Mem = new Memory<char>(L.Plain);
    L.Map = new Dictionary<int,char>(); for (int i = 0; i < b.Length; i++) L.Map[i] = secret[i];
    L.Words = new ushort[b.Length]; for (int i = 0; i < b.Length; i++) L.Words[i] = secret[i];
    fixed (Buf* p = &L.Buf) { for (int i = 0; i < secret.Length; i++) { p->Pin[i] = secret[i]; p->Raw[i] = b[i]; } }
    StaticBuf = L.Buf;
    L.Box = L.Buf; L.Table = new Hashtable(); L.Table["password"] = secret;
    Work(L.Buf, L.Id);
  }
  static void Work(Buf local, Guid id) { Buf other = local; Say("READY"); Thread.Sleep(-1); GC.KeepAlive(other); GC.KeepAlive(id); }
}
