package tasks

import (
	"cmp"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
)

// A remote is a kind of wait of a client library on behalf of the program.
type remote struct {
	kind  answer.WaitKind // answer.WaitConnection or answer.WaitServer
	parts []string        // prefixes of methods, or of the types of tasks
}

// remoteMethods are methods of client libraries, with their namespaces. The first match counts: a pool's method is
// inside the client's.
var remoteMethods = []remote{
	{answer.WaitConnection, []string{
		"System.Net.Http.HttpConnectionWaiter", "System.Net.Http.HttpConnectionPool.GetHttp", "System.Net.Http.HttpConnectionPool+<GetHttp", "System.Net.Http.HttpConnectionPool.Connect",
		"System.Net.Http.HttpConnectionPool+<Connect", "Npgsql.PoolingDataSource", "Npgsql.ConnectorPool", "Npgsql.NpgsqlConnection.", "Npgsql.NpgsqlConnection+", "Npgsql.UnpooledDataSource",
		"MySqlConnector.Core.ConnectionPool", "MySqlConnector.MySqlConnection.", "MySqlConnector.MySqlConnection+", "MongoDB.Driver.Core.ConnectionPools.",
		"Microsoft.Data.SqlClient.ConnectionPool.", "Microsoft.Data.ProviderBase.DbConnectionPool", "System.Data.ProviderBase.DbConnectionPool",
	}},
	{answer.WaitServer, []string{
		"System.Net.Http.HttpConnection.", "System.Net.Http.HttpConnection+", "System.Net.Http.Http2Connection", "System.Net.Http.Http2Stream", "System.Net.Http.Http3", "Npgsql.",
		"MySqlConnector.", "Microsoft.Data.SqlClient.", "System.Data.SqlClient.", "StackExchange.Redis.", "Grpc.Net.Client.", "MongoDB.Driver.",
	}},
}

// remoteCalls are methods that programs await, by class and name as code calls them.
var remoteCalls = []remote{
	{answer.WaitConnection, []string{"DbConnection.Open", "SqlConnection.Open", "NpgsqlConnection.Open", "MySqlConnection.Open", "DbDataSource.Open", "NpgsqlDataSource.Open"}},
	{answer.WaitServer, []string{"DbCommand.Execute", "SqlCommand.Execute", "NpgsqlCommand.Execute", "MySqlCommand.Execute", "DbBatch.Execute", "DbCommand.PrepareAsync", "DbDataReader.Read",
		"DbDataReader.NextResult", "DbDataReader.Get", "DbDataReader.IsDBNull", "SqlDataReader.Read", "SqlDataReader.NextResult", "NpgsqlDataReader.Read", "NpgsqlDataReader.NextResult",
		"SqlBulkCopy.Write", "DbTransaction.Commit", "DbTransaction.Rollback", "IDatabaseAsync."}},
}

// remoteTypes are parts of the names of tasks' types.
var remoteTypes = []remote{
	{answer.WaitConnection, []string{"Task<System.Net.Http.HttpConnection>", "Task<System.Net.Http.Http2Connection>", "Task<System.Net.Http.Http3Connection>"}},
	{answer.WaitServer, []string{"<Microsoft.Data.SqlClient.SqlDataReader>", "<System.Data.SqlClient.SqlDataReader>"}},
}

// Remote returns what a client library's method waits for: answer.WaitConnection or answer.WaitServer. It returns ""
// for other methods. method begins with its namespace.
func Remote(method string) answer.WaitKind { return remoteIn(remoteMethods, method, strings.HasPrefix) }

// RemoteTask is Remote for the type of a task that a client library completes.
func RemoteTask(name string) answer.WaitKind {
	return remoteIn(remoteTypes, name, strings.Contains)
}

func remoteIn(list []remote, name string, fits func(string, string) bool) answer.WaitKind {
	for i := range list {
		for _, part := range list[i].parts {
			if fits(name, part) {
				return list[i].kind
			}
		}
	}
	return ""
}

// remote sets a stack's reason in the program's terms if a client library waits for a server. The innermost method of
// the program, or HttpClient, must await it. Loops of libraries that read from idle connections keep their reason.
func (b *builder) remote(out *answer.AsyncStack) {
	kind, by := answer.WaitKind(""), ""
	see := func(k answer.WaitKind, name string) {
		if k != "" && (kind == "" || k == answer.WaitConnection) {
			kind, by = k, name
		}
	}
	for i := range out.Waits {
		if n := &out.Waits[i].AsyncName; !n.Type.IsZero() && n.Type.Err == nil {
			see(Remote(n.Type.S), n.Type.S)
		}
	}
	depth := -1
	for i := range out.Frames {
		f := &out.Frames[i]
		if f.Depth <= depth || f.Kind == answer.AsyncOther {
			break // another path
		}
		depth = f.Depth
		method := remoteName(f)
		if f.Kind == answer.AsyncTask {
			see(RemoteTask(method), "")
			continue
		}
		if strings.HasPrefix(method, "System.Net.WebSockets.") {
			return // its messages are no answers
		}
		client := strings.HasPrefix(method, "System.Net.Http.HttpClient")
		if answer.LibraryMethod(method) && !client {
			see(Remote(method), method)
			continue
		}
		call := ""
		if !f.Method.IsZero() && f.Await.Err == nil && !client {
			call = f.Await.S
			see(remoteIn(remoteCalls, call, strings.HasPrefix), call)
		}
		if kind != "" {
			b.remoteWords(out, kind, call, by)
		}
		return
	}
}

// remoteName returns the method of a frame or, for a task, its type.
func remoteName(f *answer.AsyncFrame) string {
	switch {
	case f.Kind != answer.AsyncTask && !f.Method.IsZero() && f.Method.Err == nil && f.Method.S != "":
		return f.Method.S
	case !f.Name.IsZero() && f.Kind == answer.AsyncTask:
		return f.Type.S
	case !f.Name.IsZero():
		return f.Name.S
	}
	return ""
}

// remoteWords sets the reason of a stack: what it waits for, and through which method.
func (b *builder) remoteWords(out *answer.AsyncStack, kind answer.WaitKind, call, by string) {
	out.Remote = kind
	var method, to, from answer.Statement
	if peer := peerIn(&out.Why); peer != "" {
		to, from = words.ToPeer.Of(words.Text(peer)), words.FromPeer.Of(words.Text(peer))
	}
	if name := cmp.Or(call, by); name != "" {
		method = words.InBrackets.Of(words.Method(name))
	}
	if kind == answer.WaitConnection {
		out.Explain(words.Connection.Of(to, method))
	} else {
		out.Explain(words.ServersAnswer.Of(from, method))
	}
}
