package export_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestNamesAreMasked masks a part of the names of types in each form of the heap.
func TestNamesAreMasked(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	v, err := d.View("")
	require.NoError(t, err)
	mask := func(s string) string { return strings.ReplaceAll(s, "Dog", "<hidden>") }
	ctx := t.Context()
	profile := func(form export.ProfileForm) func(w io.Writer, mask func(string) string) (*answer.Exported, error) {
		return func(w io.Writer, mask func(string) string) (*answer.Exported, error) {
			return export.HeapProfile(ctx, w, v.Process, export.HeapProfileOptions{Form: form, Mask: mask, Least: 1})
		}
	}
	for name, write := range map[string]func(w io.Writer, mask func(string) string) (*answer.Exported, error){
		"gcdump": func(w io.Writer, mask func(string) string) (*answer.Exported, error) {
			return export.GCDump(ctx, w, v.Process, export.GCDumpOptions{Mask: mask})
		},
		"heapsnapshot": func(w io.Writer, mask func(string) string) (*answer.Exported, error) {
			return export.HeapSnapshot(ctx, w, v.Process, export.HeapSnapshotOptions{Mask: mask})
		},
		"speedscope": profile(export.Speedscope), "folded": profile(export.Folded),
	} {
		var plain, masked bytes.Buffer
		_, err := write(&plain, nil)
		require.NoError(t, err, name)
		_, err = write(&masked, mask)
		require.NoError(t, err, name)
		assert.Contains(t, strings.ReplaceAll(plain.String(), "\x00", ""), "Dog", name)
		assert.NotContains(t, strings.ReplaceAll(masked.String(), "\x00", ""), "Dog", name)
	}
}
