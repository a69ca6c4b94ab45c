// Two healthy programs, compiled with optimization, so that state machines are structs. "flow": what reads a full channel runs, in a state machine on the
// stack. "asynclock": of the loops that enter a lock in turn, one runs inside it, in a state machine in its box, and one has left it and stands in its delay.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace Shop {
class Locked {
  readonly SemaphoreSlim s = new SemaphoreSlim(1);
  double x;
  public async Task Loop() {
    for (;;) {
      await s.WaitAsync();
      try { await Task.Yield(); for (int i = 0; i < 3000000; i++) x += i; } finally { s.Release(); }
      await Task.Delay(5);
    }
  }
}

class Flow {
  readonly Channel<int> c = Channel.CreateBounded<int>(50);
  double x;
  public async Task Produce() { for (int i = 0;; i++) await c.Writer.WriteAsync(i); }
  public async Task Consume() { for (;;) { int v = await c.Reader.ReadAsync(); for (int i = 0; i < 1000000; i++) x += v; } }
}

static class Program {
  static Locked l = new Locked();
  static Flow f = new Flow();
  static readonly List<object> Keep = new List<object>();
  static void Main(string[] a) {
    if (a[0] == "asynclock") for (int i = 0; i < 20; i++) Keep.Add(Task.Run(new Func<Task>(l.Loop)));
    else { Keep.Add(Task.Run(new Func<Task>(f.Produce))); Keep.Add(Task.Run(new Func<Task>(f.Consume))); }
    Thread.Sleep(4000);
    Console.WriteLine("READY");
    Console.Out.Flush();
    Thread.Sleep(-1);
  }
}
}
