// Package pe maps files, which WebAssembly cannot.

//go:build !wasm

package metadata

import (
	"reflect"
	"testing"

	"github.com/saferwall/pe"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestOracle compares every column of every table with another reader.
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
	testcase.Compared(t, checked)
}

func compare(t *testing.T, md *Metadata, f *pe.File, path string) {
	t.Helper()
	for id := range TableGenericParamConstraint + 1 {
		table := f.CLR.MetadataTables[int(id)]
		if table == nil || table.Content == nil {
			require.Zero(t, md.RowCount(id), "%s of %s", id, path)
			continue
		}
		rows := reflect.ValueOf(table.Content)
		require.EqualValues(t, rows.Len(), md.RowCount(id), "%s of %s", id, path)
		for i := range rows.Len() {
			r := md.row(id, uint32(i+1))
			require.NoError(t, r.err)
			require.Equal(t, oracleColumns(id, rows.Index(i)), columns(&r, id), "%s %d of %s", id, i+1, path)
		}
	}
}

// oracleColumns returns the columns of a row of the other reader, which has the
// padding of a Constant's type as a column.
func oracleColumns(id TableID, row reflect.Value) (out []uint32) {
	for i := range row.NumField() {
		if id == TableConstant && i == 1 {
			continue
		}
		out = append(out, uint32(row.Field(i).Uint()))
	}
	return out
}

func columns(r *row, id TableID) (out []uint32) {
	for i := range schema[id].cols {
		out = append(out, r.column(i))
	}
	return out
}
