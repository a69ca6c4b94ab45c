package typetext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestDisassembly: what ends at an offset stands before what begins there, the
// address that was asked for is marked, and source lines come once.
func TestDisassembly(t *testing.T) {
	place := &answer.SourcePlace{File: "a.cs", Line: 7}
	instructions := seq(
		answer.MachineInstruction{Offset: 0, Bytes: "55", Text: "push    rbp", Source: place,
			ILCode: []answer.ILInstruction{{Opcode: "nop"}}},
		answer.MachineInstruction{Offset: 1, Bytes: "0f", Source: place},
		answer.MachineInstruction{Offset: 2, Bytes: "c3", Text: "ret", Name: "x"})
	d := &answer.Disassembly{Name: answer.Text{S: "N.M()"}, Kind: "JIT", Start: 0x1000, Size: 3, At: 0x1001, Instructions: instructions,
		Handlers: []answer.HandlerClause{
			{Kind: "TYPED", Catches: answer.Text{S: "E"}, Try: answer.CodeSpan{End: 1}, Handler: answer.CodeSpan{Start: 1, End: 3}}},
		GC:    &answer.GCInfo{Version: 4, Changes: []answer.GCChange{{Offset: 2, SafePoint: true, Begins: []answer.GCSlot{{Slot: "rax"}}}}},
		ILErr: target.ErrNotInDump}
	got := written(false, d, func(p *report.Page, d *answer.Disassembly) { Disassembly(p, d, DisassemblyOptions{Offsets: true}) })
	assert.Contains(t, got, `IL: <not in dump>

a.cs @ 7:
IL_0000: nop `+`
EHHandler 0: TYPED CLAUSE BEGIN catch(E) 
0000 0000000000001000 55                   push    rbp
EHHandler 0: TYPED CLAUSE END
EHHandler 0: TYPED HANDLER BEGIN catch(E) 
>>> 0001 0000000000001001 0f                   (bad)
00000002 is a safepoint:  +rax
0002 0000000000001002 c3                   ret (x)
EHHandler 0: TYPED HANDLER END
`)
	got = written(true, d, func(p *report.Page, d *answer.Disassembly) { Disassembly(p, d, DisassemblyOptions{NoSource: true}) })
	assert.NotContains(t, got, "a.cs")
	assert.Equal(t, "Not jitted yet\n", written(true, &answer.Disassembly{},
		func(p *report.Page, d *answer.Disassembly) { Disassembly(p, d, DisassemblyOptions{}) }))
}
