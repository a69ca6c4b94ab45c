package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestOutside checks which waits for child processes and for the server of a pipe are listed, with what they wait for, and which of them are a
// conclusion: six threads and six operations of each kind wait for /bin/sleep to end, for its output, and for data of the pipe depot-mute, and six threads for a
// server of depot-none. Three children of tail are few, twelve loops that read from depot-feed wait for messages, and two servers wait for clients.
func TestOutside(t *testing.T) {
	w := waitsOf(t, "../../../../testdata/dumps/waits/net9-outside/net9-outside.dmp.zst")
	threads := map[string]int{}
	for _, x := range w.Threads {
		name, _, _ := strings.Cut(x.Thread.Name, " ")
		thing, number, numbered := strings.Cut(x.Text, " process ")
		if numbered {
			thing += number[strings.IndexByte(number, ' '):]
		}
		threads[name+": "+string(x.Kind)+" in "+x.Method.S+" "+thing]++
	}
	assert.Equal(t, map[string]int{
		"converter: process in Depot.Converter.Convert waits for the end of (/bin/sleep)":      6,
		"collector: process in Depot.Converter.Collect waits for the output of (/bin/sleep)":   6,
		"label: stream in Depot.Label.Ask waits for data from the pipe depot-mute":             6,
		"finder: connection in Depot.Label.Find waits for a connection to the pipe depot-none": 6,
		"feed: stream in Depot.Label.Listen waits for data from the pipe depot-feed":           6,
		"young: process in Depot.Converter.Convert waits for the end of (/usr/bin/tail)":       3,
	}, threads)
	operations := map[string]answer.WaitKind{}
	for _, x := range w.Operations {
		assert.Equal(t, 6, x.Count)
		says := x.Text
		if before, number, ok := strings.Cut(says, " process "); ok {
			says = before + number[strings.IndexByte(number, ' '):]
		}
		operations[x.Method.S+" "+says] = x.Kind
	}
	assert.Equal(t, map[string]answer.WaitKind{
		"Depot.Converter.ConvertAsync waits for the end of (/bin/sleep) and of 5 others":    answer.WaitProcess,
		"Depot.Converter.CollectAsync waits for the output of (/bin/sleep) and of 5 others": answer.WaitProcess,
		"Depot.Label.AskLineAsync waits for data from the pipe depot-mute":                  answer.WaitStream,
		"Depot.Label.ListenAsync waits for data from the pipe depot-feed":                   answer.WaitStream,
	}, operations)
	var found []string
	for _, x := range w.Verdicts {
		if x.Kind == answer.FindingWait {
			continue // see TestUnreadOutput
		}
		assert.Equal(t, answer.FindingDependency, x.Kind, x.Text)
		assert.Equal(t, answer.StrengthPossible, x.Strength)
		assert.Equal(t, answer.SeverityWarning, x.Severity)
		before, number, ok := strings.Cut(x.Text, " process ")
		if ok {
			before += number[strings.IndexByte(number, ' '):]
		}
		found = append(found, before)
	}
	assert.ElementsMatch(t, []string{
		"12 threads and operations wait for the end of (/bin/sleep) and of 11 others",
		"12 threads and operations wait for the output of (/bin/sleep) and of 11 others",
		"12 threads and operations wait for data from the pipe depot-mute",
		"6 threads and operations wait for a connection to the pipe depot-none",
	}, found)
	idle := map[string]int{}
	for _, x := range w.Idle {
		idle[x.Reason] += x.Count
	}
	assert.Equal(t, 2, idle["accepts connections"])
}

// TestUnreadOutput checks that threads which wait for the end of children, and have not begun to read what these write, are found: all of Convert. Those of
// which the Process says that code reads are left out.
func TestUnreadOutput(t *testing.T) {
	const path = "../../../../testdata/dumps/waits/net9-outside/net9-outside.dmp.zst"
	d, over := testdump.OverlaidFile(t, path, sosgo.Options{Offline: true})
	ask := func() (w *answer.Waits, found []string) {
		w, err := reader(t, d).Waits(t.Context(), locks.Options{})
		require.NoError(t, err)
		for _, x := range w.Verdicts {
			if strings.Contains(x.Text, "no code has begun to read its redirected output") {
				assert.Equal(t, []any{answer.FindingWait, answer.StrengthPossible, answer.SeverityWarning}, []any{x.Kind, x.Strength, x.Severity})
				threads, file, _ := strings.Cut(x.Text, "wait for the end of process ")
				found = append(found, threads+file[strings.IndexByte(file, '('):strings.IndexByte(file, ')')+1])
			}
		}
		return w, found
	}
	w, found := ask()
	assert.Equal(t, []string{`6 threads, the first 8 "converter 0", (/bin/sleep)`, `3 threads, the first 42 "young 0", (/usr/bin/tail)`}, found)
	objs, err := view(t, d).Objects()
	require.NoError(t, err)
	var begun []testdump.Damage
	for _, x := range w.Threads {
		if strings.HasPrefix(x.Thread.Name, "young") || x.Thread.Name == "converter 0" {
			o, err := objs.Object(x.Object)
			require.NoError(t, err)
			begun = append(begun, testdump.Words(o.Field("_outputStreamReadMode").Location(), 1))
		}
	}
	require.Len(t, begun, 4)
	over.Set(begun...)
	_, found = ask()
	assert.Equal(t, []string{`5 threads, the first 17 "converter 1", (/bin/sleep)`}, found)
}
