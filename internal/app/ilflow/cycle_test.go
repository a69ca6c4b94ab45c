package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
)

// TestLoopOf: what a loop around an await says. In the code, nop (00) stands for an await, the first for the one in question; calls (28) name a method by their token.
func TestLoopOf(t *testing.T) {
	const (
		await, other, ret  = "\x00", "\x14\x26", "\x2a" // other: ldnull, pop, an await of something else
		br, brtrue         = "\x2b", "\x2d"
		blt                = "\x32"
		suspend            = "\x28\x01\x00\x00\x00" + "\xde"
		canceled, moveNext = "\x28\x02\x00\x00\x00", "\x28\x03\x00\x00\x00"
		load               = "\x06"
		clt, store         = "\xfe\x04", "\x0a"
	)
	names := map[metadata.Token]string{1: "AsyncTaskMethodBuilder.AwaitUnsafeOnCompleted", 2: "CancellationToken.get_IsCancellationRequested", 3: "Enumerator.MoveNext"}
	around := AwaitLoop{Around: true}
	for name, c := range map[string]struct {
		code string
		want AwaitLoop
	}{
		"no loop":                      {await + ret, AwaitLoop{}},
		"for ever":                     {await + br + "\xfd" + ret, AwaitLoop{true, true, true}},
		"for ever, and suspends":       {await + suspend + "\x02" + br + "\xf6" + ret, AwaitLoop{true, true, true}},
		"until a token says so":        {br + "\x01" + await + canceled + brtrue + "\xf8" + ret, AwaitLoop{true, true, true}},
		"while it holds":               {br + "\x01" + await + load + brtrue + "\xfc" + ret, AwaitLoop{true, true, false}},
		"with a way out":               {await + load + brtrue + "\x02" + br + "\xfa" + ret, AwaitLoop{true, true, false}},
		"behind another":               {other + await + br + "\xfb" + ret, AwaitLoop{true, false, true}},
		"before another":               {await + other + br + "\xfb" + ret, AwaitLoop{true, true, true}},
		"in the condition":             {br + "\x02" + other + await + load + brtrue + "\xfa" + ret, AwaitLoop{true, true, false}},
		"behind the condition's await": {br + "\x01" + await + other + load + brtrue + "\xfa" + ret, around},
		"counts":                       {br + "\x01" + await + load + load + blt + "\xfb" + ret, AwaitLoop{}},
		"counts, not optimized":        {br + "\x01" + await + load + load + clt + store + load + brtrue + "\xf7" + ret, AwaitLoop{}},
		"one after the other":          {br + "\x01" + await + moveNext + brtrue + "\xf8" + ret, AwaitLoop{}},
		"before one after the other":   {await + br + "\x00" + moveNext + brtrue + "\xf9" + br + "\xf4" + ret, AwaitLoop{true, true, true}},
		"can't be read":                {await + "\x2b", around},
	} {
		p := &tasks.AwaitPoint{Code: []byte(c.code), At: -1, Member: func(token metadata.Token) string { return names[token] }}
		for in, err := range metadata.Instructions(p.Code) {
			switch {
			case err != nil:
			case in.Opcode.String() == "nop" && p.At < 0:
				p.At = in.Offset
				p.Awaits = append(p.Awaits, in.Offset)
			case in.Opcode.String() == "ldnull":
				p.Awaits = append(p.Awaits, in.Offset)
			}
		}
		assert.Equal(t, c.want, OfAwait(p), name)
	}
}
