package typetext

import (
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

func written[T any](sos bool, v T, text func(*report.Page, T)) string {
	var b strings.Builder
	text(report.NewPage(&b, sos, func(error) {}), v)
	return b.String()
}

func known(a target.Addr) answer.Pointer { return answer.Pointer{Maybe: answer.Known(a)} }

// TestNames: SOS lists what is similar, ours only what was found; what is missing
// is not the same as what is not loaded.
func TestNames(t *testing.T) {
	dog := answer.NameMatch{Kind: answer.MatchType, Token: 0x02000002, MethodTable: known(0x7f01), Name: answer.Text{S: "Dog"}}
	puppy := answer.NameMatch{Kind: answer.MatchMethod, Token: 0x06000003, Name: answer.Text{S: "Puppy.Bark()"},
		MethodDesc: answer.Pointer{Maybe: answer.Missing[target.Addr](target.ErrNotInDump)}, Code: known(0)}
	s := &answer.NameSearch{All: true, Without: 1, Matches: []answer.NameMatch{dog}, Modules: []answer.SearchedModule{
		{Module: 0x10, File: answer.Text{S: "a.dll"}},
		{Module: 0x20, File: answer.Text{S: "b.dll"}, Matches: []answer.NameMatch{dog}, Similar: seq(dog, puppy)},
	}}
	const found = `Module:      0000000000000020
Assembly:    b.dll
Token:       0000000002000002
MethodTable: 0000000000007f01
Name:        Dog
`
	const end = `--------------------------------------

Scanned 1 module which had no matches.
`
	assert.Equal(t, found+end, written(false, s, Names))
	assert.Equal(t, found+`-----------------------
Token:       0000000006000003
MethodDesc:  <not in dump>
Name:        Puppy.Bark()
Not JITTED yet.
`+end, written(true, s, Names))
}

func seq[T any](rows ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}
