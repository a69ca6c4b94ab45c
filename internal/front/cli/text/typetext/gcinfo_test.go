package typetext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestGCLines: what ends comes before what begins, the last slot first, and
// safe points have one line or, before version 4, two.
func TestGCLines(t *testing.T) {
	offset := int32(16)
	rax, rsi := answer.GCSlot{Slot: "rax", Interior: true}, answer.GCSlot{Slot: "rsi"}
	arg := answer.GCSlot{Slot: "rsp+10", FromSP: &offset}
	g := &answer.GCInfo{Version: 4, Changes: []answer.GCChange{
		{Offset: 0x20, SafePoint: true, Begins: []answer.GCSlot{rax, rsi}},
		{Offset: 0x30, Switches: true, Interruptible: true, Begins: []answer.GCSlot{rax, rsi}},
		{Offset: 0x38, Interruptible: true, Ends: []answer.GCSlot{rax}, Begins: []answer.GCSlot{arg}},
		{Offset: 0x40, Interruptible: true},
		{Offset: 0x48, Switches: true, Ends: []answer.GCSlot{rsi, arg}},
	}}
	rest := []gcLine{
		{0x30, " interruptible"},
		{0x30, " +rsi +rax(interior)"},
		{0x38, " -rax(interior) +sp+10"},
		{0x48, " not interruptible"},
		{0x48, " -sp+10 -rsi"},
	}
	assert.Equal(t, append([]gcLine{{0x20, " is a safepoint:  +rsi +rax(interior)"}}, rest...), gcLines(g))
	g.Version = 3
	assert.Equal(t, append([]gcLine{{0x20, " is a safepoint: "}, {0x1f, " +rsi +rax(interior)"}}, rest...), gcLines(g))
	g.Changes = []answer.GCChange{{Offset: 0x20, SafePoint: true}}
	assert.Equal(t, []gcLine{{0x20, " is a safepoint: "}}, gcLines(g))
}

func TestTickAddress(t *testing.T) {
	assert.Equal(t, "00007f27`f48737d7", tickAddress(0x7f27f48737d7))
}
