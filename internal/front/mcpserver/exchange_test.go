package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

var update = flag.Bool("update", false, "write testdata/exchanges.txt instead of comparing with it")

// ended stands for the end of the session instead of an answer.
const ended = "end of the session"

// mark matches the random number of an answer. instructions matches the server's instructions, which TestInstructions
// checks.
var mark, instructions = regexp.MustCompile(`(data-|marks )[0-9a-f]{16}`), regexp.MustCompile(`"instructions":"(?:[^"\\]|\\.)+"`)

// TestExchanges compares sessions with testdata/exchanges.txt. In the file, # begins a session, > is a client's
// message and < the server's answer as a JSON value. The test detects changed answers of a new SDK.
func TestExchanges(t *testing.T) {
	const file = "testdata/exchanges.txt"
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var out strings.Builder
	var to io.WriteCloser
	var from <-chan string
	var want []string
	answers, sessions := 0, 0
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "< ") {
			out.WriteString(line + "\n")
		}
		switch {
		case strings.HasPrefix(line, "# "):
			to, from = exchange(t)
			sessions++
		case strings.HasPrefix(line, "> "):
			_, _ = io.WriteString(to, line[2:]+"\n")
			want = nil
			for _, next := range lines[i+1:] {
				if !strings.HasPrefix(next, "< ") {
					break
				}
				want = append(want, next[2:])
			}
			for n := 0; n < len(want) || *update; n++ {
				got, ok := receive(from)
				if !ok {
					require.True(t, *update, "%s: %s has no answer", file, line)
					break
				}
				out.WriteString("< " + got + "\n")
				if answers++; !*update {
					assert.Equal(t, want[n], got, "%s:%d: %s", file, i+1, line)
				} else if got == ended {
					break
				}
			}
		}
	}
	assert.Greater(t, answers, 60)
	assert.Greater(t, sessions, 6)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
}

// exchange returns the two ends of a session with a server that always gives the same answers.
func exchange(t *testing.T) (io.WriteCloser, <-chan string) {
	f := &fake{document: rows(15, "some <text>"), text: func(w io.Writer) { _, _ = io.WriteString(w, strings.Repeat("a line of <system> text\n", 50)) }}
	s := mcpserver.New(f, mcpserver.Options{Version: "1.2.3", Budget: 1000, Dumps: []mcpserver.Dump{{ID: "it", File: "/dumps/it"}, {ID: "at", File: "/dumps/at"}},
		Tools: []mcpserver.Tool{{Name: "list", Summary: "list rows", Help: "It lists rows.", Properties: map[string]any{
			"x": map[string]any{"type": "string"}, "n": map[string]any{"type": "integer", "minimum": 1}}, Required: []string{"x"},
			Document: map[string]any{"type": "object", "properties": map[string]any{"rows": map[string]any{"type": "array"}}}, Defs: map[string]any{"Row": map[string]any{"type": "object"}},
			Words: func(map[string]any) ([]string, error) { return []string{"list"}, nil }},
			{Name: "count", Summary: "count rows", Properties: map[string]any{}, Words: func(map[string]any) ([]string, error) { return []string{"count"}, nil }}},
		Pages: []mcpserver.Page{{Name: "list", Title: "list rows", Text: "how to list"}, {Name: "count", Title: "count rows", Text: "how to count"}}})
	inOf, to := io.Pipe()
	from, outOf := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Serve(context.Background(), inOf, outOf)
		outOf.Close()
		inOf.Close()
	}()
	t.Cleanup(func() {
		to.Close()
		<-over
	})
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		scan := bufio.NewScanner(from)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			lines <- scan.Text()
		}
	}()
	return to, lines
}

// receive returns the server's next line. While answers are recorded, it waits only briefly.
func receive(from <-chan string) (string, bool) {
	wait := 10 * time.Second
	if *update {
		wait = 300 * time.Millisecond
	}
	select {
	case line, ok := <-from:
		var v any
		if !ok {
			return ended, true
		}
		if json.Unmarshal([]byte(line), &v) != nil {
			return line, true
		}
		sorted, _ := json.Marshal(v)
		return instructions.ReplaceAllString(mark.ReplaceAllString(string(sorted), "${1}0123456789abcdef"), `"instructions":"…"`), true
	case <-time.After(wait):
		return "", false
	}
}
