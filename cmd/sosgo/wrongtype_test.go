package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestWrongTypes gives every command that takes an address addresses of other things. The error says once what is
// there, and does not send the reader to doctor: the dump is sound.
func TestWrongTypes(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	names := namesOf(t, d)
	places := []string{names["root.Dog"], names["type Debuggee.Zoo.Dog"], names["md"], names["module"]}
	require.NotContains(t, places, "")
	out, errs, code := run(t, "-json", "help")
	require.Zero(t, code, errs)
	var help struct {
		Result []struct {
			Name string
			Dump bool
			Args []struct{ Kind string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &help))
	failed := 0
	for _, c := range help.Result {
		if !c.Dump || len(c.Args) == 0 || c.Args[0].Kind != "address" {
			continue
		}
		for _, place := range places {
			_, errs, code := run(t, append([]string{"-d", d.Path, "--offline", c.Name}, slices.Repeat([]string{place}, len(c.Args))...)...)
			if code == 0 {
				continue
			}
			failed++
			assert.NotContains(t, errs, "sosgo doctor", "%s %s", c.Name, place)
			assert.NotContains(t, errs, "corrupt data", "%s %s", c.Name, place)
			assert.LessOrEqual(t, strings.Count(errs, ": use "), 1, "%s %s: %s", c.Name, place, errs)
		}
	}
	assert.Greater(t, failed, 60)
	_, errs, code = run(t, "-d", d.Path, "watsonbuckets")
	assert.Equal(t, 5, code)
	assert.Contains(t, errs, "\n  crashinfo explains")
	_, errs, code = run(t, "-d", d.Path, "dumpstring", names["root.Dog"])
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "is not a string but Debuggee.Zoo.Dog: use dumpobj")
}
