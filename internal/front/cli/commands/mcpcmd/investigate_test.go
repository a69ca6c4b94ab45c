package mcpcmd

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/mcpserver"
)

// investigated answers investigate from documents by command.
func investigated(t *testing.T, documents map[string]any) (*mcpserver.Composed, string) {
	t.Helper()
	ask := func(_ context.Context, words ...string) (*mcpserver.Composed, error) {
		c := &mcpserver.Composed{Document: map[string]any{"command": words[0], "error": "not read"}, Exit: 3}
		if d, ok := documents[words[0]]; ok {
			c.Document["result"] = plain(d)
		}
		return c, nil
	}
	c, err := (&asker{}).investigate(t.Context(), ask, nil)
	require.NoError(t, err)
	raw, err := json.Marshal(c.Document)
	require.NoError(t, err)
	return c, string(raw)
}

// TestInvestigateUnanswered: a question without an answer is named, and not recommended again.
func TestInvestigateUnanswered(t *testing.T) {
	c, text := investigated(t, map[string]any{"triage": map[string]any{"findings": []any{map[string]any{"kind": "waits", "text": "it hangs", "next": []string{"waits"}}}}})
	assert.Contains(t, text, "not answered: requests, waits")
	assert.NotContains(t, text, `"tool":"waits"`)
	assert.Equal(t, "not read", c.Document["error"])
	assert.Equal(t, 3, c.Exit)
}

// TestInvestigateSize: names of any length and number leave investigate within its limit.
func TestInvestigateSize(t *testing.T) {
	long := strings.Repeat("<\u20ac", 500)
	many := func(m map[string]any) (out []any) {
		for range 40 {
			out = append(out, m)
		}
		return out
	}
	f := map[string]any{"kind": "waits", "severity": "fatal", "strength": "proved", "text": long, "next": []string{"waits '", "leaks '", "crashinfo '", "verifyheap '"}} // no calls: they have quotes
	frame := map[string]any{"method": long, "function": "a!" + long}
	_, text := investigated(t, map[string]any{
		"triage": map[string]any{"findings": many(f)},
		"waits": map[string]any{"threads": many(map[string]any{"text": long, "name": long, "method": long}),
			"operations": many(map[string]any{"text": long, "method": long, "state": long, "first": []string{long}, "count": 7})},
		"requests":   map[string]any{"requests": many(map[string]any{"method": long, "route": long, "state": long, "context": "1"})},
		"leaks":      map[string]any{"suspects": many(map[string]any{"text": long, "path": map[string]any{"root": map[string]any{"name": long}}})},
		"dumpheap":   map[string]any{"statistics": many(map[string]any{"type": long})},
		"crashinfo":  map[string]any{"stack": many(frame), "exceptions": many(map[string]any{"type": long, "message": long, "frames": many(frame)})},
		"verifyheap": map[string]any{"faults": many(map[string]any{"reason": long})},
	})
	assert.LessOrEqual(t, len(text), mostInvestigation, text)
	assert.Contains(t, text, `"finding"`)
}

// TestInvestigateSamples: some objects of the largest holder stand in the answer with their fields, and places in the source stay however long a name is.
func TestInvestigateSamples(t *testing.T) { // the commands of the finding are no calls: they have quotes
	long := strings.Repeat("Long", 300)
	var addresses []any
	for i := range 30 {
		addresses = append(addresses, map[string]any{"address": "0x" + strings.Repeat("1", i+1)})
	}
	_, text := investigated(t, map[string]any{
		"triage": map[string]any{"findings": []any{map[string]any{"kind": "large holder", "text": "it holds much", "next": []string{"leaks '", "waits '"}}}},
		"leaks":  map[string]any{"suspects": []any{map[string]any{"text": "a list", "members": map[string]any{"type": "Shop.Order", "count": 3000}}}},
		"query":  map[string]any{"rows": addresses},
		"dumpobj": map[string]any{"fields": []any{map[string]any{"name": "Total", "kind": "instance", "value": 42},
			map[string]any{"name": "All", "kind": "static", "value": 7}}},
		"waits": map[string]any{"threads": []any{map[string]any{"text": "a lock", "method": "Shop." + long, "file": "/src/Order.cs", "line": 17}}},
	})
	var answer struct {
		Result struct {
			Samples struct {
				Type    string
				Of      int
				Objects []string
			}
			Waits []struct{ Method string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	s := answer.Result.Samples
	assert.Equal(t, "Shop.Order", s.Type)
	assert.Equal(t, 3000, s.Of)
	assert.Equal(t, []string{"0x1 Total=42", "0x" + strings.Repeat("1", 11) + " Total=42", "0x" + strings.Repeat("1", 21) + " Total=42"}, s.Objects)
	require.Len(t, answer.Result.Waits, 1)
	assert.Regexp(t, `… \(Order\.cs:17\)$`, answer.Result.Waits[0].Method)
	assert.LessOrEqual(t, len(text), mostInvestigation)
}
