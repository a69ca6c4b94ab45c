package crash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// faultParameters maps the codes of processor exceptions to their number of parameters (winnt.h).
var faultParameters = map[uint32]uint32{
	codeAccess: 2, codeInPage: 3, codeGuardPage: 2,
	0x80000002: 0, 0x80000003: 1, 0xc000001d: 0, 0xc0000094: 0, 0xc0000095: 0, 0xc0000096: 0,
}

// contextEx is the size of the CONTEXT_EX between the CONTEXT and the EXCEPTION_RECORD that the system leaves on the
// stack for KiUserExceptionDispatcher (struct exc_stack_layout of Wine's signal_x86_64.c and signal_arm64.c).
const contextEx = 0x20

// A stackRecord is an EXCEPTION_RECORD found on a stack.
type stackRecord struct {
	*target.Exception
	at    target.Addr
	regs  target.Registers // at the time of the exception
	exact bool             // regs are the CONTEXT in front of the record
}

// raise finds the record of a fault for which the runtime ended the process if the dump does not have it. The runtime's
// own dumps on Windows do not. The record is on the stack of the thread that died, inside its innermost frame.
func (d *describer) raise() {
	t := d.died.Thread
	if d.died.Exception != nil || !d.died.fatal() || d.out.FailFast != nil || d.overflowed() || d.p.Target().Platform().FaultsAreSignals() {
		return
	}
	stack, err := t.Stack(d.p.Target())
	if err != nil {
		d.out.Note(err)
		return
	}
	r := stack.Ranges[0]
	if r.Contains(d.innermost) {
		r.End = d.innermost
	}
	best := d.recordIn(r)
	if best == nil {
		return
	}
	x := best.Exception
	d.raised = x
	d.ended(Reason(x, 0))
	d.out.Code, d.out.Address = x.Words, answer.Known(x.Address)
	d.out.Records, d.out.Where = append(d.out.Records, describeExceptionRecord(x)), d.where(x.Address)
	if a, access, ok := touchedBy(x); ok {
		d.touch(a, access, words.ByRecordOnStack)
	}
	beside := answer.Statement{}
	if best.exact {
		beside = words.RegistersBeside.Of()
		later := d.out.Contexts
		d.out.Contexts = nil
		d.context(words.ByRecordOnStack.Of().Text, &best.regs)
		d.out.Contexts = append(d.out.Contexts, later...)
	}
	d.fault = &fault{regs: best.regs, how: words.RecordOnStack.Of(words.Address(best.at), words.Text(x.Words), beside), where: d.out.Where}
}

// recordIn returns the most plausible fault record in a part of a stack. It prefers records with registers, then faults
// outside of the runtime, then the outermost record, which came first.
func (d *describer) recordIn(r target.Range) *stackRecord {
	var best *stackRecord
	rank := func(c *stackRecord) int {
		n := 0
		if c.exact {
			n += 2
		}
		if !d.rt.Instance().Module.Contains(c.Address) {
			n++
		}
		return n
	}
	stack := make([]byte, r.Size())
	n, _ := d.p.Memory().ReadMemory(stack, r.Start)
	for i := 0; i+recordParams <= n; i += 8 {
		params, ok := faultParameters[binary.LittleEndian.Uint32(stack[i:])]
		flags := binary.LittleEndian.Uint32(stack[i+recordFlags:])
		if !ok || flags > 1 || binary.LittleEndian.Uint32(stack[i+recordNumParams:]) != params {
			continue
		}
		if c := d.recordAt(r, r.Start+target.Addr(i)); c != nil && (best == nil || rank(c) >= rank(best)) {
			best = c
		}
	}
	return best
}

// recordAt returns the record at a, or nil if its contents are impossible.
func (d *describer) recordAt(stack target.Range, a target.Addr) *stackRecord {
	x, err := readExceptionRecord(d.p.Memory(), a)
	if err != nil || x.Record != 0 && !stack.Contains(x.Record) {
		return nil
	}
	touched, access, touches := touchedBy(x)
	if touches && access == "" || d.where(x.Address) == "" && (!touches || touched != x.Address) {
		return nil
	}
	c := &stackRecord{Exception: x, at: a}
	if p, err := d.p.Target().Platform().Arch.Processor(); err == nil {
		regs, err := d.readContext(a - target.Addr(p.Context.Size+contextEx))
		ip, _ := regs.IP()
		sp, _ := regs.SP()
		if c.exact = err == nil && ip == x.Address && sp > a; c.exact {
			c.regs = regs
			return c
		}
	}
	c.regs = target.Registers{Arch: d.p.Target().Platform().Arch}
	c.regs.SetIP(x.Address)
	return c
}

// faultRecord returns the dump's record, else the record on the stack.
func (d *describer) faultRecord() *target.Exception { return cmp.Or(d.died.Exception, d.raised) }

// concludeFatal describes a fatal error with an unknown fault. The runtime sets the same exception for an error in
// itself, for a fault in native code, and for what it reports in words.
func (d *describer) concludeFatal() {
	if text := d.fatalMessage(); text != "" {
		d.blame(words.FatalMessage.Of(words.Text(text), d.calledFrom()), answer.StrengthLikely, words.FatalErrorSet.Of(threadSays(d.died.Thread)),
			words.FatalMessageFound.Of())
		return
	}
	says := words.FatalError.Of()
	d.likely(says.Plus(words.FatalCauses.Of(d.calledFrom())))
	d.conclusion(says, answer.StrengthProved, words.FatalErrorSet.Of(threadSays(d.died.Thread)))
}

// fatalMessages are how messages begin with which the runtime ends a process (CoreCLR, EEPOLICY_HANDLE_FATAL_ERROR_WITH_MESSAGE).
var fatalMessages = []string{
	"A callback was made on a garbage collected delegate of type ",
	"Invalid Program: attempted to call a UnmanagedCallersOnly method from managed code",
}

// fatalMessage finds such a message, in UTF-16, in the stack memory of the thread that died, or where a word of the stack refers to it. It
// returns "" without one.
func (d *describer) fatalMessage() string {
	sp, ok := d.died.Thread.OS.Registers.SP()
	if !ok {
		return ""
	}
	mem, stack := d.p.Memory(), make([]byte, failFastStack)
	n, _ := mem.ReadMemory(stack, sp)
	stack = stack[:n]
	for _, begin := range fatalMessages {
		text := utf16Bytes(begin)
		if i := bytes.Index(stack, text); i >= 0 {
			return strings.TrimRight(textBeforeNUL(stack[i:], maxFatalMessage), ".\r\n")
		}
		there := make([]byte, len(text))
		for i := 0; i+8 <= n; i += 8 {
			a := target.Addr(binary.LittleEndian.Uint64(stack[i:]))
			if k, _ := mem.ReadMemory(there, a); k == len(text) && bytes.Equal(there, text) {
				whole := make([]byte, 2*maxFatalMessage)
				k, _ = mem.ReadMemory(whole, a)
				return strings.TrimRight(textBeforeNUL(whole[:k], maxFatalMessage), ".\r\n")
			}
		}
	}
	return ""
}

// maxFatalMessage is the maximum number of UTF-16 code units of a message.
const maxFatalMessage = 1 << 10

// textBeforeNUL returns the UTF-16 text at the start of b, of most code units at most.
func textBeforeNUL(b []byte, most int) string {
	var text []uint16
	for ; len(b) >= 2 && len(text) < most; b = b[2:] {
		c := binary.LittleEndian.Uint16(b)
		if c == 0 {
			break
		}
		text = append(text, c)
	}
	return utf16text.FromUnits(text)
}
