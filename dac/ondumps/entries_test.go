package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// entriesWanted is the number of methods of a dump to find by their entry points.
const entriesWanted = 10

// TestEntries checks that a call through a method's slot reaches that method, by its code or by its precode in
// the form of the runtime's version. A method's IL must be at its address.
func TestEntries(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net10-zoo", "win-net6-zoo", "win-net8-zoo"} {
		t.Run(name, func(t *testing.T) {
			t.Attr("case", name)
			d := testdump.Open(t, name)
			rt, err := d.Runtime()
			require.NoError(t, err)
			r, found, bodies := dac.CodeOf(rt), 0, 0
			for _, fact := range d.Manifest.Types() {
				mt, err := rt.MethodTable(fact.Addr)
				if err != nil || mt.IsGeneric() || mt.IsArray() {
					continue // shared code
				}
				for m, err := range r.Methods(mt) {
					if err != nil || m.Kind != dac.MethodIL {
						continue
					}
					if checkEntry(t, r, m) {
						found++
					}
					if checkIL(t, r, m) {
						bodies++
					}
				}
			}
			assert.GreaterOrEqual(t, found, entriesWanted)
			assert.GreaterOrEqual(t, bodies, entriesWanted)
		})
	}
}

func checkEntry(t *testing.T, r *dac.CodeReader, m *dac.MethodDesc) bool {
	entry, err := r.MethodEntry(m)
	if err != nil || entry == 0 {
		return false
	}
	got, err := r.MethodOfEntry(entry)
	if err != nil {
		return false // the stub of a runtime before 7 that jumps to common code, or a stub that is not in the dump
	}
	assert.Equal(t, m.Addr, got.Addr, "the method of its entry point %016x", uint64(entry))
	return true
}

func checkIL(t *testing.T, r *dac.CodeReader, m *dac.MethodDesc) bool {
	body, err := r.IL(m)
	at, aerr := r.ILAddress(m)
	if err != nil || aerr != nil || at == 0 {
		return false
	}
	there, err := r.ILAt(at)
	if err != nil {
		assert.ErrorIs(t, err, target.ErrNotInDump)
		return false
	}
	assert.Equal(t, body.Code, there.Code)
	return true
}

// TestFunctions checks that the unwind functions of code begin at its start and follow each other, and that an
// address in the first belongs to the method.
func TestFunctions(t *testing.T) {
	for _, name := range []string{"net8-zoo", "net9-zoo", "net10-zoo"} {
		d := testdump.Open(t, name)
		rt, err := d.Runtime()
		require.NoError(t, err)
		r, n := dac.CodeOf(rt), 0
		for info, err := range r.JITCode() {
			if err != nil {
				require.ErrorIs(t, err, target.ErrNotInDump)
				continue
			}
			if info.Kind != dac.CodeJIT {
				continue // stubs have no functions
			}
			if n++; n > 50 {
				break
			}
			functions, err := r.Functions(info)
			require.NoError(t, err)
			require.NotEmpty(t, functions)
			assert.Equal(t, info.Start, functions[0].Begin)
			for i := 1; i < len(functions); i++ {
				assert.GreaterOrEqual(t, functions[i].Begin, functions[i-1].End)
			}
			is, err := r.IsCode(functions[0].End - 1)
			require.NoError(t, err)
			assert.True(t, is)
		}
		assert.NotZero(t, n, name)
	}
}
