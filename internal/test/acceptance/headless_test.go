package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestUndescribedRuntime: a program whose exports are not available may be a single-file app. Its
// file is requested, and it is not reported as a process without a runtime. A library is not such a
// program, and neither is one with readable exports of its own.
func TestUndescribedRuntime(t *testing.T) {
	const base, lib = 0x5000_0000_0000, 0x7f00_0000_0000
	program := synth.ELFImage(3, 0x2000, [4]uint64{0, 0, 0x1000, 0x1000}, [4]uint64{0x1000, 0x2000, 0x1000, 0x1000})
	for name, c := range map[string]struct {
		path    string
		dynamic []byte
		want    error
	}{
		"a program":                  {"/srv/nowhere/app", nil, target.ErrNotInDump},
		"a library":                  {"/srv/nowhere/libapp.so", nil, target.ErrUnsupported},
		"a program that has nothing": {"/srv/nowhere/app", make([]byte, 0x1000), target.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			core := &synth.ELFCore{
				Notes: []synth.ELFNote{synth.ELFProcess(42, "app", c.path), synth.ELFFiles(4096,
					synth.ELFFile{Start: base, End: base + 0x1000, Path: c.path},
					synth.ELFFile{Start: base + 0x2000, End: base + 0x3000, Offset: 0x1000, Path: c.path},
					synth.ELFFile{Start: lib, End: lib + 0x1000, Path: "/lib/libother.so.6"})},
				Segments: []synth.ELFSegment{{Addr: base, Data: program, Flags: 4}},
			}
			if c.dynamic != nil {
				core.Segments = append(core.Segments, synth.ELFSegment{Addr: base + 0x2000, Data: c.dynamic, Flags: 6})
			}
			raw := core.Bytes()
			d, err := sosgo.OpenReaderAt(target.BytesSource(raw), int64(len(raw)), sosgo.Options{Offline: true})
			require.NoError(t, err)
			defer d.Close()
			v, err := d.View("")
			if err == nil {
				_, err = v.Runtime()
			}
			require.ErrorIs(t, err, c.want)
			if c.want == target.ErrNotInDump {
				assert.ErrorContains(t, err, "whether app is a .NET runtime")
			}
		})
	}
}
