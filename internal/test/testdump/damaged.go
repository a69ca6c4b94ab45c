package testdump

import (
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// Damage and Overlay are aliases of testcase's types.
type (
	Damage  = testcase.Damage
	Overlay = testcase.Overlay
)

// Words returns the damage of writing words at a.
func Words(a target.Addr, words ...uint64) Damage { return testcase.Words(a, words...) }

// Damaged opens a copy of the dump with some of its memory overwritten. The memory must be in the
// dump.
func (d *Dump) Damaged(t testing.TB, damage ...Damage) *sosgo.Dump {
	t.Helper()
	raw, err := d.Raw()
	if err != nil {
		t.Fatal(err)
	}
	bad, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), d.Options())
	if err != nil {
		t.Fatal(err)
	}
	testcase.Overwrite(t, bad.Target(), damage...) // lends raw
	return bad
}
