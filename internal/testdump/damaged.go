package testdump

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// A Damage is what is written over the memory of a dump.
type Damage struct {
	At    target.Addr
	Bytes []byte
}

// Words is the damage that words do at a.
func Words(a target.Addr, words ...uint64) Damage {
	d := Damage{At: a}
	for _, w := range words {
		d.Bytes = binary.LittleEndian.AppendUint64(d.Bytes, w)
	}
	return d
}

// Damaged opens a copy of the dump with some of its memory overwritten, which must be in the dump.
func (d *Dump) Damaged(t testing.TB, damage ...Damage) *sosgo.Dump {
	t.Helper()
	raw, err := d.Raw()
	if err != nil {
		t.Fatal(err)
	}
	raw = slices.Clone(raw)
	bad, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), d.Options())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range damage {
		b, ok := bad.Target().View(w.At, len(w.Bytes)) // lends raw
		if !ok {
			t.Fatalf("%d bytes at %v are not in %s", len(w.Bytes), w.At, d.Name)
		}
		copy(b, w.Bytes)
	}
	return bad
}
