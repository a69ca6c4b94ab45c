package testdump

import (
	"path/filepath"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/target"
)

// Patched opens the named canned dump with some of the process's memory replaced by patches.
func Patched(t testing.TB, name string, patches map[target.Addr][]byte) *sosgo.Dump {
	t.Helper()
	list := make([]Damage, 0, len(patches))
	for at, b := range patches {
		list = append(list, Damage{At: at, Bytes: b})
	}
	t.Attr("case", name)
	d, _ := OpenOverlaid(t, name, list...)
	return d
}

// OpenOverlaid opens the named canned dump with an Overlay over its memory. The Overlay holds the
// damage and can be changed.
func OpenOverlaid(t testing.TB, name string, damage ...Damage) (*sosgo.Dump, *Overlay) {
	t.Helper()
	from := Open(t, name)
	return OverlaidFile(t, from.Plain(), from.Options(), damage...)
}

// Libraries opens, with an Overlay over its memory, a dump with classes named like those of
// libraries for which no program exists.
func Libraries(t testing.TB) (*sosgo.Dump, *Overlay) {
	t.Helper()
	return OverlaidFile(t, libraries(t).Plain(), sosgo.Options{Offline: true})
}

func libraries(t testing.TB) *testcase.Case {
	t.Helper()
	root, err := testcase.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return testcase.CannedFile(filepath.Join(root, "testdata", "dumps", "libraries", "net10-libraries", "net10-libraries.dmp.zst"))
}

// OverlaidFile is OpenOverlaid for a dump that is not canned.
func OverlaidFile(t testing.TB, path string, o sosgo.Options, damage ...Damage) (*sosgo.Dump, *Overlay) {
	t.Helper()
	over := &Overlay{}
	over.Set(damage...)
	o.WrapMemory = func(m target.Memory) target.Memory { over.Memory = m; return over }
	d, err := sosgo.Open(testcase.Plain(path), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, over
}
