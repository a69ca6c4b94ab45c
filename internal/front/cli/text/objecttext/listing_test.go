package objecttext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// page writes an answer in one of the two forms.
func page(sos bool, write func(*report.Page)) string {
	var b bytes.Buffer
	write(report.NewPage(&b, sos, func(error) {}))
	return b.String()
}

func TestNotes(t *testing.T) {
	for want, o := range map[string]answer.HeapObject{
		"Free":          {Free: true},
		"":              {},
		`"a\n"`:         {String: &answer.Excerpt{Text: answer.Text{S: "a\n"}, Whole: true}},
		`"a"...`:        {String: &answer.Excerpt{Text: answer.Text{S: "a"}}},
		"<not in dump>": {String: &answer.Excerpt{Text: answer.Text{Err: target.ErrNotInDump}}},
	} {
		assert.Equal(t, want, note(&o))
	}
}

// TestSOSStrings: letters stay, whatever their number; the rest is cut and loses
// what a terminal may act on.
func TestSOSStrings(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 100)
	for in, want := range map[string]string{
		string(long):       string(long),
		string(long) + "-": string(long[:sosStringWidth]),
		"a\tb=c":           "a.b.c",
		"a\xed\xa0\x80b":   "a.b",
	} {
		assert.Equal(t, want, sosString(in))
	}
}

// TestUnknownTypes: SOS has words of its own for a type without a name.
func TestUnknownTypes(t *testing.T) {
	s := &answer.Statistics{Count: 1, Size: 24, Types: []answer.TypeCount{{MethodTable: 0xabc, Count: 1, Size: 24, Type: answer.Text{Err: target.ErrCorrupt}}}}
	assert.Contains(t, page(true, func(p *report.Page) { statistics(p, s, false) }), "<unknown_type_abc>")
	assert.Contains(t, page(false, func(p *report.Page) { statistics(p, s, true) }), "<corrupt>")
}

// TestLoneSurrogates: dumpstring shows half a character as an escape, and -raw writes UTF-8.
func TestLoneSurrogates(t *testing.T) {
	s := &answer.String{Length: 2, Text: answer.LongText{Parts: func(yield func(string, error) bool) { yield("a\xed\xa0\x80\x01", nil) }}}
	assert.Equal(t, "a\\ud800\\x01\n", page(false, func(p *report.Page) { String(p, s) }))
	assert.Equal(t, "a\\ud800\x01", page(false, func(p *report.Page) { RawString(p, s) }))
}
