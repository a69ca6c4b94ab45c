package dac

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// patchedMemory replaces the bytes at some addresses.
type patchedMemory struct {
	target.Memory
	at map[target.Addr][]byte
}

func (m patchedMemory) View(a target.Addr, n int) ([]byte, bool) {
	for at, b := range m.at {
		if a >= at && a+target.Addr(n) <= at+target.Addr(len(b)) {
			return b[a-at:][:n], true
		}
	}
	return m.Memory.View(a, n)
}

func (m patchedMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	if b, ok := m.View(a, len(p)); ok {
		return copy(p, b), nil
	}
	return m.Memory.ReadMemory(p, a)
}

// TestDescriptorError uses contract descriptors that cannot be parsed. The error must contain the descriptor's
// address and the reason. A sound descriptor, and one that is not in the dump, are not errors.
func TestDescriptorError(t *testing.T) {
	inst := openInstance(t, "net10-single", target.ArchAMD64)
	h, err := inst.descriptorHeader(inst.descriptor)
	require.NoError(t, err)
	_, err = inst.descriptorInDump()
	require.ErrorIs(t, err, target.ErrNotInDump)
	require.NoError(t, inst.DescriptorError(), "the dump lacks the JSON")
	header, err := target.Bytes(inst.mem, inst.descriptor, descHeaderSize)
	require.NoError(t, err)
	memory := inst.mem
	for _, c := range []struct {
		name, json, want string
		damage           func(header []byte)
	}{
		{name: "sound", json: `{"version":0,"baseline":"empty","types":{},"globals":{},"contracts":{}}`},
		{name: "JSON", json: `{"version":!}`, want: "byte 12 of its JSON: contract descriptor: invalid character"},
		{name: "strings", json: `{"version":2,"contracts":{"Thread":"c1"}}`},
		{name: "version", json: `{"version":7}`, want: "version 7"},
		{name: "magic number", json: `{}`, want: "magic number", damage: func(header []byte) { header[0] = 0 }},
		{name: "size", json: `{}`, want: "contract descriptor of 4294967295 bytes",
			damage: func(header []byte) { binary.LittleEndian.PutUint32(header[12:], 1<<32-1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := append([]byte(nil), header...)
			binary.LittleEndian.PutUint32(b[12:], uint32(len(c.json)))
			if c.damage != nil {
				c.damage(b)
			}
			inst.mem = patchedMemory{memory, map[target.Addr][]byte{inst.descriptor: b, h.json: []byte(c.json)}}
			defer func() { inst.mem = memory }()
			err := inst.DescriptorError()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, fmt.Sprintf("contract descriptor at %016x", uint64(inst.descriptor)))
		})
	}
}

// TestDescriptorContradictsBuild edits the descriptor in the process of a build that the catalogue has. The catalogue's
// descriptor, which has the same bytes in every process, must be used instead.
func TestDescriptorContradictsBuild(t *testing.T) {
	inst := openInstance(t, "net10-arm64", target.ArchARM64)
	require.NoError(t, inst.DescriptorError())
	h, err := inst.descriptorHeader(inst.descriptor)
	require.NoError(t, err)
	raw, err := target.Bytes(inst.mem, h.json, int(h.jsonSize))
	require.NoError(t, err)
	pointers, err := target.Bytes(inst.mem, h.data, 8*int(h.pointers))
	require.NoError(t, err)
	want, err := inst.Open()
	require.NoError(t, err)
	require.Contains(t, want.LayoutSources()[0], "contract descriptor in the dump")
	threads, err := want.Threads()
	require.NoError(t, err)
	idsOf := func(list []Thread) (out []string) {
		for i := range list {
			out = append(out, fmt.Sprintf("%d %x %x", list[i].ManagedID, list[i].OSID, list[i].State))
		}
		return out
	}
	ids := idsOf(threads)
	require.NotEmpty(t, ids)
	memory := inst.mem
	for _, c := range []struct{ name, old, new string }{
		{"offset", `"Thread":{"Id":16,`, `"Thread":{"Id":20,`},
		{"another offset", `"State":0,"PreemptiveGCDisabled"`, `"State":4,"PreemptiveGCDisabled"`},
		{"name", `"Thread":{"Id":16,`, `"Thread":{"Ix":16,`},
		{"type", `"Thread":{"Id"`, `"Threax":{"Id"`},
		{"contract", `"Thread":1`, `"Thread":2`},
		{"pointer", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited, data := bytes.Replace(raw, []byte(c.old), []byte(c.new), 1), bytes.Clone(pointers)
			if c.old == "" {
				binary.LittleEndian.PutUint64(data[8:], binary.LittleEndian.Uint64(data[16:]))
			} else {
				require.NotEqual(t, raw, edited)
			}
			inst.mem = patchedMemory{memory, map[target.Addr][]byte{h.json: edited, h.data: data}}
			defer func() { inst.mem = memory }()
			require.ErrorIs(t, inst.DescriptorError(), target.ErrCorrupt)
			got, err := inst.Open()
			require.NoError(t, err)
			assert.Contains(t, got.LayoutSources()[0], "catalogue of builds")
			threads, err := got.Threads()
			require.NoError(t, err)
			assert.Equal(t, ids, idsOf(threads))
		})
	}
}
