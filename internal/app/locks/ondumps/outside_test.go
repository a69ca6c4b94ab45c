package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
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
