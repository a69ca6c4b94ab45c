package interop_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/interop"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

const observed = "../../../testdata/dumps/observed/net10-observed/"

func open(t *testing.T) (*sosgo.View, *testdump.Overlay, map[string]string) {
	t.Helper()
	text, err := os.ReadFile(observed + "facts.txt")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	require.NoError(t, err)
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		facts[name] = value
	}
	d, over := testdump.OverlaidFile(t, observed+"net10-observed.dmp.zst", sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	return v, over, facts
}

// TestWrappers compares the wrappers with the pointers and reference counts that the program printed.
func TestWrappers(t *testing.T) {
	v, _, facts := open(t)
	out, err := interop.ComWrappers(t.Context(), v.Process)
	require.NoError(t, err)
	assert.Empty(t, out.Noted())
	require.Len(t, out.Managed, 2)
	interfaces := map[string]int64{"order": 2, "sheet": 1}
	for _, w := range out.Managed {
		name := strings.ToLower(strings.TrimPrefix(w.Type.S, "Shop."))
		pointer, err := strconv.ParseUint(facts["ccw."+name], 16, 64)
		require.NoError(t, err)
		assert.Equal(t, facts["ccw."+name+".refs"], strconv.FormatInt(w.References.Value, 10))
		assert.Equal(t, answer.Known(interfaces[name]), w.Interfaces)
		assert.Equal(t, answer.Known[int64](0), w.Trackers)
		// The pointer of IUnknown follows those of the program's interfaces, which follow one to the wrapper.
		assert.Equal(t, target.Addr(pointer), w.Dispatches.Value+8*target.Addr(1+w.Interfaces.Value))
	}
	require.Len(t, out.Native, 2)
	unique := 0
	for _, w := range out.Native {
		assert.Equal(t, facts["rcw.shared"], strconv.FormatUint(uint64(w.External.Value), 16))
		assert.Equal(t, "Shop.Proxy", w.Type.S)
		assert.Equal(t, "Shop.Wrappers", w.Factory.S)
		assert.Equal(t, answer.Known(false), w.Aggregated)
		if w.Unique.Value {
			unique++
		}
	}
	assert.Equal(t, 1, unique)
}

// TestForeignWrapper checks that a structure that does not belong to its holder has no figures.
func TestForeignWrapper(t *testing.T) {
	v, over, _ := open(t)
	out, err := interop.ComWrappers(t.Context(), v.Process)
	require.NoError(t, err)
	over.Set(testdump.Damage{At: out.Managed[0].Wrapper.Value, Bytes: make([]byte, 8)})
	damaged, err := interop.ComWrappers(t.Context(), v.Process)
	require.NoError(t, err)
	assert.ErrorIs(t, damaged.Managed[0].References.Err(), target.ErrCorrupt)
	assert.NotEmpty(t, damaged.Noted())
	assert.Equal(t, out.Managed[1].References, damaged.Managed[1].References)
}

// TestNoWrappers checks that a process without wrappers has empty lists and no gaps.
func TestNoWrappers(t *testing.T) {
	v, err := testdump.Open(t, "net10-zoo").View("")
	require.NoError(t, err)
	out, err := interop.ComWrappers(context.Background(), v.Process)
	require.NoError(t, err)
	assert.Empty(t, out.Managed)
	assert.Empty(t, out.Native)
}
