// Twelve threads wait for room in four full collections of three items. Of "gone" the thread that took has ended by an exception, and nothing else takes. Of
// the others, code that has the enumerator, another thread with a call ahead, or a delegate in a static field still takes.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Shop {
public static class Room {
  static readonly BlockingCollection<string> gone = new BlockingCollection<string>(3), passed = new BlockingCollection<string>(3),
    ahead = new BlockingCollection<string>(3), stored = new BlockingCollection<string>(3);
  static Action drain;
  static readonly ManualResetEvent never = new ManualResetEvent(false);
  static void Printer() { try { foreach (string d in gone.GetConsumingEnumerable()) int.Parse(d); } catch (FormatException) { } }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Read(IEnumerator<string> list) { while (list.MoveNext()) never.WaitOne(); }
  static void Reader() { Read(passed.GetConsumingEnumerable().GetEnumerator()); }
  static void Later() { never.WaitOne(); ahead.Take(); }
  static void Drain() { stored.Take(); }
  static void AddGone() { for (;;) gone.Add("x"); }
  static void AddPassed() { for (;;) passed.Add("x"); }
  static void AddAhead() { for (;;) ahead.Add("x"); }
  static void AddStored() { for (;;) stored.Add("x"); }
  static void Start(string name, ThreadStart run) { new Thread(run) { Name = name, IsBackground = true }.Start(); }
  public static void Main(string[] args) {
    drain = Drain;
    Start("reader", Reader);
    Start("later", Later);
    Start("printer", Printer);
    for (int i = 0; i < 3; i++) { Start("gone", AddGone); Start("passed", AddPassed); Start("ahead", AddAhead); Start("stored", AddStored); }
    Thread.Sleep(1500);
    GC.Collect();
    Acme.Platform.Host.Say("READY 0");
    Thread.Sleep(-1);
  }
}
}
