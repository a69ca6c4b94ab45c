package acceptance_test

import (
	"bytes"
	"context"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// saysNone matches the statements that there are no objects or classes of a kind in the output of
// commands.
var saysNone = regexp.MustCompile(`(?m)^(No [^.]*( found|failed)|No (matching )?(requests|tasks|stacks)\b|0 HttpClient|There are no |The process has not used )`)

// otherFacts are commands with such a statement about other data, which the dump has.
var otherFacts = map[string]bool{"eeheap": true} // the loader heaps

// unfound runs each command on a dump in which it can't find its objects. It returns the commands
// that failed for that reason.
func unfound(t *testing.T, raw []byte) map[string]bool {
	t.Helper()
	d, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), sosgo.Options{NoLocalFiles: true, Jobs: 2})
	require.NoError(t, err)
	defer d.Close()
	failed := map[string]bool{}
	for _, name := range plainCommands() {
		out := runEnv(t.Context(), cli.Env{KeepOpen: true, Open: func(context.Context, string, cli.OpenOptions) (cli.Dump, error) { return d.Dump, nil }},
			"-d", "dump", "-jobs", "2", "-c", name)
		failed[name] = out.code == cli.ExitNotInDump || out.code == cli.ExitUnsupported
		if !failed[name] && !otherFacts[name] {
			assert.NotRegexp(t, saysNone, out.stdout, "%s ends with %d", name, out.code)
		}
	}
	return failed
}

// finders are commands that find objects by their types.
var finders = []string{"requests", "host", "sqlpools", "redis", "signalr", "sessions", "objectpools", "queues", "eventsources", "comwrappers", "tasks", "dumpasync", "httpclients", "flows", "initializers",
	"contexts", "locks", "threadpool", "caches", "services", "dbcontexts", "websockets", "grpc", "dumprequests", "dumphttp"}

// TestNoneWithoutHeap: a dump without the objects of the heap does not show that a kind has no
// objects.
func TestNoneWithoutHeap(t *testing.T) {
	for _, name := range []string{"net10-crash-null-triage", "win-net10-zoo-triage"} {
		t.Run(name, func(t *testing.T) {
			d := testdump.Open(t, name)
			failed := unfound(t, mustRaw(t, d))
			for _, f := range finders {
				assert.True(t, failed[f], f)
			}
			v, err := d.View("")
			require.NoError(t, err)
			triage, err := triage.Triage(t.Context(), v.Process, triage.Options{})
			require.NoError(t, err)
			unknown := map[string]bool{}
			for _, u := range triage.Unknown {
				unknown[u.Subject] = !u.Partly
			}
			for _, s := range []string{"database connections", "HTTP clients", "Redis", "failed tasks", "hosted services", "type initializers", "thread pool"} {
				assert.True(t, unknown[s], s)
				assert.NotContains(t, triage.Quiet, s)
			}
		})
	}
}

// TestNoneWithoutNames: a NativeAOT type without a name may be the one that a command looks for.
func TestNoneWithoutNames(t *testing.T) {
	raw := bytes.Clone(mustRaw(t, testdump.Open(t, "nativeaot-crash")))
	signature := []byte{0xfd, 0xdf, 0xad, 0xde} // the program's metadata
	require.Equal(t, 1, bytes.Count(raw, signature))
	failed := unfound(t, bytes.Replace(raw, signature, make([]byte, len(signature)), 1))
	for _, f := range finders {
		assert.True(t, failed[f], f)
	}
}

// TestStaticsHideNothing: a NativeAOT program has no names for the types of the objects with its static fields. These objects are
// known by their places, so no subject is unknown for lack of the names.
func TestStaticsHideNothing(t *testing.T) {
	testdump.Native(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		found, err := triage.Triage(t.Context(), v.Process, triage.Options{})
		require.NoError(t, err)
		for _, s := range []string{"failed tasks", "database connections", "HTTP clients", "Redis", "hosted services"} {
			assert.Contains(t, found.Quiet, s)
		}
	})
}

// TestNoneWithoutFields: the canned NativeAOT program has a name for each type, so it provably has
// no requests. Its heap has a task with unknown fields, and threads with unknown contexts.
func TestNoneWithoutFields(t *testing.T) {
	v := nativeView(t)
	requests, err := web.Requests(t.Context(), v.Process, web.RequestOptions{})
	require.NoError(t, err)
	assert.Empty(t, requests.Noted())
	_, err = async.Tasks(t.Context(), v.Process, tasks.ListOptions{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = async.Stacks(t.Context(), v.Process, async.StackOptions{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = async.Calls(t.Context(), v.Process, tasks.StackOptions{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = flows.Flows(t.Context(), v.Process, flows.Options{})
	assert.ErrorIs(t, err, target.ErrUnsupported)
}
