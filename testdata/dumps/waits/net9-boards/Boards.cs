using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Microsoft.Extensions.Logging.Boards
{
    // A Board of a library, by its name, that takes one line at a time, and starts a thread for it. What it does with its lock has no loop.
    public sealed class Board
    {
        readonly Queue<string> lines = new();

        public void Put(string line)
        {
            lock (lines)
            {
                lines.Enqueue(line);
                if (lines.Count > 1000)
                    lines.Clear();
                new Thread(() => { }) { IsBackground = true }.Start();
            }
        }
    }
}

namespace Shop
{
    // Five threads write lines, in a loop each. Nothing is wrong: each waits for its turn.
    public static class Program
    {
        static readonly Microsoft.Extensions.Logging.Boards.Board board = new();

        public static void Main()
        {
            var threads = Enumerable.Range(0, 5).Select(i => new Thread(() =>
            {
                for (int k = 0; ; k++)
                    board.Put("line " + k);
            }) { IsBackground = true, Name = "clerk " + i }).ToArray();
            foreach (var t in threads) t.Start();
            Console.WriteLine("READY");
            foreach (var t in threads) t.Join();
        }
    }
}
