package dac

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A described is memory from heapBase on, for building contract descriptors.
type described struct{ b []byte }

func (d *described) place(b []byte) target.Addr {
	at := heapBase + target.Addr(len(d.b))
	d.b = append(d.b, b...)
	d.b = append(d.b, make([]byte, -len(d.b)&7)...)
	return at
}

func (d *described) words(words ...target.Addr) target.Addr {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	return d.place(b)
}

// descriptor places a descriptor with JSON and pointers, and returns the address of its header.
func (d *described) descriptor(text string, pointers ...target.Addr) target.Addr {
	json, data := d.place([]byte(text)), d.words(pointers...)
	return d.words(descMagic, 1|target.Addr(len(text))<<32, json, target.Addr(len(pointers)), data)
}

// instance returns a runtime with its descriptor at an address of the memory.
func (d *described) instance(at target.Addr) *Instance {
	return &Instance{Module: target.Module{Base: heapBase, Size: uint64(len(d.b))}, mem: &rangeMemory{base: heapBase, b: d.b}, descriptor: at}
}

// TestSubDescriptors reads sub-descriptors that are sound, missing, or inconsistent. A bad one drops out alone.
func TestSubDescriptors(t *testing.T) {
	const sound = `{"version":2,"types":{"Generation":{"!":96}},"contracts":{"GC":"c1"}}`
	top := func(subs string) string {
		return `{"version":2,"types":{"Generation":{"StartSegment":8},"A":{"x":8}},"subDescriptors":{` + subs + `}}`
	}
	for _, c := range []struct {
		name  string
		build func(d *described) target.Addr
		parts int
		want  error
		words string
	}{
		{"sound", func(d *described) target.Addr {
			return d.descriptor(top(`"GC":[[1],"pointer"]`), 0, d.words(d.descriptor(sound)))
		}, 2, nil, ""},
		{"two levels", func(d *described) target.Addr {
			inner := d.words(d.descriptor(sound))
			return d.descriptor(top(`"GC":[1]`), 0, d.words(d.descriptor(`{"version":2,"subDescriptors":{"Inner":[0]}}`, inner)))
		}, 3, nil, ""},
		{"not published: no variable", func(d *described) target.Addr { return d.descriptor(top(`"GC":[1]`), 0, 0) }, 1, target.ErrUnsupported, "sub-descriptor GC: the process has not published it yet"},
		{"not published: null", func(d *described) target.Addr { return d.descriptor(top(`"GC":[1]`), 0, d.words(0)) }, 1, target.ErrUnsupported, "not published"},
		{"no such pointer", func(d *described) target.Addr { return d.descriptor(top(`"GC":[7]`), 0) }, 1, target.ErrCorrupt, "index 7 of 1 pointers"},
		{"outside of the dump", func(d *described) target.Addr { return d.descriptor(top(`"GC":[1]`), 0, d.words(0x1000)) }, 1, target.ErrNotInDump, "sub-descriptor GC"},
		{"no header", func(d *described) target.Addr {
			return d.descriptor(top(`"GC":[1]`), 0, d.words(d.words(1, 2, 3, 4, 5)))
		}, 1, target.ErrCorrupt, "magic number"},
		{"JSON", func(d *described) target.Addr { return d.descriptor(top(`"GC":[1]`), 0, d.words(d.descriptor(`{`))) }, 1, target.ErrCorrupt, "sub-descriptor GC"},
		{"conflict", func(d *described) target.Addr {
			return d.descriptor(top(`"GC":[1],"More":[2]`), 0, d.words(d.descriptor(`{"types":{"A":{"x":16}}}`)), d.words(d.descriptor(sound)))
		}, 2, target.ErrCorrupt, "sub-descriptor GC: contract descriptors disagree on A.x: 8 and 16"},
		{"the same twice", func(d *described) target.Addr {
			gc := d.words(d.descriptor(sound))
			return d.descriptor(top(`"GC":[1],"More":[1]`), 0, gc)
		}, 2, target.ErrCorrupt, "sub-descriptor More: it is a descriptor that was read already"},
		{"cycle", func(d *described) target.Addr {
			variable := d.words(0)
			at := d.descriptor(top(`"GC":[1]`), 0, variable)
			binary.LittleEndian.PutUint64(d.b[variable-heapBase:], uint64(at))
			return at
		}, 1, target.ErrCorrupt, "read already"},
		{"endless", func(d *described) target.Addr {
			at := d.descriptor(`{}`)
			for range 3 * limits.SubDescriptors {
				at = d.descriptor(`{"subDescriptors":{"Next":[0]}}`, d.words(at))
			}
			return at
		}, limits.SubDescriptors, target.ErrCorrupt, fmt.Sprintf("there are more than %d", limits.SubDescriptors)},
		{"10 MB", func(d *described) target.Addr {
			return d.descriptor(top(`"GC":[1]`), 0, d.words(d.descriptor(strings.Repeat(" ", 10<<20))))
		}, 1, target.ErrCorrupt, "contract descriptor of 10485760 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &described{}
			i := d.instance(c.build(d))
			parts, err := i.descriptorInDump()
			assert.Len(t, parts, c.parts)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
			assert.ErrorContains(t, err, c.words)
		})
	}
}

// FuzzSubDescriptors reads a descriptor with arbitrary bytes, including sub-descriptors, and binds the
// resulting layout.
func FuzzSubDescriptors(f *testing.F) {
	for _, text := range []string{`{"version":2,"types":{"FieldDesc":{"!":16,"DWord1":8}},"subDescriptors":{"GC":[[1],"pointer"]}}`, `{"subDescriptors":{"A":[1],"B":[1]}}`} {
		d := &described{}
		at := d.descriptor(text, 0, d.words(d.descriptor(`{"types":{"Generation":{"!":96}},"globals":{"N":[[0],"pointer"]},"contracts":{"GC":"c1"}}`, heapBase)))
		f.Add(d.b, uint32(at-heapBase))
	}
	f.Fuzz(func(t *testing.T, b []byte, at uint32) {
		d := &described{b: b}
		i := d.instance(heapBase + target.Addr(at))
		parts, _ := i.descriptorInDump()
		if len(parts) > limits.SubDescriptors+1 {
			t.Fatalf("%d descriptors", len(parts))
		}
		b2 := merge(parts, layout.Candidate{}, nil)
		for _, m := range b2.Members() {
			if m.Source == "" {
				t.Fatalf("%s comes from nowhere", m.Name)
			}
		}
		var o offsets
		if err := o.bind(b2); err == nil && o.FieldDesc.Size == 0 {
			t.Fatal("a FieldDesc without bytes")
		}
		_ = i.DescriptorError()
	})
}
