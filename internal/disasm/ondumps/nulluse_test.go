package ondumps_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestNullUses: the uses of references in the statements at return addresses of a dump are in their IL. They include
// the call that returns there, if it is made on a reference.
func TestNullUses(t *testing.T) {
	found, calls := 0, 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		stacks, err := stacks.Stacks(t.Context(), v.Process, stacks.Options{StackOptions: threads.StackOptions{Source: true}})
		if err != nil {
			return // a dump without stacks
		}
		l := disasm.NewLister(rt, objects.New(rt))
		for f, err := range stacks.Frames {
			if err != nil || f.IP.Value == 0 {
				continue
			}
			ip := target.Addr(f.IP.Value)
			uses, err := l.NullUses(ip)
			if err != nil {
				assert.True(t, errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrUnsupported), err)
				continue
			}
			_, statement, err := dac.CodeOf(rt).Statement(ip)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(uses), len(statement))
			for _, u := range uses {
				found++
				assert.Regexp(t, "null (reference|array) was|on a null reference$", u.What)
				if u.Calls {
					calls++
					assert.Zero(t, u.At)
					assert.NotContains(t, u.What, "[System", "names have no scopes")
				}
			}
		}
	})
	assert.NotZero(t, found)
	assert.NotZero(t, calls)
}
