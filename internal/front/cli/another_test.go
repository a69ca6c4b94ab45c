package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/report"
)

// TestOpenAnother: another dump is opened with the options of the session's own, and closed when its command ends; in a
// sandbox it can't be.
func TestOpenAnother(t *testing.T) {
	closed, seen := 0, map[string]OpenOptions{}
	env := Env{Open: func(_ context.Context, path string, o OpenOptions) (Dump, error) {
		if path == "none" {
			return nil, errors.New("it is none")
		}
		seen[path] = o
		return fakeDump{&closed}, nil
	}, Sandbox: func(context.Context, Dump) error { return nil },
		Commands: []Command{Do(Command{Name: "with", Group: GroupMemory, Summary: "open another", NeedsDump: true},
			func(c *Context, o *fakeWord) (report.Answer, error) {
				d, err := c.OpenAnother(o.Word)
				if err != nil {
					return report.Answer{}, err
				}
				return report.SayText(func(p *report.Page) { p.Printf("%t %d\n", d != nil, closed) }), &GateError{Text: "too much"}
			})}}
	sosgo := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &errs, env)
		return out.String(), errs.String(), code
	}
	out, errs, code := sosgo("-d", "own", "--offline", "--jobs", "3", "with", "second")
	assert.Equal(t, "true 0\n", out, "it is open while the answer is written")
	assert.Equal(t, ExitGate, code)
	assert.Contains(t, errs, "too much")
	assert.Equal(t, 2, closed)
	require.Contains(t, seen, "second")
	assert.True(t, seen["second"].Offline)
	assert.Equal(t, seen["own"].Jobs, seen["second"].Jobs)
	for _, args := range [][]string{{"-d", "own", "with", "none"}, {"-d", "own", "with", "-"}, {"-d", "own", "--sandbox", "with", "second"}} {
		_, errs, code = sosgo(args...)
		assert.Equal(t, ExitOpen, code, "%s: %s", args, errs)
	}
}
