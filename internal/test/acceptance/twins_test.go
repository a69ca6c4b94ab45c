package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	objectreader "github.com/sosgo/sosgo/objects"
)

// TestProcessorsAgree: the same program on x64 and ARM64 has the same types with the same sizes and
// field offsets, the same values, and the same methods on its stacks.
func TestProcessorsAgree(t *testing.T) {
	x64, arm64 := testdump.Open(t, "net10-single"), testdump.Open(t, "net10-arm64")
	require.NotEqual(t, x64.Manifest.Arch, arm64.Manifest.Arch)
	want, got := twinObjects(t, x64), twinObjects(t, arm64)
	compared := 0
	for name, w := range want {
		if g, ok := got[name]; ok {
			assert.Equal(t, w, g, name)
			compared++
		}
	}
	assert.GreaterOrEqual(t, compared, 20)
	frames := twinFrames(t, x64)
	for name, f := range twinFrames(t, arm64) {
		assert.Equal(t, frames[name], f, name)
	}
}

// twinObjects returns the objects in the manifest's facts: a line for the type of each, and one for
// each field.
func twinObjects(t *testing.T, d *testdump.Dump) map[string][]string {
	r, err := d.Objects()
	require.NoError(t, err)
	out := map[string][]string{}
	for _, f := range d.Manifest.Objects() {
		o, err := r.Object(f.Addr)
		require.NoError(t, err, f.Name)
		name, err := o.Type.Name()
		require.NoError(t, err, f.Name)
		lines := []string{fmt.Sprintf("%s, %d and %d bytes", name, o.Type.MT.BaseSize, o.Type.MT.ComponentSize)}
		for field, value := range o.Fields() {
			lines = append(lines, fmt.Sprintf("%s at %d, %#x: %s", field.Name, field.Offset, field.Attributes, twinValue(value)))
		}
		slices.Sort(lines)
		out[f.Name] = lines
	}
	return out
}

// twinValue returns a value in a form that does not depend on addresses.
func twinValue(v objectreader.Value) string {
	switch v.Kind() {
	case objectreader.KindInt:
		n, err := v.Int()
		if err == nil && (n > 1<<32 || n < -1<<63>>1) {
			return "a large number"
		}
		return fmt.Sprint(n, err)
	case objectreader.KindFloat:
		x, err := v.Float()
		return fmt.Sprint(x, err)
	}
	return ""
}

// twinFrames returns the program's own methods on the stacks of its named threads.
func twinFrames(t *testing.T, d *testdump.Dump) map[string][]string {
	out := map[string][]string{}
	for name, frames := range d.ManagedFrames(t) {
		frames = slices.DeleteFunc(frames, func(s string) bool { return !strings.HasPrefix(s, "Pocket.") })
		if len(frames) > 0 {
			out[name] = frames
		}
	}
	assert.Len(t, out, 5)
	return out
}
