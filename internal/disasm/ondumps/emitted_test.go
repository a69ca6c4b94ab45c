package ondumps_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// emittedDump is the folder of a dump of a program, Emit.cs there, that made methods by Reflection.Emit.
const emittedDump = "../../../testdata/dumps/emitted/net10-emit"

// openEmitted opens the dump with other bytes in places. It returns the methods by the names that the program gave
// them.
func openEmitted(t *testing.T, damage ...testdump.Damage) (*dac.Runtime, map[string]target.Addr) {
	t.Helper()
	facts, err := os.ReadFile(filepath.Join(emittedDump, "facts.txt"))
	if err != nil {
		t.Skip("there are no canned dumps here")
	}
	methods := map[string]target.Addr{}
	for line := range strings.Lines(string(facts)) {
		var name string
		var a uint64
		_, err := fmt.Sscanf(line, "%s %x", &name, &a)
		require.NoError(t, err)
		methods[name] = target.Addr(a)
	}
	d, _ := testdump.OverlaidFile(t, filepath.Join(emittedDump, "net10-emit.dmp.zst"), sosgo.Options{Offline: true}, damage...)
	rt, err := d.Runtime()
	require.NoError(t, err)
	return rt, methods
}

// TestEmittedIL: methods that Reflection.Emit made have the IL that the program wrote. The modules have one method, few
// methods, and more than the first table of the runtime holds.
func TestEmittedIL(t *testing.T) {
	rt, methods := openEmitted(t)
	list := func(name string) []string {
		il, err := disasm.NewLister(rt, objects.New(rt)).IL(methods[name])
		require.NoError(t, err, name)
		require.NotZero(t, il.Address.Value)
		return lines(t, il)
	}
	for _, name := range []string{"Kept.Add0", "Collectible.Add0", "One.Add0"} {
		assert.Equal(t, []string{"0 ldarg.0 ", "1 ldc.i4 1000", "6 add ", "7 ret "}, list(name), name)
	}
	assert.Equal(t, []string{"0 ldarg.0 ", "1 ldc.i4 1002", "6 add ", `7 ldstr "emitted string"`, "12 callvirt int32 System.String::get_Length()", "17 add ", "18 ret "},
		list("Kept.Add2"))
	caught, err := disasm.NewLister(rt, objects.New(rt)).IL(methods["Kept.Add1"])
	require.NoError(t, err)
	require.Len(t, caught.Clauses, 1)
	assert.Contains(t, fmt.Sprint(caught.Clauses[0]), "System.DivideByZeroException")
}

// TestEmittedILBelief: a damaged table of the module's IL is rejected, whatever word of it is damaged.
func TestEmittedILBelief(t *testing.T) {
	rt, methods := openEmitted(t)
	m, err := dac.CodeOf(rt).MethodDesc(methods["Kept.Add0"])
	require.NoError(t, err)
	mod, err := m.Module()
	require.NoError(t, err)
	// The table's address is in this word of the Module.
	want, err := mod.EmittedIL(m.Token)
	require.NoError(t, err)
	var table, slots target.Addr
	for at := mod.Addr; at < mod.Addr+0x800 && table == 0; at += 8 {
		p, err := target.Pointer(rt.Memory(), at)
		if err != nil {
			continue
		}
		if slots, err = target.Pointer(rt.Memory(), p); err != nil {
			continue
		}
		for i := target.Addr(0); i < 11; i++ {
			if il, err := target.Pointer(rt.Memory(), slots+16*i+8); err == nil && il == want {
				table = p
			}
		}
	}
	require.NotZero(t, table)
	word := func(a target.Addr) uint64 {
		w, err := target.Uint64(rt.Memory(), a)
		require.NoError(t, err)
		return w
	}
	for name, damage := range map[string]testdump.Damage{
		"a table too large":  testdump.Words(table+8, word(table+8)&^0xffffffff|1<<23, 3<<53|word(table+16)&0xffffffff),
		"more slots":         testdump.Words(table+8, word(table+8)+2),
		"fewer filled":       testdump.Words(table+8, word(table+8)-1<<32),
		"more filled":        testdump.Words(table+8, word(table+8)+1<<32),
		"more may be filled": testdump.Words(table+16, word(table+16)+1<<32),
		"other slots":        testdump.Words(table, uint64(slots+16)),
		"a field's token":    testdump.Words(slots, word(slots)&^0xff000000|0x04000000),
		"a row too many":     testdump.Words(slots, word(slots)+11),
		"a place in no page": testdump.Words(slots+8, 0x10),
		"two alike":          testdump.Words(slots, word(slots+16)),
	} {
		rt, methods := openEmitted(t, damage)
		_, err := disasm.NewLister(rt, objects.New(rt)).IL(methods["Kept.Add0"])
		require.Error(t, err, name)
		assert.True(t, errors.Is(err, target.ErrUnsupported) || errors.Is(err, target.ErrNotInDump), "%s: %v", name, err)
		_, err = disasm.NewLister(rt, objects.New(rt)).IL(methods["One.Add0"])
		assert.NoError(t, err, "another module")
	}
}
