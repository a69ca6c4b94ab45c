package metadata

import (
	"reflect"
	"testing"

	"github.com/saferwall/pe"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOracle compares row counts and some columns with another reader.
func TestOracle(t *testing.T) {
	const enough = 40 // modules; the other reader is slow
	checked := 0
	for _, path := range corpusModules(t) {
		b := peMetadata(t, path)
		if b == nil || checked == enough {
			continue
		}
		f, err := pe.New(path, &pe.Options{
			OmitSecurityDirectory: true, OmitResourceDirectory: true, OmitExceptionDirectory: true,
			OmitRelocDirectory: true, OmitDebugDirectory: true, OmitImportDirectory: true,
		})
		if err != nil {
			continue
		}
		if f.Parse() == nil && len(f.CLR.MetadataTables) > 0 {
			md, err := Parse(b)
			require.NoError(t, err)
			compare(t, md, f, path)
			checked++
		}
		require.NoError(t, f.Close())
	}
	t.Logf("%d modules compared", checked)
	assert.NotZero(t, checked)
}

func compare(t *testing.T, md *Metadata, f *pe.File, path string) {
	t.Helper()
	for id := range TableID(TableGenericParamConstraint + 1) {
		want := 0
		if table := f.CLR.MetadataTables[int(id)]; table != nil && table.Content != nil {
			want = reflect.ValueOf(table.Content).Len()
		}
		assert.EqualValues(t, want, md.RowCount(id), "%s of %s", id, path)
	}
	if table := f.CLR.MetadataTables[pe.MethodDef]; table != nil {
		for i, want := range table.Content.([]pe.MethodDefTableRow) {
			got, err := md.MethodDef(uint32(i + 1))
			require.NoError(t, err)
			require.EqualValues(t, want.RVA, got.RVA, path)
			require.EqualValues(t, want.Name, got.Name, path)
			require.EqualValues(t, want.Signature, got.Signature, path)
			require.EqualValues(t, want.ParamList, got.ParamList, path)
		}
	}
	if table := f.CLR.MetadataTables[pe.CustomAttribute]; table != nil {
		for i, want := range table.Content.([]pe.CustomAttributeTableRow) {
			got, err := md.CustomAttribute(uint32(i + 1))
			require.NoError(t, err)
			parent, ok := codedHasCustomAttribute.encode(got.Parent)
			require.True(t, ok)
			require.Equal(t, want.Parent, parent, path)
			require.EqualValues(t, want.Value, got.Value, path)
		}
	}
}
