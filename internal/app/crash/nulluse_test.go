package crash_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestFieldsThatAreSet checks that a null reference is not among those that a statement has read from fields that refer to objects: of
// Host.Current.Log.Write(s.Trim()), only s is left. If Log is null in the dump, too, it may be either.
func TestFieldsThatAreSet(t *testing.T) {
	const file = "../../../testdata/dumps/values/net10-nulls/net10-nulls.dmp.zst"
	said := func(d *sosgo.Dump) (out []string) {
		v, err := d.View("")
		require.NoError(t, err)
		page, err := crash.Describe(t.Context(), v.Process, crash.Options{})
		require.NoError(t, err)
		for i := range page.Verdicts {
			if c := &page.Verdicts[i]; c.Says == words.NullUses.Kind() {
				out = append(out, c.Text)
			}
		}
		return out
	}
	d, err := sosgo.Open(file, sosgo.Options{Offline: true})
	require.NoError(t, err)
	defer d.Close()
	assert.Equal(t, []string{"System.String.Trim was called on a null reference"}, said(d))

	v, err := d.View("")
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	page, err := crash.Describe(t.Context(), v.Process, crash.Options{})
	require.NoError(t, err)
	uses, err := disasm.NewLister(rt, objects.New(rt)).NullUses(page.Exceptions[0].Frames[0].IP)
	require.NoError(t, err)
	at := slices.IndexFunc(uses, func(u disasm.NullUse) bool { return len(u.From) == 2 })
	require.GreaterOrEqual(t, at, 0, "Write is called on a field of a static field's object")
	host, log := uses[at].From[0], uses[at].From[1]
	typ, err := objects.New(rt).Type(host.MethodTable)
	require.NoError(t, err)
	current, err := typ.StaticField("Current")
	require.NoError(t, err)
	o, err := current.StaticValue().Value.Object()
	require.NoError(t, err)
	draft := testdump.OpenDraft(t, file, sosgo.Options{Offline: true})
	draft.Set(testdump.Words(o.Addr+8+target.Addr(log.Offset), 0))
	assert.Equal(t, []string{"System.String.Trim was called on a null reference, or Quay.Writer.Write was called on a null reference"}, said(draft.Dump))
}

// TestTouching checks that the faulting address selects among a statement's reference uses, and never excludes all.
func TestTouching(t *testing.T) {
	field, far, lost := disasm.NullUse{What: "field", At: 16}, disasm.NullUse{What: "far", At: 24}, disasm.NullUse{What: "lost", At: -1}
	call, element := disasm.NullUse{What: "call", Calls: true}, disasm.NullUse{What: "element", At: 8}
	for _, c := range []struct {
		uses, want []disasm.NullUse
		at         int64
	}{
		{[]disasm.NullUse{field, call}, []disasm.NullUse{call}, 0},
		{[]disasm.NullUse{field, call}, []disasm.NullUse{field}, 16},
		{[]disasm.NullUse{field, far, element}, []disasm.NullUse{element}, 8},
		{[]disasm.NullUse{far, call}, []disasm.NullUse{call}, 8},         // the called method's code takes the place of the call
		{[]disasm.NullUse{far, lost}, []disasm.NullUse{lost}, 16},        // a use with an unknown offset
		{[]disasm.NullUse{field, far}, []disasm.NullUse{field, far}, 32}, // a field of a value in a field
		{nil, nil, 8},
	} {
		assert.Equal(t, c.want, crash.Touching(c.uses, c.at), c.uses)
	}
}
