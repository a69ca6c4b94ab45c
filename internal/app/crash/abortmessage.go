package crash

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// abortPage is the smallest page of a system with glibc. maxAbortMessage is the maximum size of a message's memory.
const (
	abortPage       = 4 << 10
	maxAbortMessage = 64 << 10
)

// abortMessage finds what glibc wrote before it aborted the process, such as "free(): double free detected in tcache 2" or a failed
// assertion. It keeps the text in pages of their own (struct abort_msg_s of stdlib/abort.c): their size, the text, zeros. The stack of the
// thread that aborted refers to them. It returns "" without such pages, and if there are two.
func (d *describer) abortMessage() (found string) {
	t := d.died.Thread
	if t == nil || t.OS == nil || d.p.Target().Platform().OS != target.OSLinux {
		return ""
	}
	sp, ok := t.OS.Registers.SP()
	if !ok {
		return ""
	}
	mem, stack := d.p.Memory(), make([]byte, failFastStack)
	n, _ := mem.ReadMemory(stack, sp)
	last := target.Addr(0)
	for i := 0; i+8 <= n; i += 8 {
		a := target.Addr(binary.LittleEndian.Uint64(stack[i:]))
		if a == 0 || a == last || a%abortPage != 0 {
			continue
		}
		switch text := abortMessageAt(mem, a); {
		case text == "":
		case found != "":
			return ""
		default:
			last, found = a, text
		}
	}
	return found
}

// abortMessageAt returns the message in the pages at a, or "".
func abortMessageAt(mem target.Memory, a target.Addr) string {
	size, err := target.Uint32(mem, a)
	if err != nil || size == 0 || size%abortPage != 0 || size > maxAbortMessage {
		return ""
	}
	b, err := target.Bytes(mem, a+4, int(size)-4)
	if err != nil {
		return ""
	}
	line, rest, ended := bytes.Cut(b, []byte{0})
	line, newline := bytes.CutSuffix(line, []byte{'\n'})
	if !ended || !newline || len(line) == 0 || len(bytes.Trim(rest, "\x00")) > 0 || !utf8.Valid(line) || bytes.ContainsFunc(line, unicode.IsControl) {
		return ""
	}
	return strings.TrimSpace(string(line))
}

// aborted reports whether native code ended the process: the thread sent itself SIGABRT. Either the C library wrote why, or managed code
// called it and the runtime recorded no reason.
func (d *describer) aborted() bool {
	if d.overtaken() {
		return true
	}
	return d.sentAbort() && d.died.Thrown == 0 && d.rt != nil && !d.unreadThreads() && d.caller() != ""
}

// sentAbort reports whether the thread sent itself SIGABRT.
func (d *describer) sentAbort() bool {
	x := d.died.Exception
	return x != nil && x.Signal != nil && x.Signal.Number == target.SIGABRT && x.Signal.Known && x.Signal.Code == target.SITkill &&
		x.Signal.PID == d.p.Target().Process().ID
}

// overtaken reports whether the C library aborted the process while the thread dealt with no exception, whatever it threw before.
func (d *describer) overtaken() bool {
	return d.sentAbort() && d.died.state() == nil && d.died.Deduced.IsZero() && d.abortMessage() != ""
}

// concludeAborted names the caller of the native code that aborted, and what the C library wrote.
func (d *describer) concludeAborted() {
	var evidence []answer.Statement
	if d.died.Thrown == 0 {
		evidence = append(evidence, words.AbortedItself.Of())
	}
	says := words.Aborted.Of(d.calledFrom())
	if text := d.abortMessage(); text != "" {
		says, evidence = words.AbortedWith.Of(words.Text(clipped(text)), d.calledFrom()), append(evidence, words.AbortMessage.Of())
	}
	d.blame(says, answer.StrengthLikely, evidence...)
}
