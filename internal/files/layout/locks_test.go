package layout

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestLocksGrow checks that members of the base after locks move by the growth of the locks, and members of the
// table stay.
func TestLocksGrow(t *testing.T) {
	bases := map[string]string{
		"base": `{"runtime":"8.0","locks":{"A":{"y":1,"z":3}},"types":{"A":{"!":64,"x":8,"y":16,"mid":24,"z":40},"B":{"x":8}}}`,
		"lost": `{"runtime":"8.0","locks":{"A":{"gone":1}},"types":{"A":{"x":8}}}`,
	}
	find := func(name string) ([]byte, error) { return []byte(bases[name]), nil }
	const mine = `{"base":"base","runtime":"8.0","lockGrowth":[10,20],"types":{"A":{"mid":100}}}`
	p, err := parseTable([]byte(mine), "mine", find)
	require.NoError(t, err)
	want := map[string]Field{"x": {Offset: 8}, "y": {Offset: 26}, "mid": {Offset: 100}, "z": {Offset: 70}}
	require.Equal(t, map[string]partType{"A": {size: 94, fields: want}, "B": {size: -1, fields: map[string]Field{"x": {Offset: 8}}}}, p.types)
	p, err = parseGrown([]byte(mine), "mine", 20, find)
	require.NoError(t, err)
	require.Equal(t, 100, p.types["A"].fields["z"].Offset)
	p, err = parseTable([]byte(`{"base":"base","runtime":"8.0","lockGrowth":[10],"moves":{"A":{"mid":-8},"B":{"x":4}}}`), "mine", find)
	require.NoError(t, err)
	require.Equal(t, map[string]Field{"x": {Offset: 8}, "y": {Offset: 26}, "mid": {Offset: 26}, "z": {Offset: 62}}, p.types["A"].fields)
	require.Equal(t, 12, p.types["B"].fields["x"].Offset)
	_, err = parseTable([]byte(`{"base":"lost","runtime":"8.0","lockGrowth":[10]}`), "mine", find)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestLocksOfARM64 compares the computed table for ARM64 with offsets from a process of .NET Core 3.1. The
// tables of 8 and 9 have locks of either size in pal.h.
func TestLocksOfARM64(t *testing.T) {
	p, err := readTable("tables/clr3.1-linux-arm64.json")
	require.NoError(t, err)
	require.Empty(t, p.DerivedFrom(), "a process proved it")
	for member, at := range map[string]int{"Module.TypeDefToMethodTableMap": 792, "Module.ReadyToRunInfo": 1336, "ThreadStore.FirstThreadLink": 192,
		"AppDomain.DomainAssemblyList": 3112, "AppDomain.RootAssembly": 3592, "SystemDomain.SystemAssembly": 3120, "SystemDomain.VirtualCallStubManager": 4360,
		"VirtualCallStubManager.IndcellHeap": 1672, "Module.Assembly": 48} {
		typ, field, _ := strings.Cut(member, ".")
		assert.Equal(t, at, p.types[typ].fields[field].Offset, member)
	}
	for _, major := range []string{"8.0", "9.0"} {
		c := Candidates(target.OSLinux, target.ArchARM64, major)[0]
		require.Equal(t, major, c.Major)
		require.NoError(t, c.Load(false))
		require.Equal(t, "linux-x64", c.Parts[0].DerivedFrom())
		others := c.Alternatives()
		require.Len(t, others, 1)
		require.NoError(t, others[0].Load(false))
		require.Empty(t, others[0].Alternatives())
		one, two := c.Parts[0].types["AppDomain"].fields["FriendlyName"].Offset, others[0].Parts[0].types["AppDomain"].fields["FriendlyName"].Offset
		require.Equal(t, map[string]int{"8.0": 16, "9.0": 13}[major]*16, two-one, major)
	}
}

// TestDescriptorShowsLocks checks that only the table with the right size of locks is tried if the process
// describes its ThreadStore.
func TestDescriptorShowsLocks(t *testing.T) {
	c := Candidates(target.OSLinux, target.ArchARM64, "9.0")[0]
	require.NoError(t, c.Load(false))
	measured, err := newestDescriptor("9.0", "linux", "x64")
	require.NoError(t, err)
	from := measured.types["ThreadStore"].fields["FirstThreadLink"].Offset
	fits := func(c *Candidate, growth int) bool {
		own := &Part{types: map[string]partType{"ThreadStore": {size: -1, fields: map[string]Field{"FirstThreadLink": {Offset: from + growth}}}}}
		return c.Fits(own) == nil
	}
	other := &c.Alternatives()[0]
	require.NoError(t, other.Load(false))
	assert.Equal(t, []bool{true, false, false, true}, []bool{fits(&c, 8), fits(&c, 24), fits(other, 8), fits(other, 24)})
}
