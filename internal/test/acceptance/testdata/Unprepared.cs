// A Main that the runtime can't prepare: the core library lacks a method that it calls (C# 7). As a startup hook the
// program handles the unhandled exception first, and throws and catches another one there, as code that writes logs does.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
namespace System.Private.CoreLib { internal static class Anchor { } }
internal static class StartupHook
{
    public static void Initialize() { AppDomain.CurrentDomain.UnhandledException += Log; }
    static void Log(object sender, UnhandledExceptionEventArgs e)
    {
        try { Write(); } catch (FormatException) { }
        try { Lost(); } catch (MissingMethodException) { }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Write() { throw new FormatException("the log's format"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Lost() { AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("lost"), AssemblyBuilderAccess.Run); }
}
namespace Kiln
{
    public static class M
    {
        public static void Main(string[] args) { AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("kiln"), AssemblyBuilderAccess.Run); }
    }
}
