package commands

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/target"
)

func TestGCLines(t *testing.T) {
	rax := codeinfo.Slot{Base: codeinfo.BaseRegister, Reg: target.RAX, Flags: codeinfo.SlotInterior}
	rsi := codeinfo.Slot{Base: codeinfo.BaseRegister, Reg: target.RSI}
	arg := codeinfo.Slot{Base: codeinfo.BaseSP, Offset: 16}
	point := liveState{offset: 0x20, safePoint: true, live: []codeinfo.Slot{rax, rsi}}
	states := []liveState{
		point,
		{offset: 0x30, interruptible: true, live: []codeinfo.Slot{rax, rsi}},
		{offset: 0x38, interruptible: true, live: []codeinfo.Slot{rsi, arg}},
		{offset: 0x40, interruptible: true, live: []codeinfo.Slot{rsi, arg}},
		{offset: 0x48},
	}
	rest := []gcLine{
		{0x30, " interruptible"},
		{0x30, " +rsi +rax(interior)"},
		{0x38, " -rax(interior) +sp+10"},
		{0x48, " not interruptible"},
		{0x48, " -sp+10 -rsi"},
	}
	v4 := codeinfo.GCDecoder{GCHeader: codeinfo.GCHeader{Version: 4}}
	assert.Equal(t, append([]gcLine{{0x20, " is a safepoint:  +rsi +rax(interior)"}}, rest...), gcLines(&v4, states))
	v3 := codeinfo.GCDecoder{GCHeader: codeinfo.GCHeader{Version: 3}}
	assert.Equal(t, append([]gcLine{{0x20, " is a safepoint: "}, {0x1f, " +rsi +rax(interior)"}}, rest...), gcLines(&v3, states))
	point.live = nil
	assert.Equal(t, []gcLine{{0x20, " is a safepoint: "}}, gcLines(&v3, []liveState{point}))
}

func TestTickAddress(t *testing.T) {
	assert.Equal(t, "00007f27`f48737d7", tickAddress(0x7f27f48737d7))
}
