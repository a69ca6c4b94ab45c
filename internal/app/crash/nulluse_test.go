package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/disasm"
)

// TestTouching checks that the faulting address selects among a statement's reference uses, and never excludes all.
func TestTouching(t *testing.T) {
	field, far, lost := disasm.NullUse{What: "field", At: 16}, disasm.NullUse{What: "far", At: 24}, disasm.NullUse{What: "lost", At: -1}
	call, element := disasm.NullUse{What: "call", Calls: true}, disasm.NullUse{What: "element", At: 8}
	for _, c := range []struct {
		uses, want []disasm.NullUse
		at         int64
	}{
		{[]disasm.NullUse{field, call}, []disasm.NullUse{call}, 0},
		{[]disasm.NullUse{field, call}, []disasm.NullUse{field}, 16},
		{[]disasm.NullUse{field, far, element}, []disasm.NullUse{element}, 8},
		{[]disasm.NullUse{far, call}, []disasm.NullUse{call}, 8},         // the called method's code takes the place of the call
		{[]disasm.NullUse{far, lost}, []disasm.NullUse{lost}, 16},        // a use with an unknown offset
		{[]disasm.NullUse{field, far}, []disasm.NullUse{field, far}, 32}, // a field of a value in a field
		{nil, nil, 8},
	} {
		assert.Equal(t, c.want, crash.Touching(c.uses, c.at), c.uses)
	}
}
