package mcpcmd_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testmcp"
)

var update = flag.Bool("update", false, "write the table of docs/mcp.md")

const (
	root      = "../../../../../"
	mostCalls = 4       // calls that an agent may need
	mostBytes = 24_000  // bytes that it may have to read in all of them
	mostFirst = 4 << 10 // bytes of the answer of investigate
)

// causes are faults that programs were made to have: the words that name each come out of the program's source or the
// dump's manifest.
var causes = []struct {
	fault, dump string
	words       []string
}{
	{"crash", "net10-crash-nested", []string{"Debuggee.Crash.OrderException", "order 1042 failed", "System.FormatException", "not a number 1042", "Debuggee.Crash.Scenario.Validate"}},
	{"deadlock", "net10-stacks", []string{"deadlock one", "deadlock two", "Debuggee.Stacks.Scenario.s_first", "Debuggee.Stacks.Scenario.s_second"}},
	{"starved pool", "net10-async", []string{"starved", "all 2 workers", "Debuggee.AsyncWork.Scenario.Queued"}},
	{"leak by a static field", "planted/net10-leak", []string{"static Bookkeeping.Ledger.Receipts", "3000", "Bookkeeping.Receipt"}},
	{"channel full", "locks/net10-mixed", []string{"room in a channel", "2 of 2 items", "Contoso.Mixed.Writer"}},
	{"semaphore lost", "waits/net10-asyncwaits", []string{"Shop.Database.Connections.gate", "0 of 10 may enter", "60", "Shop.Program.Request"}},
	{"stack overflow", "planted/net10-overflow", []string{"the stack overflowed", "X.M.Even", "X.M.Odd"}},
	{"out of memory", "planted/net10-limit", []string{"System.OutOfMemoryException", "96.0 MB", "static Quotes.History.Days"}},
	{"web requests that hang", "web/web-net10", []string{"GET /orders/{id:int}", "WebDebuggee.Handlers.GetOrder", "GET /stock/{sku}", "WebDebuggee.Gates.StockLock", "stock keeper"}},
	{"damaged heap", "planted/net10-overrun", []string{"the heap is damaged", "5a5a5a5a5a5a5a5a", "System.Byte[]"}},
}

// TestAgent: an agent that makes no call but investigate and those that answers recommend, in their order, finds what
// programs were made to fail by.
func TestAgent(t *testing.T) {
	if _, err := os.Stat(root + "testdata/dumps"); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	table := []string{"| fault | words that name it | calls | KB read |", "|---|---|---|---|"}
	for _, c := range causes {
		t.Run(c.fault, func(t *testing.T) {
			calls, size := agent(t, filepath.Join(root+"testdata/dumps", c.dump, filepath.Base(c.dump)+".dmp.zst"), c.words)
			t.Logf("%d calls, %d bytes", calls, size)
			assert.LessOrEqual(t, calls, mostCalls)
			assert.LessOrEqual(t, size, mostBytes)
			table = append(table, fmt.Sprintf("| %s | `%s` | %d | %.1f |", c.fault, strings.Join(c.words, "`, `"), calls, float64(size)/1024))
		})
	}
	if !t.Failed() && len(table) == len(causes)+2 {
		checkTable(t, table)
	}
}

// agent looks for words in the answers about a dump, and returns the calls that it needed and the bytes that it read.
func agent(t *testing.T, dump string, words []string) (calls, size int) {
	t.Helper()
	dump = testcase.Plain(dump)
	c := connect(t, environment(), dump)
	missing := func(read string) (out []string) {
		for _, w := range words {
			if !strings.Contains(read, w) {
				out = append(out, w)
			}
		}
		return out
	}
	var read strings.Builder
	made := map[string]bool{}
	todo := []next{{Tool: "investigate"}}
	for len(todo) > 0 && calls < mostCalls {
		n := todo[0]
		todo = todo[1:]
		if made[n.key()] {
			continue
		}
		made[n.key()] = true
		text, recommended := n.make(t, c)
		text = strings.ReplaceAll(text, dump, filepath.Base(dump)) // the folder is this machine's
		if calls++; calls == 1 {
			assert.LessOrEqual(t, len(text), mostFirst)
			assert.NotEmpty(t, recommended)
		}
		size += len(text)
		read.WriteString(text)
		if len(missing(read.String())) == 0 {
			return calls, size
		}
		todo = append(todo, recommended...)
	}
	assert.Empty(t, missing(read.String()), "not found in %d calls", calls)
	return calls, size
}

// A next is a call that an answer recommends.
type next struct {
	Tool      string
	Arguments map[string]any
}

func (n *next) key() string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// make makes a call. It returns the text that an agent reads, and the calls that it recommends.
func (n *next) make(t *testing.T, c *testmcp.Client) (text string, recommended []next) {
	t.Helper()
	r, err := c.Call(t.Context(), n.Tool, n.Arguments, nil)
	require.NoError(t, err)
	require.False(t, r.Failed, r.Text)
	var a struct {
		Document struct {
			Result any
		}
	}
	require.NoError(t, json.Unmarshal(r.Structured, &a))
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if list, ok := v["next"].([]any); ok {
				for _, e := range list {
					m, _ := e.(map[string]any)
					tool, _ := m["tool"].(string)
					arguments, _ := m["arguments"].(map[string]any)
					require.NotEmpty(t, tool, "%v is no call", e)
					recommended = append(recommended, next{tool, arguments})
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(a.Document.Result)
	return r.Text, recommended
}

// checkTable compares the table of docs/mcp.md with what was measured; -update writes it.
func checkTable(t *testing.T, table []string) {
	t.Helper()
	const file, begin, end = root + "docs/mcp.md", "<!-- agent -->\n", "<!-- /agent -->\n"
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok)
	old, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	text := strings.Join(table, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+text+end+after), 0o644))
		return
	}
	assert.Equal(t, old, text, "go test ./internal/front/cli/commands/mcpcmd -run TestAgent -update writes it")
}
