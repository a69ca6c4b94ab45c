package target_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

func TestModuleAt(t *testing.T) {
	mods := []target.Module{{Base: 0x1000, Size: 0x1000}, {Base: 0x1800, Size: 0x100}, {Base: 0x4000, Size: 0x1000}}
	for a, want := range map[target.Addr]int{0: -1, 0x1000: 0, 0x17ff: 0, 0x1800: 1, 0x1900: -1, 0x3fff: -1, 0x4fff: 2, 0x5000: -1} {
		assert.Equal(t, want, target.ModuleIndex(mods, a), "%#x", uint64(a))
		if m := target.ModuleAt(mods, a); want < 0 {
			assert.Nil(t, m)
		} else {
			assert.Same(t, &mods[want], m)
		}
	}
	assert.Nil(t, target.ModuleAt(nil, 1))
}

func TestBaseName(t *testing.T) {
	for path, want := range map[string]string{`C:\a\b.dll`: "b.dll", "/usr/lib/c.so": "c.so", "d": "d", "": "", "e/": ""} {
		assert.Equal(t, want, target.BaseName(path))
	}
}

func TestNamedLibrary(t *testing.T) {
	for _, p := range []string{`C:\app\Coreclr.DLL`, "/lib/libc.so.6", "/lib/libcoreclr.so", "/lib/libcoreclr.dylib"} {
		assert.True(t, target.NamedLibrary(p), p)
	}
	for _, p := range []string{"", "/app/azmcp", `C:\app\azmcp.exe`, "/app.so/my.source", "/lib/linux.sort"} {
		assert.False(t, target.NamedLibrary(p), p)
	}
}
