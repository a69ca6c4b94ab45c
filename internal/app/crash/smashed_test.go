package crash_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// text is eight characters, which are no address of code.
const text = 0x4141414141414141

// smashes returns the kinds of verdicts about an overwritten stack.
func smashes(t *testing.T, s *crash.Subject) (kinds []string) {
	for _, v := range crash.DescribeSubject(t.Context(), s).Verdicts {
		if v.Says == words.ReturnLed.Kind() || v.Says == words.MethodReturns.Kind() {
			kinds = append(kinds, v.Says)
		}
	}
	return kinds
}

// TestSmashedReturn has a return that led to text, which is no conclusion if the words around the return address are not in the dump.
func TestSmashedReturn(t *testing.T) {
	p, subject, _, died := openFaulty(t)
	s := &target.Signal{Number: target.SIGSEGV, Known: true, Code: target.SIKernel, PID: p.Process().ID}
	p.x = target.Exception{ThreadID: died.OS.ID, Signal: s, Words: s.String()}
	sp := died.Managed.Stack.End - 0x4000
	p.interrupt(text, sp, 0)
	for at := sp - 0x20; at < sp+0x20; at += 8 {
		p.word(at, text)
	}
	assert.Equal(t, []string{words.ReturnLed.Kind()}, smashes(t, subject()))
	for _, cut := range []target.Addr{sp - 8, sp} {
		p.cut = target.RangeAt(cut, 8)
		assert.Empty(t, smashes(t, subject()), "without %s", cut)
	}
	p.cut = target.Range{}
	p.word(sp-8, text+1)
	assert.Empty(t, smashes(t, subject()), "it did not return there")
}

// TestSmashedCaller has another word in the place of the outermost managed frame's return address, and no word.
func TestSmashedCaller(t *testing.T) {
	p, subject, _, died := openFaulty(t)
	s := &target.Signal{Number: target.SIGABRT, Known: true, Code: target.SITkill, PID: p.Process().ID}
	p.x = target.Exception{ThreadID: died.OS.ID, Signal: s, Words: s.String()}
	walker, err := subject().Walker()
	require.NoError(t, err)
	var slot target.Addr
	for f := range walker.Walk(t.Context(), died.Managed, died.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Kind == stackwalk.FrameManaged && f.CallerSP != 0 {
			slot = f.CallerSP - 8
		}
	}
	require.NotZero(t, slot)
	assert.Empty(t, smashes(t, subject()))
	p.word(slot, text)
	assert.Equal(t, []string{words.MethodReturns.Kind()}, smashes(t, subject()))
	clear(p.bytes)
	p.cut = target.RangeAt(slot, 8)
	assert.Empty(t, smashes(t, subject()))
}
