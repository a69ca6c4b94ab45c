package commands_test

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestUnmapped checks that a dump that is not mapped, as no dump at an address is, has the same answers: the version and the crash record
// of a NativeAOT program among them.
func TestUnmapped(t *testing.T) {
	for _, name := range []string{"nativeaot/nativeaot8", "nativeaot-crash", "net10-stacks", "net31-zoo"} {
		file := "../../../../testdata/dumps/" + name + "/" + path.Base(name) + ".dmp.zst"
		for _, args := range [][]string{{"eeversion"}, {"crashinfo"}, {"triage"}, {"dumpstackobjects"}, {"dumpstack"}} {
			want, errs, code := sosgoAt(t, "", append([]string{"-d", file}, args...)...)
			got, gotErrs, gotCode := sosgoAt(t, "", append([]string{"--no-mmap", "-d", file}, args...)...)
			assert.Equal(t, code, gotCode, "%s %s", name, args)
			assert.Equal(t, want, got, "%s %s", name, args)
			assert.Equal(t, errs, gotErrs, "%s %s", name, args)
			assert.NotEmpty(t, want, "%s %s", name, args)
		}
	}
}
