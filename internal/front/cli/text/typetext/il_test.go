package typetext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestIL: handlers are blocks, one .try for several of them but in SOS's form,
// and SOS cuts names and shows no type that is caught.
func TestIL(t *testing.T) {
	long := strings.Repeat("x", 60)
	call := answer.ILOperand{Kind: answer.ILName, Token: 0x06000001, Name: answer.ILToken{Before: "void ",
		Type: answer.ILType{Kind: answer.ILTypeDef, Full: "Ns.Outer/" + long, Own: long}, Member: "Run", After: "(int32)"}}
	text := "a\nb"
	il := &answer.IL{MethodDesc: 0x10, Address: known(0x7f00), CodeSize: 12,
		Instructions: seq(
			answer.ILInstruction{Offset: 0, Opcode: "call", Operand: call},
			answer.ILInstruction{Offset: 5, Opcode: "ldstr", Operand: answer.ILOperand{Kind: answer.ILName, Name: answer.ILToken{Literal: &text}}},
			answer.ILInstruction{Offset: 10, Opcode: "ldc.r8", Operand: answer.ILOperand{Kind: answer.ILFloat, Float: 1.5}},
			answer.ILInstruction{Offset: 11, Opcode: "ret"}),
		Clauses: []answer.ILClause{
			{Kind: "catch", Try: [2]uint32{0, 5}, Handler: [2]uint32{5, 5}, Type: answer.Text{S: "Ns.Error"}},
			{Kind: "finally", Try: [2]uint32{0, 5}, Handler: [2]uint32{10, 1}},
		}}
	assert.Equal(t, `ilAddr is 0000000000007f00
ilAddr = 0000000000007f00
.try
{
  IL_0000: call void Ns.Outer/`+long+`::Run(int32)
} // end .try
.catch Ns.Error
{
  IL_0005: ldstr "a\nb"
} // end .catch
.finally
{
  IL_000a: ldc.r8 1.5
} // end .finally
IL_000b: ret 
`, written(false, il, IL))
	assert.Equal(t, `ilAddr is 0000000000007f00
ilAddr = 0000000000007f00
.try
{
  .try
  {
    IL_0000: call void `+long[:48]+`::Run(int32)
  } // end .try
  .catch
  {
  } // end .try
  IL_0005: ldstr "a\nb"
} // end .catch
.finally
{
  IL_000a: ldc.r8 1.500000
} // end .finally
IL_000b: ret 
`, written(true, il, IL))
}

// TestILWithout: no body is an answer, in SOS's words for what is compiled.
func TestILWithout(t *testing.T) {
	il := &answer.IL{MethodDesc: 0x10, NoBody: true, Compiled: true}
	assert.Contains(t, written(false, il, IL), "no IL body")
	assert.Contains(t, written(true, il, IL), "Unable to retrieve IL")
	il.Compiled = false
	assert.Contains(t, written(true, il, IL), "no IL body")
}

// TestNestedHandlers: of deeply nested handlers the lines begin at most MostIndent levels deep.
func TestNestedHandlers(t *testing.T) {
	const depth = 5000
	il := &answer.IL{MethodDesc: 0x10, Address: known(0x7f00), CodeSize: 20_000, Instructions: seq(answer.ILInstruction{Offset: 9000, Opcode: "ret"})}
	for i := range uint32(depth) {
		il.Clauses = append(il.Clauses, answer.ILClause{Kind: "finally", Try: [2]uint32{i, 20_000 - 2*i}, Handler: [2]uint32{20_000 - i, 0}})
	}
	var b strings.Builder
	IL(report.NewPage(&b, true, nil), il)
	assert.Positive(t, b.Len())
	assert.Less(t, b.Len(), 4*depth*(2*report.MostIndent+30))
}
