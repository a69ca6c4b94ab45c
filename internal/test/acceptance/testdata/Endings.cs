// Ways to end that an older exception of the thread, a handler or the C library could be blamed for. What is true is
// written beside each (C# 7).
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
namespace System.Private.CoreLib { internal static class Anchor { } }
namespace Yard
{
    public class Tank { public int[] Levels; ~Tank() { M.Log(Levels.Length); } }
    public class Valve { ~Valve() { Environment.FailFast("a valve was never closed"); } }
    public static class Bell
    {
        public static async void Ring(Tank t) { await Task.Delay(10); M.Log(t.Levels[0]); }
        public static async Task RingAsync(Tank t) { await Task.Delay(10); M.Log(t.Levels[0]); }
        public static async void Forward(Tank t) { await RingAsync(t); }
    }
    public static unsafe class M
    {
        [DllImport("libc")] static extern void abort(); [DllImport("libc")] static extern IntPtr malloc(IntPtr n); [DllImport("libc")] static extern void free(IntPtr p);
        [DllImport("libc")] static extern int open(string p, int f, int m); [DllImport("libc")] static extern int ftruncate(int fd, long n); [DllImport("libc")] static extern IntPtr dlsym(IntPtr h, string n);
        [DllImport("libc")] static extern IntPtr mmap(IntPtr a, IntPtr n, int prot, int flags, int fd, IntPtr off); [DllImport("libc")] static extern int pthread_create(out IntPtr t, IntPtr attr, IntPtr start, IntPtr arg);
        [DllImport("libc")] static extern void __stack_chk_fail(); [DllImport("libc")] static extern IntPtr memchr(IntPtr p, int c, IntPtr n);
        static int seen; public static void Log(int n) { seen += n; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Check(int n) { if (n == 2) throw new TimeoutException("pump " + n + " did not answer"); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Tried() { try { Check(2); } catch (TimeoutException) { Log(1); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Twice() { IntPtr p = malloc(new IntPtr(100)); free(p); free(p); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Undo(Tank t) { Log(t.Levels.Length); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Fill(int n, Tank t) { try { Check(n); } catch (TimeoutException) { Undo(t); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Pass(int n) { try { Check(n); } catch (Exception e) { Log(3); throw e; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void PassOn(int n) { if (n == 0) { Check(2); return; } try { PassOn(n - 1); } catch (TimeoutException) { Log(n); throw; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Forward(int n) { try { PassOn(n); } catch (TimeoutException) { Log(n); throw; } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Drain() { try { Check(2); } finally { Undo(new Tank()); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Give() { try { Check(2); } catch (TimeoutException) { Environment.FailFast("the yard gives up"); } }
        [MethodImpl(MethodImplOptions.NoInlining)] static IntPtr Map(long kept) { int fd = open("/tmp/yard-levels", 0x42, 0x1ff); ftruncate(fd, 16384); IntPtr p = mmap(IntPtr.Zero, new IntPtr(16384), 3, 1, fd, IntPtr.Zero); ftruncate(fd, kept); return p; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Level(IntPtr p, int n) { return ((int*)p)[n]; }
        [MethodImpl(MethodImplOptions.NoInlining)] static int Copy(IntPtr p) { var b = new byte[64]; Marshal.Copy(p, b, 0, 64); return b[3]; }
        [MethodImpl(MethodImplOptions.NoInlining)] static string Name(IntPtr p) { return new string((char*)p, 0, 20); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Leave(int kind) { if (kind == 0) GC.KeepAlive(new Tank()); else GC.KeepAlive(new Valve()); }
        static void Collect(int kind) { Leave(kind); GC.Collect(); GC.WaitForPendingFinalizers(); Thread.Sleep(3000); }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Paint(long* p, int n, long with) { for (int i = 0; i < n; i++) p[i] = with; }
        [MethodImpl(MethodImplOptions.NoInlining)] static void Track(int n, long with) { long b = 3; Paint(&b, n, with); Log((int)b); }
        public static void Main(string[] args)
        {
            switch (args[1])
            {
                case "caughtabort": Tried(); abort(); break; // native code aborts; the TimeoutException was caught
                case "caughttwice": Tried(); Twice(); break; // the C library finds that Twice frees memory twice
                case "caughtsent": Tried(); Thread.Sleep(20000); break; // nothing fails: make-dump ends it from outside
                case "smashed": __stack_chk_fail(); break; // the C library says that a stack was smashed
                case "painted": Track(200, 0x4847464544434241); break; // Paint writes text above the local of Track, which returns into it
                case "erased": Track(60, 0); break; // Paint writes zeros there: Track returns to 0
                case "nativethread": { IntPtr t; pthread_create(out t, IntPtr.Zero, dlsym(IntPtr.Zero, "abort"), IntPtr.Zero); Thread.Sleep(3000); break; } // a thread without managed code aborts
                case "undo": Fill(2, new Tank()); break; // the handler of the TimeoutException uses Levels, which is null
                case "thrown": Pass(2); break; // Check threw it, Pass threw it once more
                case "passed": Forward(2); break; // Check threw it; PassOn, twice, and Forward threw it on, which keeps its trace
                case "drain": Drain(); break; // the TimeoutException has no handler; that the finally fails comes later
                case "ring": Bell.Ring(new Tank()); Thread.Sleep(5000); break; // Ring is async void: nobody can catch what it throws
                case "forward": Bell.Forward(new Tank()); Thread.Sleep(5000); break; // Forward is async void; RingAsync threw
                case "levels": Log(Level(Map(4096), 2050)); break; // the second page of the file is gone
                case "levelsnative": memchr(new IntPtr((long)Map(4096) + 8200), 5, new IntPtr(10)); break; // the third page is gone
                case "copy": Log(Copy(new IntPtr(0x5000000000))); break; // Copy gives a bad address to Marshal.Copy
                case "name": Log(Name(new IntPtr(0x5000000000)).Length); break; // Name gives a bad address to String
                case "tank": Collect(0); break; // the finalizer of Tank uses Levels, which is null
                case "valve": Collect(1); break; // the finalizer of Valve calls FailFast
                case "give": Give(); break; // FailFast, called by the handler of the TimeoutException
            }
        }
    }
}
