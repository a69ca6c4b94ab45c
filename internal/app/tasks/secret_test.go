package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/test/plants"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSecretVariables: what is hidden beside a name for a secret depends on the value and not on its line: a Guid that begins with a letter is hidden, a boxed Boolean is not. This
// holds for stacks, merged stacks and calls.
func TestSecretVariables(t *testing.T) {
	truth := plants.Read(t, "../../..", "net10-kinds")
	d, _ := testdump.OverlaidFile(t, truth.Dump, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	o := tasks.StackOptions{Variables: true, Fields: true}
	ctx := secrets.WithMask(t.Context(), secrets.NewMasker().Text)
	list, err := async.Stacks(ctx, v.Process, async.StackOptions{StackOptions: o})
	require.NoError(t, err)
	merged, err := async.Stacks(ctx, v.Process, async.StackOptions{StackOptions: o, Form: async.Merged})
	require.NoError(t, err)
	calls, err := async.Calls(ctx, v.Process, o)
	require.NoError(t, err)
	seen := 0
	variables := func(where string, list []answer.AsyncVariable) {
		for _, one := range list {
			switch one.Name {
			case "password", "clientSecret", "appSecret":
				seen++
				assert.Equal(t, secrets.Mask, one.Value, "%s: %s", where, one.Name)
			case "secretFound":
				seen++
				assert.Equal(t, "(System.Boolean) true", one.Value, where)
			}
		}
	}
	fields := 0
	for s, err := range list.Stacks {
		require.NoError(t, err)
		for i := range s.Frames {
			variables("stacks", s.Frames[i].Variables)
			for k := range s.Frames[i].Fields {
				switch f := &s.Frames[i].Fields[k]; f.Name.S {
				case "password", "clientSecret", "appSecret":
					fields++
					assert.Contains(t, []string{secrets.Mask, `"` + secrets.Mask + `"`}, f.Plain(), f.Name.S)
				case "secretFound":
					fields++
					assert.Equal(t, "(System.Boolean) true", f.Plain())
				case "login":
					fields++
					members := f.Members.List()
					require.Len(t, members, 2)
					assert.Contains(t, members[1].Plain(), secrets.Mask)
				}
			}
		}
	}
	for _, g := range merged.Merged {
		for _, m := range g.Members {
			variables("merged", m.Variables)
		}
	}
	for i := range calls.Calls {
		variables("calls", calls.Calls[i].Variables)
	}
	assert.Equal(t, 3*4, seen)
	assert.Equal(t, 5, fields)
}
