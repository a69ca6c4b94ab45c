package sosgo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/interop"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/sqlpools"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/tracing"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestWithoutMetadata checks that, if no type has a name, objects found by name are unknown rather than absent.
func TestWithoutMetadata(t *testing.T) {
	testdump.Corpus(t, testcase.Named("win-net8-zoo-withheap"), func(t *testing.T, c *testdump.Dump) int {
		d, err := sosgo.Open(c.Plain(), sosgo.Options{Offline: true, NoLocalFiles: true}) // without its modules
		require.NoError(t, err)
		defer d.Close()
		v, err := d.View("")
		require.NoError(t, err)
		questions := map[string]func() error{
			"requests":            func() error { _, err := web.Requests(t.Context(), v.Process, web.RequestOptions{}); return err },
			"messages":            func() error { _, err := web.Messages(t.Context(), v.Process, web.MessageOptions{}); return err },
			"clients":             func() error { _, err := web.HTTPClients(t.Context(), v.Process, web.ClientOptions{}); return err },
			"hubs":                func() error { _, err := web.SignalR(t.Context(), v.Process); return err },
			"sessions":            func() error { _, err := web.Sessions(t.Context(), v.Process, web.SessionOptions{}); return err },
			"Redis":               func() error { _, err := web.Redis(t.Context(), v.Process); return err },
			"object pools":        func() error { _, err := web.ObjectPools(t.Context(), v.Process); return err },
			"queues of libraries": func() error { _, err := web.Queues(t.Context(), v.Process); return err },
			"event sources":       func() error { _, err := tracing.EventSources(t.Context(), v.Process); return err },
			"COM wrappers":        func() error { _, err := interop.ComWrappers(t.Context(), v.Process); return err },
			"WebSockets":          func() error { _, err := web.Sockets(t.Context(), v.Process); return err },
			"gRPC":                func() error { _, err := web.GRPCCalls(t.Context(), v.Process); return err },
			"SQL":                 func() error { _, err := sqlpools.SQLPools(t.Context(), v.Process, sqlpools.Options{}); return err },
			"scopes":              func() error { _, err := hosting.ServiceScopes(t.Context(), v.Process); return err },
			"caches":              func() error { _, err := hosting.Caches(t.Context(), v.Process); return err },
			"hosts":               func() error { _, err := hosting.Hosts(t.Context(), v.Process); return err },
			"contexts":            func() error { _, err := hosting.DbContexts(t.Context(), v.Process); return err },
			"flows":               func() error { _, err := flows.Flows(t.Context(), v.Process, flows.Options{}); return err },
			"tasks":               func() error { _, err := async.Tasks(t.Context(), v.Process, tasks.ListOptions{}); return err },
			"async":               func() error { _, err := async.Stacks(t.Context(), v.Process, async.StackOptions{}); return err },
			"calls":               func() error { _, err := async.Calls(t.Context(), v.Process, tasks.StackOptions{}); return err },
			"waits":               func() error { _, err := locks.Waits(t.Context(), v.Process, locks.Options{}); return err },
			"pool":                func() error { _, err := locks.ThreadPool(t.Context(), v.Process, threadpool.Options{}); return err },
			"queues":              func() error { _, err := threadpool.WorkQueues(t.Context(), v.Process); return err },
			"timers":              func() error { _, err := threadpool.Timers(t.Context(), v.Process); return err },
		}
		for name, ask := range questions {
			assert.ErrorIs(t, ask(), target.ErrNotInDump, name)
		}
		return len(questions)
	})
}
