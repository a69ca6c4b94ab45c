package disasm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/disasm"
)

// TestCorpus disassembles the compiled methods of every case: every byte is an
// instruction, and most calls have a name.
func TestCorpus(t *testing.T) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS names no corpus")
	}
	cases, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	require.NoError(t, err)
	for _, c := range cases {
		dir := filepath.Dir(c)
		var manifest struct{ Modules string }
		b, err := os.ReadFile(c)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &manifest))
		t.Run(filepath.Base(dir), func(t *testing.T) {
			d, err := sosgo.Open(filepath.Join(dir, filepath.Base(dir)+".dmp"),
				sosgo.Options{Modules: []string{filepath.Join(dir, manifest.Modules)}})
			require.NoError(t, err)
			defer d.Close()
			rt, err := d.Runtime()
			if err != nil {
				t.Skip(err)
			}
			r, err := d.Objects()
			require.NoError(t, err)
			names := disasm.NewNames(rt, r)
			methods, calls, named := 0, 0, 0
			for info, err := range rt.JITCode() {
				if err != nil || info.Method == nil {
					continue
				}
				code, err := rt.Code(info)
				if err != nil {
					continue
				}
				methods++
				var last disasm.Instruction
				for in := range disasm.Decode(code, info.Start) {
					before := last
					last = in
					at := in.Addr - info.Start
					assert.NotEmpty(t, in.Text, "%x at %s after %x %s", code[at:min(int(at)+15, len(code))], in.Addr, before.Bytes, before.Text)
					if in.Kind == disasm.RefCall || in.Kind == disasm.RefCallSlot {
						calls++
						if names.Of(&in) != "" {
							named++
						}
					}
				}
			}
			t.Logf("%d methods, %d calls, %d named", methods, calls, named)
		})
	}
}
