// The part of the program that matters: 400 items of the pool read a pipe that nobody writes to. The pool adds a worker every half second, and each of
// them takes an item and reads, too.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

namespace Orders {
public static class Devices {
  [DllImport("libc")] static extern int mkfifo(string path, uint mode);
  static FileStream port;
  static readonly List<Task<int>> reads = new List<Task<int>>();
  static int ReadStatus(int device) { var b = new byte[16]; return port.Read(b, 0, 16); }
  public static void Run() {
    string p = Path.Combine(Path.GetTempPath(), "dev-" + Guid.NewGuid());
    mkfifo(p, 384);
    port = new FileStream(p, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, 1);
    File.Delete(p);
    for (int i = 0; i < 400; i++) { int d = i; reads.Add(Task.Run(() => ReadStatus(d))); }
  }
}
}
