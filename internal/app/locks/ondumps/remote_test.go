package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestRemoteWaits distinguishes the waits of a web server: for a database's answer, for a pooled connection, for a
// lock, and for a promise of the program.
func TestRemoteWaits(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		waits, err := locks.Waits(t.Context(), v.Process, locks.Options{})
		require.NoError(t, err)
		kinds := map[string]string{}
		for _, w := range waits.Operations {
			kinds[w.Method.S] = string(w.Kind) + ": " + w.Text
		}
		for method, want := range map[string]string{
			"WebDebuggee.SqlPools.Query":                            string(answer.WaitServer) + ": waits for the server's answer (SqlCommand.ExecuteReaderAsync)",
			"WebDebuggee.SqlPools.OpenLater":                        string(answer.WaitConnection) + ": waits for a connection (DbConnection.OpenAsync)",
			"WebDebuggee.NpgsqlPool.Read":                           string(answer.WaitServer) + ": waits for the server's answer from 127.0.0.1:5433 (NpgsqlCommand.ExecuteReaderAsync)",
			"WebDebuggee.ReportStore.FetchPageAsync":                string(answer.WaitPromise) + ": waits for a promise in WebDebuggee.Gates.Report",
			"WebDebuggee.AuditMiddleware.WriteAuditRecord":          string(answer.WaitPromise) + ": waits for a promise in WebDebuggee.Gates.Audit",
			"WebDebuggee.PoolWork.EnterLock":                        string(answer.LockSemaphore) + ": waits for WebDebuggee.PoolWork.AsyncLock (SemaphoreSlim)",
			"WebDebuggee.PoolWork.WriteFourth":                      string(answer.WaitChannel) + ": waits for room in a channel (WebDebuggee.PoolWork.Messages)",
			"WebDebuggee.Client.Chat":                               string(answer.WaitStream) + ": waits for data from 127.0.0.1:5080",
			"WebDebuggee.Client.ReadFeed":                           string(answer.WaitServer) + ": waits for the server's answer from 127.0.0.1:5080 (TextReader.ReadLineAsync)",
			"WebDebuggee.Handlers.CopyBody":                         string(answer.WaitStream) + ": waits for data in a pipe",
			"WebDebuggee.Client+SlowContent.SerializeToStreamAsync": string(answer.WaitPromise) + ": waits for a promise in WebDebuggee.Client.RestOfUpload",
		} {
			assert.Equal(t, want, kinds[method], method)
		}
		threads := map[string]*answer.ThreadWait{}
		for i := range waits.Threads {
			threads[waits.Threads[i].Thread.Name] = &waits.Threads[i]
		}
		for name, kind := range map[string]answer.WaitKind{"sql scalar": answer.WaitServer, "sql open waiter": answer.WaitConnection, "pg export": answer.WaitServer, "waits for NeverSet": answer.LockEvent} {
			if w := threads[name]; assert.NotNil(t, w, name) {
				assert.Equal(t, kind, w.Kind, name)
				assert.True(t, strings.HasPrefix(w.Method.S, "WebDebuggee."), "%s: %s", name, w.Method)
			}
		}
		return len(kinds) + len(threads)
	})
}
