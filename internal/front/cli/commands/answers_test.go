package commands_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	root "github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	functions "github.com/sosgo/sosgo/internal/test/answers"
	"github.com/sosgo/sosgo/stackwalk"
)

// elsewhere are the commands with answers that no function of a process returns, and where importers get them.
var elsewhere = map[string]string{
	"diff":         "package internal/heapdiff: it compares dumps",
	"export":       "the packages below export: it writes files",
	"fleet":        "package internal/export/fleet: it writes files",
	"signature":    "package internal/export/fleet: it compares rules over a fleet",
	"traverseheap": "the packages below export: it writes a file",
	"report":       "package ui: it writes a page",
	"web":          "package ui: it serves a page",
	"savemodule":   "image.SaveFile: it writes a file",
	"scrub":        "internal/export/scrub.Write: it writes a file, and asks what the command line asks",
	"shrink":       "internal/export/scrub.Shrink: likewise",
	"ps":           "internal/live/processes.Describe: it asks the processes of this machine",
	"collect":      "internal/live/collect.Dump: it asks a process for its dump",
	"dumpsig":      "dac.Runtime.DescribeSignature",
	"dumpsigelem":  "dac.Runtime.DescribeTypeSignature",
	"registers":    "target.Thread.Registers, in the groups of target.ABI",
	"threadstate":  "dac.ThreadState.Words: it needs no dump",
}

// TestAnswersHaveFunctions checks that importers get what a command prints by a function of a process, or by a method of a View, a Dump or a
// Thread.
func TestAnswersHaveFunctions(t *testing.T) {
	methods := map[reflect.Type]bool{}
	for _, f := range functions.All {
		methods[answerType(reflect.TypeOf(f).Out(0))] = true
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*root.View](), reflect.TypeFor[*root.Dump](), reflect.TypeFor[*stackwalk.Thread]()} {
		for m := range of.Methods() {
			for r := range m.Type.Outs() {
				methods[answerType(r)] = true
			}
		}
	}
	checked := 0
	for _, c := range commands.All() {
		if c.Result == nil {
			continue
		}
		checked++
		result := answerType(c.Result)
		switch _, known := elsewhere[c.Name]; {
		case result == reflect.TypeFor[answer.Memory]() || result == reflect.TypeFor[answer.MemoryText](): // by Dump.Memory
		case !methods[result] && !known:
			t.Errorf("%s prints a %v, which no function of a process returns", c.Name, c.Result)
		case methods[result] && known:
			t.Errorf("%s has a function: it is not elsewhere", c.Name)
		}
	}
	assert.Greater(t, checked, 80)
}

// answerType returns the type of an answer without its pointer.
func answerType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
