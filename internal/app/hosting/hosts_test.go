package hosting_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/hosting"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// stoppingHost is a dump of testdata/dumps/host/net10-host/HostState.cs, run with "background".
const stoppingHost = "../../../testdata/dumps/host/net10-host/net10-host.dmp.zst"

// failedHost is a dump of testdata/dumps/host/net10-hostfails/HostFails.cs.
const failedHost = "../../../testdata/dumps/host/net10-hostfails/net10-hostfails.dmp.zst"

// startingHosts is a dump of testdata/dumps/host/net9-hoststarts/HostStarts.cs.
const startingHosts = "../../../testdata/dumps/host/net9-hoststarts/net9-hoststarts.dmp.zst"

func hostView(t *testing.T, path string) *sosgo.View {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d, err := sosgo.Open(path, sosgo.Options{Offline: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	return v
}

// TestHostThatStops compares the services of a host with the source of the program: one has failed, one has completed,
// and the StopAsync of another one waits.
func TestHostThatStops(t *testing.T) {
	v := hostView(t, stoppingHost)
	out, err := hosting.Hosts(t.Context(), v.Process)
	require.NoError(t, err)
	for _, err := range out.Noted() { // this dump was cut before anything read the methods of a failure's stack trace
		assert.ErrorIs(t, err, target.ErrNotInDump)
		assert.ErrorContains(t, err, "MethodDesc")
	}
	require.Len(t, out.Hosts, 1)
	h := out.Hosts[0]
	assert.Equal(t, []string{"HostState", "Production", answer.HostStopping, "StopHost", "01:00:00"},
		[]string{h.Application.S, h.Environment.S, h.State.S, h.OnException.S, h.ShutdownTimeout.S})
	type row struct {
		name       string
		background bool
		state      string
		stopping   bool
	}
	var rows []row
	for _, s := range h.Services {
		rows = append(rows, row{s.Type.S, s.Background, s.State.S, s.Stopping != nil})
	}
	assert.Equal(t, []row{
		{"HostState.Poller", true, answer.ServiceRunning, false},
		{"HostState.Seeder", true, answer.ServiceCompleted, false},
		{"HostState.Importer", true, answer.ServiceFailed, false},
		{"HostState.Stubborn", true, answer.ServiceRunning, true},
		{"HostState.Flusher", false, "", false},
	}, rows)
	require.Len(t, h.Services[2].Exceptions, 1)
	assert.Equal(t, "System.InvalidOperationException", h.Services[2].Exceptions[0].Type.S)
	assert.Equal(t, "the import file is empty", h.Services[2].Exceptions[0].Message.S)
	stop := h.Services[3].Stopping
	assert.Equal(t, "a promise (TaskCompletionSource)", stop.Reason.S)
	var methods []string
	for _, f := range stop.Frames {
		if !f.Method.IsZero() {
			methods = append(methods, f.Method.S)
		}
	}
	assert.Equal(t, []string{"HostState.Stubborn.ExecuteAsync", "Microsoft.Extensions.Hosting.BackgroundService.StopAsync",
		"Microsoft.Extensions.Hosting.Internal.Host.ForeachService<Microsoft.Extensions.Hosting.IHostedService>", "Microsoft.Extensions.Hosting.Internal.Host.StopAsync"}, methods)

	require.Len(t, out.Verdicts, 2)
	failed, stopping := out.Verdicts[0], out.Verdicts[1]
	assert.Equal(t, answer.FindingService, failed.Kind)
	assert.Equal(t, "the hosted service HostState.Importer failed: System.InvalidOperationException: the import file is empty; "+
		"the host stops when a service fails (BackgroundServiceExceptionBehavior.StopHost), and is stopping", failed.Text)
	assert.Equal(t, answer.FindingStopping, stopping.Kind)
	assert.Equal(t, "the host of HostState is stopping and waits for StopAsync of HostState.Stubborn, which waits for a promise (TaskCompletionSource)", stopping.Text)

	tasks, err := async.Tasks(t.Context(), v.Process, tasks.ListOptions{Faulted: true})
	require.NoError(t, err)
	assert.Empty(t, tasks.Faults, "the host has observed the exception")
	require.Len(t, tasks.Services, 1)
	assert.Equal(t, h.Services[2].Address, tasks.Services[0].Address)
}

// TestHostThatFailed checks that a host that did not start differs from one that is starting, and the exception that unwinds.
func TestHostThatFailed(t *testing.T) {
	out, err := hosting.Hosts(t.Context(), hostView(t, failedHost).Process)
	require.NoError(t, err)
	require.Len(t, out.Hosts, 2)
	failed, starting := out.Hosts[0], out.Hosts[1]
	assert.Equal(t, answer.HostStartFailed, failed.State.S)
	require.NotNil(t, failed.Failure)
	assert.Equal(t, "System.IO.IOException", failed.Failure.Type.S)
	assert.Equal(t, answer.HostStarting, starting.State.S, "its StartAsync is suspended")
	assert.Nil(t, starting.Failure)
	require.Len(t, out.Verdicts, 1)
	assert.Equal(t, answer.FindingService, out.Verdicts[0].Kind)
	assert.Equal(t, answer.StrengthLikely, out.Verdicts[0].Strength)
	assert.Equal(t, "the host of prog did not start: its StartAsync has ended: System.IO.IOException: Failed to bind to address http://127.0.0.1:5000: address already in use., "+
		"in Depot.Server.Bind", out.Verdicts[0].Text)
}

// TestHostsThatStart checks where hosts stand that have not started: in a method of a service, or in the await of its StartAsync. A host that
// runs is no finding.
func TestHostsThatStart(t *testing.T) {
	out, err := hosting.Hosts(t.Context(), hostView(t, startingHosts).Process)
	require.NoError(t, err)
	require.Len(t, out.Hosts, 3)
	blocked, waiting, running := out.Hosts[0], out.Hosts[1], out.Hosts[2]
	assert.Equal(t, []string{answer.HostStarting, answer.HostStarting, answer.HostRunning}, []string{blocked.State.S, waiting.State.S, running.State.S})
	require.NotNil(t, blocked.StartsOn)
	assert.Equal(t, []string{"starter", "Depot.Pump.ExecuteAsync"}, []string{blocked.StartsOn.Name, blocked.StartsIn})
	assert.Nil(t, waiting.StartsOn)
	require.NotNil(t, waiting.Services[0].Starting)
	assert.Nil(t, waiting.Services[1].Starting)
	require.Len(t, out.Verdicts, 2)
	for i, text := range []string{
		"the host of HostStarts is starting: thread 9 \"starter\" is in Depot.Pump.ExecuteAsync, and has not returned to the host",
		"the host of HostStarts is starting, and waits for StartAsync of Depot.Listener, which waits for a promise (TaskCompletionSource)",
	} {
		assert.Equal(t, answer.FindingStarting, out.Verdicts[i].Kind)
		assert.Equal(t, answer.StrengthRecorded, out.Verdicts[i].Strength)
		assert.Equal(t, text, out.Verdicts[i].Text)
	}
}

// TestHostThatFailedAndWasCaught checks that the exception of a host that did not start is named though no thread handles it any more: code that disposes
// of the host in an asynchronous method has caught it.
func TestHostThatFailedAndWasCaught(t *testing.T) {
	rt, err := hostView(t, failedHost).Runtime()
	require.NoError(t, err)
	threads, err := rt.Threads()
	require.NoError(t, err)
	d, over := testdump.OverlaidFile(t, failedHost, sosgo.Options{Offline: true})
	var damage []testdump.Damage
	for i := range threads {
		x := &threads[i]
		for at := x.Addr; x.ExInfo != 0 && at < x.Addr+0x1000; at += 8 {
			if word, err := target.Uint64(d.Target(), at); err == nil && word == uint64(x.ExInfo) {
				damage = append(damage, testcase.Words(at, 0))
			}
		}
	}
	require.NotEmpty(t, damage)
	over.Set(damage...)
	v, err := d.View("")
	require.NoError(t, err)
	out, err := hosting.Hosts(t.Context(), v.Process)
	require.NoError(t, err)
	require.NotNil(t, out.Hosts[0].Failure)
	assert.Contains(t, out.Verdicts[0].Text, "its StartAsync has ended: System.IO.IOException: Failed to bind to address http://127.0.0.1:5000: address already in use.")
}

// TestWebHost finds the running host of the web program. Its only service is the server.
func TestWebHost(t *testing.T) {
	testdump.Web(t, func(t *testing.T, d *testdump.Dump) int {
		v, err := d.View("")
		require.NoError(t, err)
		out, err := hosting.Hosts(t.Context(), v.Process)
		require.NoError(t, err)
		for _, err := range out.Noted() {
			assert.ErrorIs(t, err, target.ErrNotInDump) // the names of an enum
		}
		assert.Empty(t, out.Verdicts)
		require.Len(t, out.Hosts, 1)
		h := out.Hosts[0]
		assert.Equal(t, "WebDebuggee", h.Application.S)
		assert.Equal(t, answer.HostRunning, h.State.S)
		require.Len(t, h.Services, 1)
		assert.Equal(t, "Microsoft.AspNetCore.Hosting.GenericWebHostService", h.Services[0].Type.S)
		assert.False(t, h.Services[0].Background)
		return 1
	})
}

// TestMissingPartsOfHosts repeats the query, each time without one of the pieces of memory that the answer was read
// from. A smaller answer must have a note.
func TestMissingPartsOfHosts(t *testing.T) {
	if _, err := os.Stat(stoppingHost); err != nil {
		t.Skip("there are no canned dumps here")
	}
	d := testdump.Dump{Case: &testcase.Case{Name: "net10-host", Path: stoppingHost}}
	d.Sweep(t, 80, false, func(v *sosgo.View) (any, []error, error) {
		return testdump.Asked(hosting.Hosts(t.Context(), v.Process))
	})
}
