// A part of the program of which the dump beside it is: 25 loops append to a batch and await its promise, which the callback of a timer completes each 300 ms.
// The dump lacks the program's module, so that its IL does not show that.
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
namespace Shop.Core
{
    public sealed class GroupCommit
    {
        readonly object gate = new object(); List<int> rows = new List<int>(); Timer t; public int Flushed;
        TaskCompletionSource<int> batch = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        public void Start() { t = new Timer(_ => Flush(), null, 300, 300); }
        void Flush()
        {
            List<int> r; TaskCompletionSource<int> b;
            lock (gate) { r = rows; b = batch; rows = new List<int>(); batch = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously); }
            Thread.Sleep(8); Flushed += r.Count; b.SetResult(r.Count);
        }
        public Task<int> Append(int row) { lock (gate) { rows.Add(row); return batch.Task; } }
    }
    public static class H
    {
        public static long N;
        static async Task Commit(GroupCommit g, int i) { while (true) { N += await g.Append(i).ConfigureAwait(false); await Task.Delay(i % 20).ConfigureAwait(false); } }
    }
}
