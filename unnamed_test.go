package sosgo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestWithoutMetadata: where no type has a name, what is found by names is not absent but unknown.
func TestWithoutMetadata(t *testing.T) {
	testdump.Corpus(t, testcase.Named("win-net8-zoo-withheap"), func(t *testing.T, c *testdump.Dump) int {
		d, err := sosgo.Open(c.Plain(), sosgo.Options{Offline: true, NoLocalFiles: true}) // without its modules
		require.NoError(t, err)
		defer d.Close()
		v, err := d.View("")
		require.NoError(t, err)
		questions := map[string]func() error{
			"requests":            func() error { _, err := v.Requests(t.Context()); return err },
			"messages":            func() error { _, err := v.Messages(t.Context()); return err },
			"clients":             func() error { _, err := v.HTTPClients(t.Context()); return err },
			"hubs":                func() error { _, err := v.SignalR(t.Context()); return err },
			"sessions":            func() error { _, err := v.Sessions(t.Context()); return err },
			"Redis":               func() error { _, err := v.Redis(t.Context()); return err },
			"object pools":        func() error { _, err := v.ObjectPools(t.Context()); return err },
			"queues of libraries": func() error { _, err := v.Queues(t.Context()); return err },
			"event sources":       func() error { _, err := v.EventSources(t.Context()); return err },
			"COM wrappers":        func() error { _, err := v.ComWrappers(t.Context()); return err },
			"WebSockets":          func() error { _, err := v.WebSockets(t.Context()); return err },
			"gRPC":                func() error { _, err := v.GRPCCalls(t.Context()); return err },
			"SQL":                 func() error { _, err := v.SQLPools(t.Context()); return err },
			"scopes":              func() error { _, err := v.ServiceScopes(t.Context()); return err },
			"caches":              func() error { _, err := v.Caches(t.Context()); return err },
			"hosts":               func() error { _, err := v.Hosts(t.Context()); return err },
			"contexts":            func() error { _, err := v.DbContexts(t.Context()); return err },
			"flows":               func() error { _, err := v.Flows(t.Context()); return err },
			"tasks":               func() error { _, err := v.Tasks(t.Context()); return err },
			"async":               func() error { _, err := v.AsyncStacks(t.Context()); return err },
			"calls":               func() error { _, err := v.AsyncCalls(t.Context()); return err },
			"waits":               func() error { _, err := v.Waits(t.Context()); return err },
			"pool":                func() error { _, err := v.ThreadPool(t.Context()); return err },
			"queues":              func() error { _, err := v.WorkQueues(t.Context()); return err },
			"timers":              func() error { _, err := v.Timers(t.Context()); return err },
		}
		for name, ask := range questions {
			assert.ErrorIs(t, ask(), target.ErrNotInDump, name)
		}
		return len(questions)
	})
}
