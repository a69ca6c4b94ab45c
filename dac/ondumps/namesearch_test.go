package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// TestFindName finds the types that the program printed by name, and by the token found with it.
func TestFindName(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		r := dac.CodeOf(rt)
		for _, fact := range d.Manifest.Types() {
			mt, err := rt.MethodTable(fact.Addr)
			if err != nil || mt.IsArray() || mt.Canonical != mt.Addr || strings.ContainsAny(fact.Name, "[<`") {
				continue
			}
			m, err := rt.Module(mt.Module)
			require.NoError(t, err)
			file, err := m.File()
			require.NoError(t, err)
			s, err := r.FindName(target.BaseName(file), fact.Name)
			require.NoError(t, err)
			n := matchOf(s, mt.Addr)
			if !assert.NotNil(t, n, fact.Name) {
				continue
			}
			assert.Equal(t, answer.MatchType, n.Kind)
			assert.Equal(t, len(s.Modules), s.Without+modulesOf(s.Matches))
			byToken, err := r.FindToken(n.File.S, metadata.Token(n.Token))
			require.NoError(t, err)
			assert.NotNil(t, matchOf(byToken, mt.Addr))
		}
	})
}

func matchOf(s *answer.NameSearch, mt target.Addr) *answer.NameMatch {
	for i := range s.Matches {
		if s.Matches[i].MethodTable.Value == mt {
			return &s.Matches[i]
		}
	}
	return nil
}

func modulesOf(matches []answer.NameMatch) int {
	seen := map[target.Addr]bool{}
	for i := range matches {
		seen[matches[i].Module] = true
	}
	return len(seen)
}

// TestFindMembers checks that a member's name finds methods with their code and fields with their type, and
// that part of a name only finds loaded types.
func TestFindMembers(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	r := dac.CodeOf(rt)
	s, err := r.FindName("System.Private.CoreLib", "System.String.get_Length")
	require.NoError(t, err)
	require.Len(t, s.Matches, 1)
	n := s.Matches[0]
	assert.Equal(t, answer.MatchMethod, n.Kind)
	assert.Equal(t, "System.String.get_Length()", n.Name.S)
	assert.NotZero(t, n.MethodDesc.Value)

	s, err = r.FindName("System.Private.CoreLib.dll", "System.String._stringLength")
	require.NoError(t, err)
	require.Len(t, s.Matches, 1)
	n = s.Matches[0]
	assert.Equal(t, answer.MatchField, n.Kind)
	assert.Equal(t, "_stringLength", n.Field.S)
	assert.Equal(t, rt.WellKnown().String, n.MethodTable.Value)

	s, err = r.FindName(dac.AllModules, "tem.Strin")
	require.NoError(t, err)
	require.NotEmpty(t, s.Matches)
	for _, n := range s.Matches {
		assert.Contains(t, strings.ToLower(n.Name.S), "tem.strin")
		assert.NotZero(t, n.MethodTable.Value, "%s is not loaded", n.Name.S)
	}
	_, err = r.FindName("no such module", "x")
	require.ErrorIs(t, err, target.ErrNoSuch)
}
