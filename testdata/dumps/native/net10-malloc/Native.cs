using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
namespace System.Private.CoreLib { internal static class Anchor { } }
// Native memory by malloc: known numbers of blocks of sizes that nothing else asks for, in the main arena (thread 1) and in a thread arena;
// some are freed. Blocks of 300,000 bytes have mappings of their own. FACT lines say what is in use at the end.
namespace Trial
{
    public static class Native
    {
        static readonly List<IntPtr> kept = new List<IntPtr>();
        static void Say(string st) { Type c = Type.GetType("System.Console, System.Console"); c.GetMethod("WriteLine", new[] { typeof(string) }).Invoke(null, new object[] { st }); }
        static void Fill(IntPtr p, int size, int i) { Marshal.WriteInt64(p, 0x5347000000000000L | ((long)size << 16) | (long)i); for (int at = 4096; at < size; at += 4096) Marshal.WriteByte(p, at, 1); }
        static void Blocks(string arena, int size, int count, int freeEvery)
        {
            var all = new List<IntPtr>();
            for (int i = 0; i < count; i++) { IntPtr p = Marshal.AllocHGlobal(size); Fill(p, size, i); all.Add(p); }
            int freed = 0;
            for (int i = 0; i < count; i++) { if (freeEvery > 0 && i % freeEvery == 1) { Marshal.FreeHGlobal(all[i]); freed++; } else { lock (kept) kept.Add(all[i]); } }
            Say("FACT malloc." + arena + "." + size + " " + (count - freed) + " freed " + freed);
            Say("FACT malloc." + arena + "." + size + ".first " + all[0].ToInt64().ToString("x"));
        }
        static readonly List<object> held = new List<object>();
        static readonly List<GCHandle> pins = new List<GCHandle>();
        static byte[] OnPinnedHeap(int n) { return (byte[])typeof(GC).GetMethod("AllocateArray").MakeGenericMethod(typeof(byte)).Invoke(null, new object[] { n, true }); }
        // Every fifth of 100 arrays of 90,000 bytes stays, pinned; every fourth of 40 on the pinned heap stays.
        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static void Holes()
        {
            var all = new List<object>();
            for (int i = 0; i < 100; i++) { var b = new byte[90000]; all.Add(b); if (i % 5 == 0) { held.Add(b); pins.Add(GCHandle.Alloc(b, GCHandleType.Pinned)); } }
            for (int i = 0; i < 40; i++) { var b = OnPinnedHeap(3000); all.Add(b); if (i % 4 == 0) held.Add(b); }
            GC.KeepAlive(all);
        }
        public static void Main(string[] args)
        {
            Blocks("main", 1016, 200, 3);
            Blocks("main", 5000, 50, 5);
            Blocks("main", 40000, 20, 2);
            Blocks("mmap", 300000, 7, 0);
            Holes(); GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect();
            Say("FACT large.kept 20 pinned 20 freed 80 of 90024");
            Say("FACT pinned.kept 10 freed 30 of 3024");
            var done = new ManualResetEvent(false);
            var t = new Thread(() => {
                Blocks("thread", 2032, 150, 3); Blocks("thread", 7000, 40, 4); Blocks("thread", 50000, 12, 2);
                done.Set(); Thread.Sleep(-1);
            }) { IsBackground = true, Name = "allocator" };
            t.Start();
            done.WaitOne();
            Say("READY 0"); Thread.Sleep(-1);
        }
    }
}
