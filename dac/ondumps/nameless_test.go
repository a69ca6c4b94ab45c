package ondumps_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNamelessTypes checks that types without metadata are distinguished by MethodTable and assembly, and that
// types known from the runtime's globals have names.
func TestNamelessTypes(t *testing.T) {
	clean := testdump.Open(t, "net10-zoo")
	file, err := clean.Raw()
	require.NoError(t, err)
	file = bytes.ReplaceAll(file, []byte("BSJB"), []byte("XXXX"))
	d, err := sosgo.OpenReaderAt(bytes.NewReader(file), int64(len(file)), clean.Options())
	require.NoError(t, err)
	defer d.Close()
	before, err := clean.Runtimes()[0].Open()
	require.NoError(t, err)
	v, err := d.View("")
	require.NoError(t, err)
	rt, err := v.Runtime()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	var g answer.Gaps
	known := rt.NamedType(&g, rt.WellKnown().String)
	assert.Equal(t, answer.Text{S: "System.String"}, known)
	assert.Empty(t, g.Noted())
	mine, arrays, seen := 0, 0, map[target.Addr]bool{}
	for o, err := range h.Objects() {
		if err != nil || o.Type == nil || seen[o.Type.Addr] || o.Free {
			continue
		}
		seen[o.Type.Addr] = true
		name, err := before.TypeName(o.Type.Addr, 0)
		require.NoError(t, err)
		text := rt.NamedType(&g, o.Type.Addr)
		switch {
		case name == "System.String[]":
			arrays++
			assert.Equal(t, "<not in dump: array of System.String>", strings.Replace(text.String(), "corrupt", "not in dump", 1))
		case strings.HasPrefix(name, "Debuggee.") && !strings.HasSuffix(name, "]"):
			mine++
			assert.Error(t, text.Err)
			assert.Equal(t, fmt.Sprintf("type %x of Debuggee", uint64(o.Type.Addr)), text.Instead)
		}
	}
	assert.NotZero(t, mine)
	assert.NotZero(t, arrays)
	assert.NotEmpty(t, g.Noted())
}
