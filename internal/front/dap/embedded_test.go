package dap_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-dap"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
)

// Kinds of custom debug information in Portable PDBs: compilation options and embedded source.
const (
	optionsKind = "\x05\xec\xfe\xb5\xd0\x8c\x83\x4a\x96\xda\x46\x62\x84\xbb\x4b\xd8"
	sourceKind  = "\x1b\x57\x8a\x0e\x26\x69\x6e\x46\xb4\xad\x8a\xb0\x46\x11\xf5\xfe"
)

// embed returns a copy of a PDB that embeds text as the source of the file with that suffix. It replaces the row of
// the compilation options. It returns nil if no row can be replaced without breaking the sort order.
func embed(t *testing.T, raw []byte, file, text string) []byte {
	t.Helper()
	md, err := metadata.Parse(raw)
	require.NoError(t, err)
	document := uint32(0)
	for rid := uint32(1); rid <= md.RowCount(metadata.TableDocument); rid++ {
		if name, err := md.DocumentName(rid); err == nil && strings.HasSuffix(name, file) {
			document = rid
		}
	}
	require.NotZero(t, document)
	parent := uint16(document<<5 | 22) //nolint:gosec // a small number

	out := bytes.Clone(raw)
	place := bytes.Index(out, []byte(optionsKind))
	require.Positive(t, place)
	copy(out[place:], sourceKind)
	var options metadata.CustomDebugInformationRow
	first, rows := -1, int(md.RowCount(metadata.TableCustomDebugInformation))
	want := make([]byte, 0, 6*rows)
	for rid := range rows {
		row, err := md.CustomDebugInformation(uint32(rid + 1)) //nolint:gosec // a small number
		require.NoError(t, err)
		kind, err := md.GUID(row.Kind)
		require.NoError(t, err)
		if string(kind[:]) == optionsKind {
			options = row
		}
		want = binary.LittleEndian.AppendUint16(want, uint16(row.Kind))  //nolint:gosec // of a small PDB
		want = binary.LittleEndian.AppendUint16(want, uint16(row.Value)) //nolint:gosec // of a small PDB
	}
	for at := 0; at+6*rows <= len(out) && first < 0; at++ {
		first = at
		for i := range rows {
			if !bytes.Equal(out[at+6*i+2:at+6*i+6], want[4*i:4*i+4]) {
				first = -1
				break
			}
		}
	}
	require.Positive(t, first)
	blob, err := md.Blob(options.Value)
	require.NoError(t, err)
	require.Greater(t, len(blob), len(text)+4)
	at := bytes.Index(out, blob)
	copy(out[at:], append(append(make([]byte, 4), text...), bytes.Repeat([]byte("\n"), len(blob)-4-len(text))...))
	of := func(i int) uint16 { return binary.LittleEndian.Uint16(out[first+6*i:]) }
	for i := range rows {
		if (i == 0 || of(i-1) <= parent) && (i == rows-1 || parent <= of(i+1)) {
			row := binary.LittleEndian.AppendUint16(nil, parent)
			row = binary.LittleEndian.AppendUint16(row, uint16(options.Kind))  //nolint:gosec // of a small PDB
			row = binary.LittleEndian.AppendUint16(row, uint16(options.Value)) //nolint:gosec // of a small PDB
			copy(out[first+6*i:], row)
			return out
		}
	}
	return nil
}

// TestEmbeddedSource checks that a missing source file is served from the PDB.
func TestEmbeddedSource(t *testing.T) {
	const text = "// embedded\nclass Zoo {}\n"
	testdump.Corpus(t, testcase.Named("net10-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		testcase.NeedModules(t, d.Case)
		folder := t.TempDir()
		for _, name := range []string{"Debuggee.dll", "Debuggee.pdb"} {
			raw, err := os.ReadFile(filepath.Join(d.Case.Modules, name))
			require.NoError(t, err)
			if name == "Debuggee.pdb" {
				raw = embed(t, raw, "Zoo.cs", text)
				require.NotNil(t, raw)
			}
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), raw, 0o600))
		}
		c, _ := open(t, d.Plain(), map[string]any{"modules": []string{folder}})
		f := frameOf(t, c, "Scenario.Hold(")
		require.NotNil(t, f.Source)
		require.NotZero(t, f.Source.SourceReference, "%+v", f.Source)
		assert.Contains(t, f.Source.Origin, "embedded in the PDB of Debuggee")
		assert.Equal(t, 312, f.Line)
		got := ask[*dap.SourceResponse](c, "source", map[string]any{"sourceReference": f.Source.SourceReference}).Body.Content
		assert.Equal(t, text, strings.TrimRight(got, "\n")+"\n")
		f = frameOf(t, c, "Program.Main(")
		assert.Zero(t, f.Source.SourceReference, "another file has none")
		return 1
	})
}
