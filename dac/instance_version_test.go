package dac

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestRelease checks the release from the file version and from the folder.
func TestRelease(t *testing.T) {
	for _, c := range []struct {
		version [4]uint16
		path    string
		release string
		is, not []string
	}{
		{[4]uint16{10, 0, 1426, 52326}, "", "10.0.14", []string{"10", "10.0", "10.0.14", "10.0.1426", "10.0.1426.52326"}, []string{"1", "10.0.1", "10.0.142", "", "10.0.14.0"}},
		{[4]uint16{8, 0, 3326, 52219}, "", "8.0.33", []string{"8", "8.0.33"}, []string{"8.0.3", "8.0.332"}},
		{[4]uint16{8, 0, 23, 53103}, "", "8.0.0", []string{"8.0.0", "8.0.23"}, []string{"8.0.2"}},
		{[4]uint16{4, 700, 22, 55902}, `C:\dotnet\shared\Microsoft.NETCore.App\3.1.32\coreclr.dll`, "3.1.32", []string{"3", "3.1.32", "4.700"}, []string{"3.1.3"}},
		{[4]uint16{4, 700, 22, 55902}, "coreclr.dll", "3.1.32", []string{"3", "4"}, []string{"5"}},
		{[4]uint16{4, 700, 20, 26901}, "coreclr.dll", "4.700.20.26901", []string{"4"}, []string{"3"}},
		{[4]uint16{}, "/usr/share/dotnet/shared/Microsoft.NETCore.App/9.0.7/libcoreclr.so", "9.0.7", []string{"9", "9.0.7"}, []string{"9.0.70"}},
	} {
		i := &Instance{Module: target.Module{Version: c.version, Path: c.path}}
		if c.version == [4]uint16{} {
			i.version.Do(func() { i.versionStr = versionInPath().FindStringSubmatch(c.path)[1] })
		}
		assert.Equal(t, c.release, i.Release(), c.version)
		for _, want := range c.is {
			assert.True(t, i.Is(want), "%v is %s", c.version, want)
		}
		for _, want := range c.not {
			assert.False(t, i.Is(want), "%v is %s", c.version, want)
		}
	}
	i := &Instance{Index: 1, Module: target.Module{Version: [4]uint16{10, 0, 1426, 52326}}}
	assert.Equal(t, "#1 .NET Core 10.0.14", i.Title())
}
