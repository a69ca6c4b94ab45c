package acceptance_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNamelessType: a NativeAOT type without a name hides no subject that looks for objects with more fields than its
// instances have room for. Its row in the program's map of types costs no other type its name.
func TestNamelessType(t *testing.T) {
	const program, name = "nativeaot-crash", "Internal.Runtime.TypeLoader.Callbacks"
	sound := testdump.Open(t, program)
	v, rt := runtimeOf(t, sound.Dump)
	var mt target.Addr
	for a, err := range rt.TypesNamed(name, "") {
		require.NoError(t, err)
		mt = a
	}
	require.NotZero(t, mt)
	quiet := quietSubjects(t, v)
	for _, c := range []struct {
		is string
		to target.Addr
	}{
		{"no name", mt + 8},                            // the map has another address
		{"a row that leads nowhere", 0xffff_ffff_0000}, // cut to 32 bits
	} {
		t.Run(c.is, func(t *testing.T) {
			patches := map[target.Addr][]byte{}
			m := &rt.Instance().Module
			image := make([]byte, m.Size)
			for a := target.Addr(0); a < target.Addr(m.Size); a += 4096 {
				_, _ = rt.Memory().ReadMemory(image[a:min(a+4096, target.Addr(m.Size))], m.Base+a)
			}
			for a := target.Addr(0); a+4 <= target.Addr(m.Size); a += 4 {
				if m.Base+a+target.Addr(int32(binary.LittleEndian.Uint32(image[a:]))) == mt {
					patches[m.Base+a] = binary.LittleEndian.AppendUint32(nil, uint32(c.to-(m.Base+a)))
				}
			}
			require.NotEmpty(t, patches)
			v, rt := runtimeOf(t, testdump.Patched(t, program, patches))
			_, err := rt.TypeName(mt, dac.NameManaged)
			require.Error(t, err, "the type has lost its name")
			assert.Equal(t, quiet, quietSubjects(t, v))
		})
	}
}

func runtimeOf(t *testing.T, d *sosgo.Dump) (*sosgo.View, *dac.Runtime) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	return v, rt
}

func quietSubjects(t *testing.T, v *sosgo.View) []string {
	t.Helper()
	found, err := triage.Triage(t.Context(), v.Process, triage.Options{})
	require.NoError(t, err)
	return found.Quiet
}
