using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Runtime.CompilerServices;
using System.Threading;

// Clerks enter lines in a ledger. Whoever has its lock writes to a pipe, and a printer reads the pipe.
//   jammed: the printer has stopped reading. Each clerk waits for the lock since the pipe was full.
//   prints: the printer reads all the time. Each clerk gets the lock again after a moment.
// A clock rings ten times a second in both, so that the time of the dump is known.
namespace Office
{
    sealed class Ledger
    {
        [DllImport("libc")] static extern int mkfifo(string path, uint mode);
        readonly object gate = new object();
        readonly FileStream paper;
        public Ledger(string path)
        {
            mkfifo(path, 384);
            paper = new FileStream(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite, 1);
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Enter(byte[] line) { lock (gate) Print(line); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        void Print(byte[] line) { paper.Write(line, 0, line.Length); }
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Read(byte[] sheet) { return paper.Read(sheet, 0, sheet.Length); }
    }

    static class Program
    {
        static int rings;
        static Timer clock;
        static void Main(string[] args)
        {
            string mode = args[args.Length - 1];
            var ledger = new Ledger(Path.Combine(Path.GetTempPath(), "ledger-" + Environment.ProcessId));
            clock = new Timer(_ => rings++, null, 100, 100);
            for (int i = 0; i < (mode == "jammed" ? 10 : 24); i++)
                new Thread(() => { var line = new byte[100_000]; while (true) ledger.Enter(line); }) { Name = "clerk " + i, IsBackground = true }.Start();
            var sheet = new byte[1000];
            while (mode == "prints") ledger.Read(sheet);
            Thread.Sleep(Timeout.Infinite);
        }
    }
}
