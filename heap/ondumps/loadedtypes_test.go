package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// loadedTypes returns all loaded types by MethodTable, and the errors.
func loadedTypes(t *testing.T, h *heap.Heap) (types map[target.Addr]answer.LoadedType, errs []error) {
	types = map[target.Addr]answer.LoadedType{}
	for row, err := range heap.LoadedTypes(t.Context(), h.Runtime(), h, heap.LoadedTypesOptions{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		types[row.MethodTable] = row
	}
	require.NotEmpty(t, types)
	return types, errs
}

// TestUncountedTypes checks that in a partly unreadable heap no type counts as unused, and that the unreadable
// parts are reported.
func TestUncountedTypes(t *testing.T) {
	triage, err := testdump.Open(t, "net10-crash-null-triage").Heap()
	require.NoError(t, err)
	types, _ := loadedTypes(t, triage)
	for _, row := range types {
		assert.True(t, row.Count == nil || *row.Count > 0, row.Name)
	}

	d := testdump.Open(t, "net10-zoo")
	sound, err := d.Heap()
	require.NoError(t, err)
	want, _ := loadedTypes(t, sound)
	zero, some := 0, 0
	for _, row := range want {
		require.NotNil(t, row.Count)
		if *row.Count == 0 {
			zero++
		}
	}
	assert.Positive(t, zero)
	h, err := d.Damaged(t, testdump.Words(d.Manifest.Objects()[0].Addr, 0x4141414141414141)).Heap()
	require.NoError(t, err)
	got, errs := loadedTypes(t, h)
	require.NotEmpty(t, errs)
	assert.ErrorIs(t, errs[0], target.ErrCorrupt)
	for mt, row := range got {
		if row.Count != nil {
			assert.Positive(t, *row.Count)
			assert.LessOrEqual(t, *row.Count, *want[mt].Count)
			some++
		}
	}
	assert.Positive(t, some, "what was met is counted")
}
