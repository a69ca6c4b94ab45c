package dap

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestSaid: names in a sentence are as in C#, with the article that they need, or as the runtime has them.
func TestSaid(t *testing.T) {
	st := answer.Statement{Text: `𝄞 waits for a System.Object, in Shop.dll!Shop.Work+Inner.Run(Int32)`, Args: []answer.Arg{
		{Type: answer.ArgTypeName, Start: 15, End: 28}, {Type: answer.ArgMethod, Start: 33, End: 68}, {Type: answer.ArgMethod, Start: 60, End: 99}}}
	assert.Equal(t, `𝄞 waits for an object, in Shop.Work.Inner.Run(int)`, (&session{}).said(&st))
	assert.Equal(t, st.Text, (&session{runtime: true}).said(&st))
	assert.Empty(t, (&session{}).said(&answer.Statement{}))
}
