package crash

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A fault is a position where the processor stopped code.
type fault struct {
	regs  target.Registers
	how   answer.Statement // how it is known
	where string           // the code; empty if unknown
}

// interruptedContext adds the position of a thread that died of a signal. If its handler runs, as in dumps that the
// process wrote itself, it is the interrupted position. Otherwise, as in the kernel's dumps, it is the thread's current
// position.
func (d *describer) interruptedContext() {
	x, t := d.died.Exception, d.died.Thread
	if x == nil || x.Signal == nil || t == nil || t.OS == nil {
		return
	}
	s := x.Signal
	if !s.Faulted() && (s.Number != target.SIGSEGV || !s.Known || s.Code != target.SIKernel) {
		return
	}
	if f := d.interrupted(); f != nil {
		d.fault = f
		d.context("what the signal interrupted", &f.regs)
	} else if d.touchesAt(&t.OS.Registers) || !s.Faulted() && len(d.unreportable(&t.OS.Registers)) > 0 {
		d.fault = &fault{regs: t.OS.Registers, how: words.AccessesThat.Of()}
	} else if x.Final && d.unseen(&t.OS.Registers) {
		d.fault = &fault{regs: t.OS.Registers, how: words.StandsThere.Of()}
	}
	if d.fault == nil {
		return
	}
	ip, _ := d.fault.regs.IP()
	d.fault.where = d.where(ip)
	if !s.Faulted() { // the record of a non-canonical address has no information
		for _, a := range d.unreportable(&d.fault.regs) {
			d.touch(a, "", words.ByInstruction)
		}
	}
}

// unreportable returns the addresses accessed by the current instruction that a processor does not report.
func (d *describer) unreportable(regs *target.Registers) []target.Addr {
	ip, known := regs.IP()
	if !known {
		return nil
	}
	return slices.DeleteFunc(disasm.Touches(regs, d.instruction(ip)), func(a target.Addr) bool { return !reportedAsZero(a) })
}

// interrupted returns the position that the thread's signal handler interrupted, or nil if it is unknown.
func (d *describer) interrupted() *fault {
	w, err := d.walker()
	if err != nil {
		w = stackwalk.NewNativeWalker(d.p.Target(), d.p.Memory())
	}
	t := d.died.Thread
	regs, trust, ok := w.Interrupted(t.Managed, t.OS.Registers)
	if !ok {
		return nil
	}
	how := words.SavedRegisters
	if trust < unwind.TrustUnwind {
		how = words.SavedByPattern
	}
	return &fault{regs: regs, how: how.Of()}
}

// touchesAt reports whether the current instruction accesses the address in the dump's record.
func (d *describer) touchesAt(regs *target.Registers) bool {
	a, _, ok := touchedBy(d.died.Exception)
	ip, known := regs.IP()
	if !ok || !known {
		return false
	}
	if a == ip {
		return true
	}
	const widest = 64 // bytes of one access
	for _, to := range disasm.Touches(regs, d.instruction(ip)) {
		if a >= to && a-to < widest {
			return true
		}
	}
	return false
}

// unseen reports whether the current instruction can't show its accesses: it is not in the dump, or its operands are
// not decoded for this processor.
func (d *describer) unseen(regs *target.Registers) bool {
	ip, known := regs.IP()
	return known && (!disasm.ShowsAccess(regs.Arch) || len(d.instruction(ip)) == 0)
}

// instruction returns the code at ip, as far as it is in the dump.
func (d *describer) instruction(ip target.Addr) []byte {
	const longest = 15
	b := make([]byte, longest)
	n, _ := d.p.Memory().ReadMemory(b, ip)
	return b[:n]
}

// decoded returns the instruction at ip as text, or the zero Statement if it can't be read.
func (d *describer) decoded(ip target.Addr) answer.Statement {
	for in := range disasm.Decode(d.p.Target().Platform().Arch, d.instruction(ip), ip) {
		if in.Text != "" {
			return words.Decoded.Of(words.Text(in.Text))
		}
		break
	}
	return answer.Statement{}
}

// unreported returns the accessed address and the record that has it, for a managed exception with the reported address a. A
// reported 0 also stands for non-canonical addresses; the code then shows the real address.
func (d *describer) unreported(a target.Addr, by *words.Sentence) (target.Addr, *words.Sentence) {
	if a != 0 || !d.p.Target().Platform().HidesAddresses() {
		return a, by
	}
	s := d.died.state()
	if s == nil || s.Context == 0 {
		d.hidden = true
		return a, by
	}
	regs, err := d.readContext(s.Context)
	if err != nil {
		d.hidden = true
		return a, by
	}
	ip, _ := regs.IP()
	list := disasm.Touches(&regs, d.instruction(ip))
	for _, to := range list {
		if reportedAsZero(to) {
			return to, words.ByInstruction
		}
	}
	d.hidden = !slices.Contains(list, 0)
	return a, by
}

// sender returns the process and the user that sent the signal for which the runtime recorded a fault at a, if the code did not access a. The
// runtime takes any SIGSEGV for a fault. The kernel puts the sender where the address of a fault is (siginfo_t): its process id, then its user.
// A position behind a call shows nothing: for a fault in a helper, such as the write barrier, the runtime records its caller.
func (d *describer) sender(a target.Addr) (pid, user uint32, sent bool) {
	s := d.died.state()
	if s == nil || s.Context == 0 || d.p.Target().Platform().OS != target.OSLinux {
		return 0, 0, false
	}
	regs, err := d.readContext(s.Context)
	if err != nil {
		return 0, 0, false
	}
	ip, _ := regs.IP()
	for _, at := range []target.Addr{ip, ip + 1} {
		if _, called, err := unwind.CallBefore(d.p.Memory(), regs.Arch, at); called || err != nil {
			return 0, 0, false
		}
	}
	pid, user = uint32(a), uint32(a>>32)
	return pid, user, a != ip && pid > 0 && pid <= maxPID && disasm.Untouched(&regs, d.instruction(ip), a)
}

// maxPID is the largest process id of Linux (PID_MAX_LIMIT).
const maxPID = 4 << 20

// sent reports whether x is what the runtime made of a signal that was sent.
func (d *describer) sent(x *Fault) bool {
	t := d.out.Touched
	if t == nil || t.By.Says != words.ByRuntimesRecord.Kind() || x.Type != accessViolation && x.Type != nullReference {
		return false
	}
	_, _, sent := d.sender(t.Address)
	return sent
}

// concludeSent names the process that sent the signal which the runtime took for a fault.
func (d *describer) concludeSent() {
	a := d.out.Touched.Address
	pid, user, _ := d.sender(a)
	d.out.Usual = answer.Statement{}
	d.blame(words.SentFault.Of(words.Number(int(pid)), words.Number(int(user))), answer.StrengthLikely, words.NotAccessed.Of(words.Address(a)))
}

// concludeFault describes the faulting code if no managed exception represents the fault.
func (d *describer) concludeFault() {
	f, out := d.fault, d.out
	ip, _ := f.regs.IP()
	a, access, touched := touchedBy(d.faultRecord())
	says := d.faultSays(ip, a, access, touched)
	evidence := []answer.Statement{words.FaultAt.Of(f.how, words.Address(ip), d.decoded(ip))}
	overwritten := d.overwritten() // the collector may have a module of its own
	if overwritten == nil && d.rt != nil && d.rt.Instance().Module.Contains(ip) {
		evidence = append(evidence, words.RuntimesCode.Of(d.heapCheck()))
	}
	if out.Touched != nil {
		if text := readAsText(out.Touched.Address); !text.IsZero() {
			evidence = append(evidence, words.ReadsAsText.Of(words.Address(out.Touched.Address), text))
		}
	}
	if d.mapped != "" {
		evidence = append(evidence, words.InFileMapping.Of(words.Address(out.Touched.Address), words.Text(d.mapped)))
	}
	d.blame(says, answer.StrengthLikely, evidence...)
	out.Verdicts = append(out.Verdicts, overwritten...)
}

// heapCheck names the command that checks the heap, says why it can't be judged, or returns nothing if it is not in the dump.
func (d *describer) heapCheck() answer.Statement {
	h, err := d.p.Heap()
	switch {
	case err != nil || h.Unread() != nil:
		return answer.Statement{}
	case h.InGC():
		return words.HeapUnjudged.Of()
	}
	return words.HeapChecked.Of()
}

// overwritten concludes which object of the heap the runtime tripped over: one with the word that it followed in place of a MethodTable. It returns nil if
// that word may be the address of something.
func (d *describer) overwritten() []answer.Verdict {
	t := d.out.Touched
	if t == nil || t.Address < nullRange || !reportedAsZero(t.Address) && !d.unmapped(t.Address) {
		return nil
	}
	if d.noHeap {
		d.out.Note(errFaultingObject)
		return nil
	}
	return memory.FaultingObject(d.ctx, d.p, t.Address)
}

// unmapped reports whether a is in no memory of the process. Without a list of memory it is not known.
func (d *describer) unmapped(a target.Addr) bool {
	listed := false
	for r := range d.p.Target().Regions() {
		if listed = true; target.RangeAt(r.Start, r.Size).Contains(a) {
			return false
		}
	}
	return listed
}

// faultSays describes the fault of the code at ip. If touched is set, it was an access to a.
func (d *describer) faultSays(ip, a target.Addr, access string, touched bool) answer.Statement {
	call := answer.Statement{}
	if d.caller() != d.fault.where {
		call = d.calledFrom()
	}
	where := words.Method(d.fault.where)
	switch t := d.out.Touched; {
	case touched && a == ip:
		return words.JumpedTo.Of(words.Address(a), call)
	case d.fault.where == "":
		return words.CodeFaulted.Of(words.Address(ip), call)
	case t != nil:
		kind := answer.Statement{}
		if access != "" {
			kind = words.AccessKind.Of(words.Text(access))
		}
		if disasm.TouchesNone(d.fault.regs.Arch, d.instruction(ip)) {
			return words.TouchesNone.Of(where, words.Address(t.Address), kind, d.returnsTo(ip), call)
		}
		return words.Accessed.Of(where, words.Address(t.Address), kind, call)
	case d.raised != nil:
		return words.RaisedException.Of(where, d.out.Why, call)
	}
	return words.Faulted.Of(where, call)
}

// returnsTo says that ip is a return address if a call ends there.
func (d *describer) returnsTo(ip target.Addr) answer.Statement {
	if _, ok, err := unwind.CallBefore(d.p.Memory(), d.fault.regs.Arch, ip); !ok || err != nil {
		return answer.Statement{}
	}
	return words.IsReturn.Of()
}

// calledFrom describes the call of native code: the method that it implements and its caller.
func (d *describer) calledFrom() answer.Statement {
	var as, from answer.Statement
	caller := d.caller()
	if d.invoked != "" && d.invoked != caller {
		as = words.CalledAs.Of(words.Method(d.invoked))
	}
	if caller != "" {
		from = words.CalledBy.Of(words.Method(caller))
	}
	return words.CalledFrom.Of(as, from)
}

// caller returns the innermost managed method of the thread that died, without the runtime's stubs, or "".
func (d *describer) caller() string {
	for i := range d.out.Stack {
		if m := d.out.Stack[i].Method; m.Err == nil && !d.out.StacksOnly && !strings.HasPrefix(m.S, "ILStubClass.") {
			return m.S
		}
	}
	return ""
}

// stoodAt returns where the thread that died stood, for an exception without a stack trace: the innermost method of the program, and the
// framework's methods that it called.
func (d *describer) stoodAt() []Place {
	var out []Place
	for i := range d.out.Stack {
		f := &d.out.Stack[i]
		if f.Method.Err != nil || strings.HasPrefix(f.Method.S, "System.Runtime.EH.") {
			continue
		}
		out = append(out, Place{Function: f.Method.S, File: f.File, Line: f.Line})
		if !answer.LibraryMethod(f.Method.S) {
			break // helpers of the framework, and the program's method that called them
		}
	}
	return out
}
