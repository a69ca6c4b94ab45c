namespace System.Runtime.InteropServices {
  [Flags] public enum CreateComInterfaceFlags { None = 0, CallerDefinedIUnknown = 1, TrackerSupport = 2 }
  [Flags] public enum CreateObjectFlags { None = 0, TrackerObject = 1, UniqueInstance = 2, Aggregation = 4, Unwrap = 8 }
  public abstract class ComWrappers {
    public struct ComInterfaceEntry { public Guid IID; public IntPtr Vtable; }
    protected abstract unsafe ComInterfaceEntry* ComputeVtables(object obj, CreateComInterfaceFlags flags, out int count);
    protected abstract object CreateObject(IntPtr externalComObject, CreateObjectFlags flags);
    protected abstract void ReleaseObjects(System.Collections.IEnumerable objects);
    public static void GetIUnknownImpl(out IntPtr a, out IntPtr b, out IntPtr c) { throw null; }
    public IntPtr GetOrCreateComInterfaceForObject(object instance, CreateComInterfaceFlags flags) { throw null; }
    public object GetOrCreateObjectForComInstance(IntPtr externalComObject, CreateObjectFlags flags) { throw null; }
  }
}
