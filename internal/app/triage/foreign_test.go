package triage_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// TestForeignRuntimes has processes with a runtime that is not read. The dump lacks the exports of the other modules, as normal minidumps do. The
// runtime is named, and no file is asked for to find out what the other modules are.
func TestForeignRuntimes(t *testing.T) {
	for library, want := range map[string]string{
		"mono-2.0-bdwgc.dll": "Unity's Mono", "mono.dll": "Unity's Mono", "libmonobdwgc-2.0.so": "Unity's Mono",
		"GameAssembly.dll": "code that Unity's IL2CPP compiled", "libil2cpp.so": "code that Unity's IL2CPP compiled",
		"clr.dll": "the .NET Framework 4", "mscorwks.dll": "the .NET Framework 2.0 to 3.5",
		"mono-2.0-sgen.dll": "Mono", "libmonosgen-2.0.so": "Mono",
	} {
		m := synth.NewMinidump()
		m.SystemInfo(synth.MinidumpAMD64)
		var regs [16]uint64
		m.Threads(synth.MinidumpThread{ID: 0x10, TEB: 0x7000, StackStart: 0x9000, StackSize: 0x1000, Context: synth.AMD64Context(0x10001f, regs, 0x140001000, 0)})
		m.Modules(
			synth.MinidumpModule{Base: 0x140000000, Size: 0x10000, Path: `C:\games\Game.exe`, Time: 1},
			synth.MinidumpModule{Base: 0x7ff800000000, Size: 0x10000, Path: `C:\Windows\System32\wdmaud.drv`, Time: 2},
			synth.MinidumpModule{Base: 0x7ff810000000, Size: 0x10000, Path: `C:\games\` + library, Time: 3},
		)
		b := m.Bytes()
		d, err := process.OpenReaderAt(target.BytesSource(b), int64(len(b)), process.Options{NoLocalFiles: true})
		require.NoError(t, err)
		p := d.Default()
		_, err = p.Runtime()
		assert.ErrorContains(t, err, "the process runs "+want+" ("+library+")")
		assert.ErrorIs(t, err, target.ErrUnsupported)
		got, err := triage.Triage(t.Context(), p, triage.Options{})
		if err == nil {
			page, err := json.Marshal(got)
			require.NoError(t, err)
			assert.Contains(t, string(page), want)
			assert.NotContains(t, string(page), "nothing shows whether")
		} else {
			assert.ErrorContains(t, err, want)
		}
		report, err := json.Marshal(doctor.Of(p, doctor.Options{}))
		require.NoError(t, err)
		assert.Contains(t, string(report), want, library)
		assert.NotContains(t, string(report), "nothing shows whether", library)
		for _, other := range []string{"wdmaud.drv", "Game.exe"} {
			assert.NotRegexp(t, `(the runtime itself|single-file)[^"]*`+other, string(report), library)
		}
		d.Close()
	}
}
