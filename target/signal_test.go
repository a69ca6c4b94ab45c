package target_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

func TestSignal(t *testing.T) {
	for _, c := range []struct {
		s                      target.Signal
		words                  string
		sent, faulted, touched bool
		stops                  bool
	}{
		{s: target.Signal{Number: 11}, words: "SIGSEGV"},
		{s: target.Signal{Number: 11, Known: true}, words: "SIGSEGV/SI_USER", sent: true},
		{s: target.Signal{Number: 11, Known: true, Code: 1}, words: "SIGSEGV/SEGV_MAPERR", faulted: true, touched: true},
		{s: target.Signal{Number: 11, Known: true, Code: 10}, words: "SIGSEGV/SEGV_CPERR", faulted: true, touched: true},
		{s: target.Signal{Number: 11, Known: true, Code: 0x80}, words: "SIGSEGV/SI_KERNEL"},
		{s: target.Signal{Number: 8, Known: true, Code: 1}, words: "SIGFPE/FPE_INTDIV", faulted: true},
		{s: target.Signal{Number: 6, Known: true, Code: -6}, words: "SIGABRT/SI_TKILL", sent: true},
		{s: target.Signal{Number: 10, Known: true, Code: -1}, words: "SIGUSR1/SI_QUEUE", sent: true},
		{s: target.Signal{Number: 31, Known: true, Code: 1}, words: "SIGSYS/SYS_SECCOMP"},
		{s: target.Signal{Number: 14, Known: true, Code: -2}, words: "SIGALRM/SI_TIMER"},
		{s: target.Signal{Number: 37, Known: true, Code: 77}, words: "SIGRTMIN+3/code 77"},
		{s: target.Signal{Number: 99}, words: "SIG(99)"},
		{s: target.Signal{Number: 19}, words: "SIGSTOP", stops: true},
		{s: target.Signal{Number: 5, Known: true, Code: 0x8005}, words: "SIGTRAP/code 32773", stops: true},
	} {
		assert.Equal(t, c.words, c.s.String())
		assert.Equal(t, c.sent, c.s.Sent(), c.words)
		assert.Equal(t, c.faulted, c.s.Faulted(), c.words)
		_, touched := c.s.Touched()
		assert.Equal(t, c.touched, touched, c.words)
		assert.Equal(t, c.stops, c.s.Stops(), c.words)
	}
}
