package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// TestTokenOfAnotherType halves or clears the tokens of MethodTables. A type must not get another type's name: its module knows it
// under its own token.
func TestTokenOfAnotherType(t *testing.T) {
	var mem testcase.Overlay
	mem.Set()
	inst := openInstance(t, "net10-zoo", target.ArchAMD64)
	mem.Memory, inst.mem = inst.mem, &mem
	rt, err := inst.Open()
	require.NoError(t, err)
	offset, err := rt.Layout().Offset("MethodTable", "MTFlags2")
	require.NoError(t, err)
	type loaded struct {
		at    target.Addr
		flags uint32
		name  string
	}
	var list []loaded
	for mt, err := range rt.LoadedTypes() {
		if err != nil || mt.IsGeneric() || mt.IsArray() {
			continue
		}
		name, err := rt.TypeName(mt.Addr, NameManaged)
		if err == nil {
			list = append(list, loaded{mt.Addr, mt.Flags2, name})
		}
	}
	require.NotEmpty(t, list)
	refused, wrong := 0, 0
	for i, l := range list[:min(len(list), 200)] {
		half := l.flags>>8/2<<8 | l.flags&0xff
		if i%2 == 1 {
			half = l.flags & 0xff // no token
		}
		mem.Set(testcase.Damage{At: l.at + target.Addr(offset), Bytes: binary.LittleEndian.AppendUint32(nil, half)})
		damaged, err := inst.Open()
		if err != nil {
			refused++ // of a type that probes read
			continue
		}
		name, err := damaged.TypeName(l.at, NameManaged)
		switch {
		case err != nil:
			refused++
		case name != l.name:
			wrong++
			t.Logf("%s becomes %s", l.name, name)
		}
	}
	assert.Zero(t, wrong)
	assert.Positive(t, refused)
}
