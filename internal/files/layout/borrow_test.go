package layout

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestBorrowedTable converts the table of one processor to another with their descriptors. The result must
// equal the measured table.
func TestBorrowedTable(t *testing.T) {
	measured := Candidates(target.OSLinux, target.ArchARM64, "10.0")[0]
	require.NoError(t, measured.Load(true))
	own, want := measured.Parts[0], measured.Parts[1]

	lent := Borrowed(target.OSLinux, target.ArchARM64, "10.0")[0]
	require.Equal(t, "x64", lent.Lender)
	require.NoError(t, lent.Load(false))
	require.NoError(t, lent.Adopt(own))
	got := lent.Parts[0]
	require.Empty(t, got.Verified)
	for name, members := range got.types {
		for member, f := range members.fields {
			require.Equal(t, want.types[name].fields[member], f, "%s.%s", name, member)
		}
	}
	require.Equal(t, want.types["Thread"], got.types["Thread"], "nothing of what moved is lost")
}

// TestBorrowedMembers checks that a member between two that moved differently has no known place, and that
// structures of registers are not converted.
func TestBorrowedMembers(t *testing.T) {
	fields := func(pairs map[string]int, size int) partType {
		f := map[string]Field{}
		for name, at := range pairs {
			f[name] = Field{Offset: at}
		}
		return partType{size: size, fields: f}
	}
	table := &Part{types: map[string]partType{
		"Thread":          fields(map[string]int{"First": 4, "Between": 20, "Beside": 30, "On": 32, "Last": 100}, 128),
		"TransitionBlock": fields(map[string]int{"ReturnAddress": 96}, 104),
		"Untold":          fields(map[string]int{"A": 8}, 16),
	}}
	lender := &Part{types: map[string]partType{"Thread": fields(map[string]int{"A": 8, "B": 24, "On": 32, "C": 40}, -1)}}
	own := &Part{types: map[string]partType{"Thread": fields(map[string]int{"A": 8, "B": 32, "On": 40, "C": 48}, -1)}}
	got := table.adopt([]*Part{own}, lender)
	require.Equal(t, fields(map[string]int{"First": 4, "Beside": 38, "On": 40, "Last": 108}, 136), got.types["Thread"])
	require.Equal(t, table.types["Untold"], got.types["Untold"])
	require.ErrorContains(t, got.doubts["Thread.Between"], "moved apart")
	require.Equal(t, map[string]bool{"Thread.Last": true, "Untold.A": true, "TransitionBlock.ReturnAddress": true}, got.assumed)
	require.Equal(t, table.types["Thread"], table.adopt(nil, nil).types["Thread"], "without descriptors nothing is known to have moved")
}

// TestNobodyLends checks that a processor without unwinding gets no table.
func TestNobodyLends(t *testing.T) {
	require.Empty(t, Borrowed(target.OSLinux, target.Arch386, ""))
	require.Empty(t, Borrowed(target.OSLinux, target.ArchMIPS64, ""))
	for _, c := range Borrowed(target.OSWindows, target.ArchARM64, "8.0") {
		require.Equal(t, "x64", c.Lender)
	}
}
