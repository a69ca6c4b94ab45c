package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestInstead passes commands addresses of the wrong kind: each rejects them and names the right
// kind.
func TestInstead(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	raw := slices.Clone(mustRaw(t, d))
	rt, err := d.Runtime()
	require.NoError(t, err)
	fact := d.Manifest.Types()[0]
	mt, err := rt.MethodTable(fact.Addr)
	require.NoError(t, err)
	class, err := rt.EEClass(mt)
	require.NoError(t, err)
	m, err := rt.Module(mt.Module)
	require.NoError(t, err)
	var md *dac.MethodDesc
	for md, err = range dac.CodeOf(rt).Methods(mt) {
		require.NoError(t, err)
		break
	}
	require.NotNil(t, md)
	domain, _ := rt.AppDomain()
	object := d.Manifest.Objects()[0]
	threads, err := d.Threads()
	require.NoError(t, err)
	sp, ok := threads[0].OS.Registers.SP()
	require.True(t, ok)
	for _, c := range []struct {
		line string
		at   target.Addr
		is   string
	}{
		{"dumpmodule %x", mt.Addr, "it is a MethodTable (" + testdump.ManagedName(fact.Name) + "): use dumpmt"},
		{"dumpmodule -mt %x", mt.Addr, "use dumpmt"},
		{"dumpil %x", mt.Addr, "use dumpmt"},
		{"findappdomain %x", mt.Addr, "use dumpmt"},
		{"dumpobj %x", mt.Addr, "use dumpmt"},
		{"dumpmt %x", m.Addr, "is a Module ("},
		{"dumpassembly %x", m.Addr, "use dumpmodule"},
		{"dumpmodule %x", m.Assembly, "use dumpassembly"},
		{"dumpmd %x", class.Addr, "use dumpclass"},
		{"dumpmt %x", md.Addr, "is a MethodDesc ("},
		{"dumpclass %x", md.Addr, "use dumpmd"},
		{"dumpmodule %x", domain.Addr, "use dumpdomain"},
		{"dumpmt %x", object.Addr, "use dumpobj"},
		{"dumpobj %x", object.Addr + 8, fmt.Sprintf("it lies inside object %x", uint64(object.Addr))},
		{"dumparray %x", object.Addr + 8, fmt.Sprintf("use dumpobj %x", uint64(object.Addr))},
		{"dumpalc %x", object.Addr + 8, "at +0x8"},
		{"pe %x", sp, "of thread 0"},
		{"dumpobj %x", sp, "of thread 0"},
		{"dumpmd %x", threads[0].Managed.Addr, "is the Thread of thread 0"},
	} {
		out := runLines(t.Context(), raw, 1, fmt.Sprintf(c.line, uint64(c.at)))
		assert.NotZero(t, out.code, c.line)
		assert.Contains(t, out.stderr, c.is, c.line)
		assert.Empty(t, out.stdout, c.line)
	}
	out := runLines(t.Context(), raw, 1, fmt.Sprintf("dumpobj %x", uint64(object.Addr)))
	assert.Zero(t, out.code, out.stderr)
}

// TestOtherRuntime: objects of the other CLR in a process are rejected with the number of the right
// one.
func TestOtherRuntime(t *testing.T) {
	d := testdump.Open(t, "sxs")
	raw := slices.Clone(mustRaw(t, d))
	var runtimes []*dac.Runtime
	for _, inst := range d.Runtimes() {
		v, err := d.View(fmt.Sprint(inst.Index))
		require.NoError(t, err)
		rt, err := v.Runtime()
		require.NoError(t, err)
		runtimes = append(runtimes, rt)
	}
	require.Len(t, runtimes, 2)
	for i, rt := range runtimes {
		other := runtimes[1-i]
		n := 0
		for mt, err := range rt.LoadedTypes() {
			if err != nil {
				continue
			}
			_, _, err := other.MethodTableAt(mt.Addr)
			assert.Error(t, err, "%v", mt.Addr)
			n++
		}
		assert.NotZero(t, n)
		object := rt.WellKnown().Object
		var foreign *dac.ForeignError
		_, _, err := other.MethodTableAt(object)
		require.ErrorAs(t, err, &foreign)
		assert.Same(t, rt.Instance(), foreign.Owner)
		assert.ErrorAs(t, err, new(*target.AddressError))
		core, err := rt.CoreLib()
		require.NoError(t, err)
		_, err = other.Module(core.Addr)
		require.ErrorAs(t, err, &foreign)
		_, err = other.Assembly(core.Assembly)
		require.Error(t, err)
		for _, line := range []string{fmt.Sprintf("dumpmt %x", uint64(object)), fmt.Sprintf("dumpmodule %x", uint64(core.Addr))} {
			// The command uses the runtime of the address and says so.
			own := runLines(t.Context(), raw, 1, fmt.Sprintf("setruntime %d", i), line)
			out := runLines(t.Context(), raw, 1, fmt.Sprintf("setruntime %d", 1-i), line)
			assert.Zero(t, out.code)
			_, want, _ := strings.Cut(own.stdout, "\n")
			_, got, _ := strings.Cut(out.stdout, "\n")
			assert.NotEmpty(t, want)
			assert.Equal(t, want, got)
			assert.Contains(t, out.stderr, fmt.Sprintf("of the other runtime %s", rt.Instance().Title()))
		}
	}
}
