package ondumps_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// TestPocket: the frames of each thread of the Pocket program, with arguments and locals, are as the program recorded
// them, on any processor.
func TestPocket(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if d.Manifest.Scenario != "pocket" {
			t.Skip("another program")
		}
		checkFrames(t, d)
		checkArguments(t, d)
	})
}

// checkFrames: the managed frames of the named thread, from the top, contain the manifest's frames in order.
func checkFrames(t *testing.T, d *testdump.Dump) {
	seen := d.ManagedFrames(t)
	n := 0
	for name, raw := range d.Manifest.Expect {
		var want []string
		if json.Unmarshal(raw, &want) != nil {
			continue
		}
		var got []string
		for _, s := range seen[name] {
			if s, _, _ = strings.Cut(s, "("); len(got) < len(want) && s == want[len(got)] {
				got = append(got, s)
			}
		}
		assert.Equal(t, want, got, "%s: %v", name, seen[name])
		n++
	}
	assert.Equal(t, 5, n)
}

// checkArguments: arguments and locals are as in the manifest and in the program's source.
func checkArguments(t *testing.T, d *testdump.Dump) {
	object := func(fact string) string {
		text, ok := d.Manifest.Fact(fact)
		require.True(t, ok, fact)
		return strings.Fields(text)[0]
	}
	lock, box, dog := object("main locks"), object("root.BoxString"), object("worker.dog")
	assert.Equal(t, []string{
		`n=0 segments=Pocket.Segment[2] text="t321" d=3.5 c=Blue | 0 "t3210" System.Object true 0`,
		`n=1 segments=Pocket.Segment[2] text="t32" d=2.5 c=Blue | 100 "t321" null false 0`,
		`n=2 segments=Pocket.Segment[2] text="t3" d=1.5 c=Blue | 200 "t32" null false 0`,
		`n=3 segments=Pocket.Segment[2] text="t" d=0.5 c=Blue | 300 "t3" null false 0`,
	}, variablesOf(t, d, "Recurse", true))
	for _, s := range variablesOf(t, d, "InCatch", true) {
		assert.Equal(t, `x=5 | System.FormatException`, s)
	}
	for _, s := range variablesOf(t, d, "InFinally", false) {
		assert.Equal(t, "b="+box+" |", s)
	}
	assert.Equal(t, []string{fmt.Sprintf("o=%s | %s %s false", lock, dog, lock)}, variablesOf(t, d, "WaitForLock", false))
}

// variablesOf returns the arguments, with their names, and locals of the frames of a method, formatted or raw.
func variablesOf(t *testing.T, d *testdump.Dump, method string, words bool) []string {
	var out []string
	text := func(v *stackwalk.Variable) string {
		value, err := v.Value()
		require.NoError(t, err)
		switch value.Kind() {
		case objects.KindInt:
			n, err := value.Int()
			require.NoError(t, err)
			if s := value.Inline(40); s != "" { // an enumeration
				return s
			}
			return fmt.Sprint(n)
		case objects.KindFloat:
			x, err := value.Float()
			require.NoError(t, err)
			return fmt.Sprint(x)
		case objects.KindReference:
			a, err := value.Addr()
			require.NoError(t, err)
			if a == 0 {
				return "null"
			}
			if !words {
				return fmt.Sprintf("%#x", uint64(a))
			}
		}
		return value.Inline(40)
	}
	framesOf(t, d.Dump, method, func(f *stackwalk.Frame, r *objects.Reader) {
		args, locals, err := stackwalk.Variables(f, r)
		require.NoError(t, err)
		var parts []string
		for i := range args {
			parts = append(parts, args[i].Name+"="+text(&args[i]))
		}
		parts = append(parts, "|")
		for i := range locals {
			parts = append(parts, text(&locals[i]))
		}
		out = append(out, strings.Join(parts, " "))
	})
	return out
}
