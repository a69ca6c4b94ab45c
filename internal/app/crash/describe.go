package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// noAddress is an address that is not in the dump.
var noAddress = answer.Missing[target.Addr](target.ErrNotInDump)

// Describe describes the crash of a process on one page: the record, the thread that died with its registers and
// managed stack, the exceptions of all threads, and the conclusions. For a process that had not crashed it describes
// what the threads wait for. The error is ctx's, if ctx ended before anything was found.
func Describe(ctx context.Context, p *process.Process, o Options) (*answer.Crash, error) {
	return process.Answer(ctx, p, func(ctx context.Context, _ *process.Call) (*answer.Crash, error) {
		return settled(p, describe(ctx, p, o)), nil
	})
}

// settled makes the conclusions about a crash no stronger than their premises. A cause that can't be judged is no cause.
func settled(p *process.Process, out *answer.Crash) *answer.Crash {
	if out == nil {
		return nil
	}
	for i, v := range out.Verdicts {
		out.Verdicts[i] = words.LowerOne(v, words.StateFor(&v, p.State, p.StackState))
	}
	if n := out.Blames; n > 0 && out.Verdicts[n-1].Says == words.CantBeJudged.Kind() {
		out.Blames, out.Likely, out.Cause, out.Usual = 0, "", answer.Statement{}, answer.Statement{}
	}
	return out
}

func describe(ctx context.Context, p *process.Process, o Options) *answer.Crash {
	list, lost := p.Threads()
	return describeFrom(ctx, p, list, lost, o)
}

// describeFrom is describe with a list of the threads. lost is why it may be incomplete.
func describeFrom(ctx context.Context, p *process.Process, list []stackwalk.Thread, lost error, o Options) *answer.Crash {
	if r := crashreport.Of(p.Dump().File().Target); r != nil {
		return r.Crash()
	}
	died, err := readFrom(p, list, lost)
	if died.Record != nil {
		if rt, rerr := p.Runtime(); rerr == nil {
			died.Record.Exception.locate(rt, p.Memory())
		}
		out := describeRecord(died.Record, p.Target().Modules())
		out.Note(err)
		return out
	}
	d := &describer{ctx: ctx, p: p, noHeap: o.NoHeap, waits: o.Waits, died: died, out: &answer.Crash{Address: noAddress}}
	d.out.Note(err)
	d.describe()
	d.out.Unmanaged = err == nil && d.rt != nil && died.Thread != nil && died.Thread.Managed == nil
	return d.out
}

// DescribeBriefly summarizes a crash: the reason, the type and message of the exception, and a verdict with its
// strength. If the dump shows no crash, the answer has only the objects of contended monitors; without those it is nil.
// It omits unreadable parts.
func DescribeBriefly(p *process.Process, o Options) *answer.Crash {
	return settled(p, describeBriefly(p, o))
}

func describeBriefly(p *process.Process, o Options) *answer.Crash {
	if r := crashreport.Of(p.Dump().File().Target); r != nil {
		return r.Crash()
	}
	died, _ := read(p) // Describe reports the error
	if !died.ended() {
		return waitedFor(p)
	}
	if died.Record != nil {
		return describeRecord(died.Record, nil)
	}
	d := &describer{p: p, noHeap: o.NoHeap, died: died, out: &answer.Crash{Address: noAddress}}
	d.record()
	rt, err := p.Runtime()
	if err != nil {
		return d.out
	}
	d.ctx, d.rt = context.Background(), rt
	d.beforeMain()
	if died.Thrown == 0 || !d.blames() {
		return d.out
	}
	x, err := dac.CodeOf(rt).DescribeException(died.Thrown, dac.ExceptionOptions{Brief: true})
	if err == nil && x.Type.Err == nil {
		d.out.Exceptions = []answer.Exception{*x}
		strength, evidence := d.blamed()
		d.conclusion(notCaught(d.faults(d.out.Exceptions), false), strength, evidence)
	}
	return d.out
}

// waitedFor returns the objects of monitors that are held and waited for, or nil.
func waitedFor(p *process.Process) *answer.Crash {
	rt, err := p.Runtime()
	if err != nil {
		return nil
	}
	w := &answer.Waiting{}
	for b, err := range rt.SyncBlocks() {
		if err == nil && b.Held && b.Waiters > 0 {
			w.Monitors = append(w.Monitors, answer.Monitor{Object: b.Object})
		}
	}
	if len(w.Monitors) == 0 {
		return nil
	}
	return &answer.Crash{Alive: true, Waiting: w, Address: noAddress}
}

// A describer describes one crash of a CLR, or of a process without one.
type describer struct {
	ctx    context.Context
	p      *process.Process
	noHeap bool
	waits  func() (*answer.Waits, error) // of Options
	rt     *dac.Runtime                  // nil if no runtime can be read
	died   *Crash
	out    *answer.Crash
	fatal  *stackwalk.Frame // outermost frame of Environment.FailFast on the stack, or nil
	argued target.Addr      // exception among the references of FailFast's frames, or 0
	fault  *fault           // fault of native code, or nil
	// raised is the record of the fault on the stack of the thread that died, if the dump has no record; otherwise nil.
	raised *target.Exception
	// innermost is the stack pointer of the innermost frame of the thread that died, or 0. invoked is the native method
	// that this frame calls, or "".
	innermost target.Addr
	invoked   string
	// hidden reports that the faulting address was reported as 0, which may stand for any address that the processor
	// rejects.
	hidden bool
	mapped string // the mapped file that the touched address is in, or ""
	outer  outer
	gaveUp bool // the runtime's exception handling called Environment.FailFast
	// written is the crash record of a NativeAOT process if the system's record does not refer to it; otherwise nil.
	written *Record
}

// walker returns the walker for stacks: the native one if the dump has only stacks.
func (d *describer) walker() (*stackwalk.Walker, error) {
	if d.p.StacksOnly() {
		return d.p.NativeWalker(), nil
	}
	return d.p.Walker()
}

// symbols returns the symbols for native code if the dump has only stacks, otherwise nil.
func (d *describer) symbols() *image.Symbols {
	if d.p.StacksOnly() {
		return d.p.Dump().Symbols()
	}
	return nil
}

func (d *describer) describe() {
	rt, err := d.p.Runtime()
	if d.rt = rt; err != nil {
		d.rt = nil
		if d.out.StacksOnly = errors.As(err, new(*dac.StacksOnlyError)); !d.out.StacksOnly {
			d.out.Note(err)
		}
	}
	d.record()
	if t := d.died.Thread; t != nil {
		d.out.ThreadID = t.ID()
		d.out.ThreadName = d.out.Text(t.Name())
		described := t.Describe(nil)
		d.out.Thread = &described
	}
	d.contexts()
	if d.out.StacksOnly {
		d.nativeStack()
	}
	if d.rt == nil {
		d.conclude()
		return
	}
	d.own()
	d.carried()
	d.stack()
	d.beforeMain()
	thrown := d.died.Thrown
	switch {
	case d.out.FailFast == nil:
	case d.died.fatal():
		thrown = d.argument(thrown)
	case d.argued != 0:
		thrown = d.argued
	}
	d.causes(thrown)
	d.raise()
	d.conclude()
}

// own reads the crash record that a NativeAOT process wrote before it raised a signal.
func (d *describer) own() {
	raw, err := d.rt.Instance().CrashRecord()
	if err == nil {
		d.written, err = parseRecord(raw)
	}
	if err != nil {
		if !errors.Is(err, target.ErrUnsupported) {
			d.out.Note(fmt.Errorf("crash record: %w", err))
		}
		return
	}
	d.written.Exception.locate(d.rt, d.p.Memory())
	d.likely(words.OwnMessage.Of(words.Text(d.written.Message)))
	v := recordVerdict(d.written, d.threadOf(d.written.Thread))
	d.conclusion(v.Statement, v.Strength, v.Facts...)
}

// recordVerdict returns the verdict from the crash record that a thread of a NativeAOT process wrote.
func recordVerdict(r *Record, thread answer.Statement) answer.Verdict {
	return answer.Conclude(answer.NoFinding, words.OwnRecord.Of(words.Text(word(recordReasons, r.Reason)), words.Text(r.Message)), answer.StrengthRecorded,
		words.RecordItWrote.Of(thread))
}

// record describes the dump's signal or exception records.
func (d *describer) record() {
	x := d.died.Exception
	if x == nil {
		d.unrecorded()
		return
	}
	out := d.out
	pid := d.p.Target().Process().ID
	d.ended(Reason(x, pid))
	out.Code = x.Words
	if x.HasAddress {
		out.Address = answer.Known(x.Address)
	}
	source := words.CrashRecord
	if x.Signal != nil {
		out.Signal = describeSignal(x.Signal, pid)
		source = words.CrashSignal
		if received(x, pid) && x.ThreadID != 0 {
			source = words.ReceivedSignal
		}
		if d.out.Why.Says == words.SignalKilled.Kind() {
			d.ended(words.SignalKilled.Of(words.Text(x.Signal.Name()), d.killers()))
		}
	} else {
		d.records(x)
		out.Where = d.where(x.Address)
	}
	thread := answer.Statement{}
	if x.ThreadID != 0 {
		thread = words.CommaThread.Of(d.threadOf(x.ThreadID))
	}
	d.conclusion(out.Why, answer.StrengthRecorded, source.Of(words.Text(x.Words), thread))
	if a, access, ok := touchedBy(x); ok {
		d.touch(a, access, words.ByDumpsRecord)
	}
}

// records describes x and its nested records.
func (d *describer) records(x *target.Exception) {
	nested, err := nestedRecords(d.p.Memory(), x)
	d.out.Note(err)
	for _, r := range append([]*target.Exception{x}, nested...) {
		d.out.Records = append(d.out.Records, describeExceptionRecord(r))
	}
}

// unrecorded describes a dump without a record.
func (d *describer) unrecorded() {
	x, recorded := d.p.Target().Exception()
	switch {
	case d.died.Unhandled:
		d.ended(d.noRecord())
	case recorded && x.Requested:
		d.out.Alive = true
		d.ended(Reason(&x, 0))
	default:
		d.out.Alive = true
		d.ended(d.noRecord())
	}
}

// noRecord states that there is no crash record, or that it may have been lost with threads.
func (d *describer) noRecord() answer.Statement {
	switch lost := d.lostThreads(); {
	case d.died.Unhandled && lost:
		return words.RecordUnreadBut.Of()
	case d.died.Unhandled:
		return words.RecordMissingBut.Of()
	case lost:
		return words.RecordUnread.Of()
	}
	return words.RecordMissing.Of()
}

// lostThreads reports whether the dump has lost threads. A signal, which is stored beside them, can be lost too.
func (d *describer) lostThreads() bool { return errors.As(d.died.lost, new(*process.LostThreadsError)) }

// ended sets what ended the process.
func (d *describer) ended(says answer.Statement) { d.out.Why, d.out.Reason = says, says.Text }

// likely sets the likely cause.
func (d *describer) likely(says answer.Statement) { d.out.Cause, d.out.Likely = says, says.Text }

// threadOf names the thread that a record names by its OS id.
func (d *describer) threadOf(id uint32) answer.Statement {
	if t := d.died.Thread; t != nil && t.ID() == id {
		return threadSays(t)
	}
	return words.ThreadID(id)
}

func describeSignal(s *target.Signal, pid uint32) *answer.CrashSignal {
	d := &answer.CrashSignal{Number: s.Number, Name: s.Name(), Origin: s.CodeName(), Errno: s.Errno}
	if s.Known {
		d.Code = &s.Code
	}
	if s.Sent() {
		d.Sender = &answer.SignalSender{PID: s.PID, UID: s.UID, Self: pid != 0 && s.PID == pid}
	}
	return d
}

// conclusion adds a verdict. For a process that had not crashed its kind is not FindingCrash.
func (d *describer) conclusion(says answer.Statement, strength answer.Strength, facts ...answer.Statement) {
	kind := answer.FindingCrash
	if d.out.Alive {
		kind = answer.NoFinding
	}
	d.finding(kind, says, strength, facts...)
}

func (d *describer) finding(kind answer.FindingKind, says answer.Statement, strength answer.Strength, facts ...answer.Statement) {
	d.out.Verdicts = append(d.out.Verdicts, answer.Conclude(kind, says, strength, facts...))
}

// blame adds the conclusion that names the cause of death.
func (d *describer) blame(says answer.Statement, strength answer.Strength, facts ...answer.Statement) {
	d.conclusion(says, strength, facts...)
	d.likely(says)
	d.out.Blames = len(d.out.Verdicts)
}

// nullRange is the distance from 0 within which .NET reports an access as a null reference (NULL_AREA_SIZE, frames.h).
const nullRange = 64 << 10

// touch describes the accessed memory. by is the record that has the address, or words.ByInstruction for an address
// that was derived from the code.
func (d *describer) touch(a target.Addr, access string, by *words.Sentence) {
	t := &answer.Touched{Address: a, Access: access, By: by.Of()}
	switch {
	case d.hidden && a == 0:
		t.Is = words.AddressHidden.Of()
	case a < nullRange:
		t.Is = words.AddressNearZero.Of()
	case a == ^target.Addr(0):
		t.Is = words.AddressOfWindows.Of()
	case by == words.ByInstruction || !canonical(d.p.Target().Platform(), a):
		t.Is = words.AddressNotCanonical.Of()
	case d.ctx != nil:
		is := resolve.Address(d.ctx, d.p, a)
		t.Is, d.mapped = whatIs(is), mappedFile(is)
	}
	t.What, t.Source = t.Is.Text, t.By.Text
	d.out.Touched = t
}

// reportedZero reports whether an address was reported as 0, which also stands for non-canonical addresses.
func reportedZero(t *answer.Touched) bool { return t.Is.Says == words.AddressHidden.Kind() }

// canonical reports whether a can be an address of a process, with any kind of paging.
func canonical(p target.Platform, a target.Addr) bool {
	return p.Arch.PointerSize() < 8 || a < 1<<56
}

// reportedAsZero reports whether an access to a may have been reported as 0. With 4-level paging, addresses from 2^47
// on are not canonical. A processor with 5-level paging accepts addresses up to 2^56 and reports them unchanged.
func reportedAsZero(a target.Addr) bool { return a >= 1<<47 }

// whatIs describes an answer.Address.
func whatIs(a *answer.Address) answer.Statement {
	var name, offset answer.Statement
	if !a.Name.IsZero() {
		name = words.BehindName.Of(words.Text(a.Name.String()))
	}
	if a.Start != 0 && a.Start < a.Address {
		n := uint64(a.Address - a.Start)
		offset = words.PlusOffset.Of(words.Value(answer.Arg{Type: answer.ArgBytes, Number: &n}, fmt.Sprintf("%#x", n)))
	}
	if a.Kind == answer.AddressUnknown {
		return words.AddressNotInDump.Of(name, offset)
	}
	return words.AddressIn.Of(words.Text(string(a.Kind)), name, offset)
}

// contexts describes the thread's position at the exception, as recorded by the dump or the runtime, and when the dump
// was written.
func (d *describer) contexts() {
	t := d.died.Thread
	if x := d.died.Exception; x != nil && x.Signal == nil && x.Registers.Known() {
		d.context("the exception", &x.Registers)
		// A fault of managed code has an exception object.
		if _, faulted := faultParameters[x.Code]; faulted && (d.died.fatal() || d.died.Thrown == 0) {
			d.fault = &fault{regs: x.Registers, how: words.DumpsRecord.Of(), where: d.out.Where}
		}
	}
	if s := d.died.state(); s != nil && d.rt != nil && s.Context != 0 {
		regs, err := d.readContext(s.Context)
		if err != nil {
			d.out.Note(fmt.Errorf("context of the exception: %w", err))
		} else {
			d.context("the managed exception", &regs)
		}
	}
	d.interruptedContext()
	if t != nil && t.OS != nil && t.OS.Registers.Known() {
		d.context("the thread in the dump", &t.OS.Registers)
	}
}

// readContext reads a CONTEXT that the runtime keeps.
func (d *describer) readContext(a target.Addr) (target.Registers, error) {
	regs := target.Registers{Arch: d.p.Target().Platform().Arch}
	processor, err := regs.Arch.Processor()
	if err != nil {
		return regs, err
	}
	b, err := target.Bytes(d.p.Memory(), a, processor.Context.Size)
	if err != nil {
		return regs, err
	}
	if flags, ok := processor.Context.Decode(&regs, b); !ok {
		return regs, target.Corruptf("context flags %#x", flags)
	}
	return regs, nil
}

func sameAddress(a, b answer.Maybe[target.Addr]) bool {
	return a.Value == b.Value && (a.Err() == nil) == (b.Err() == nil)
}

func (d *describer) context(source string, regs *target.Registers) {
	c := answer.CrashContext{Source: source, IP: known(regs.IP()), SP: known(regs.SP()), FP: known(regs.FP())}
	same := func(o answer.CrashContext) bool { return sameAddress(o.IP, c.IP) && sameAddress(o.SP, c.SP) }
	if slices.ContainsFunc(d.out.Contexts, same) {
		return
	}
	if c.IP.Err() == nil {
		c.Where, c.Place = d.where(c.IP.Value), d.place(c.IP.Value)
	}
	d.out.Contexts = append(d.out.Contexts, c)
}

func known(a target.Addr, ok bool) answer.Maybe[target.Addr] {
	if !ok {
		return noAddress
	}
	return answer.Known(a)
}

// where returns the method of an instruction, or its module and offset.
func (d *describer) where(ip target.Addr) string {
	if d.rt != nil {
		r := dac.CodeOf(d.rt)
		if info, err := r.PlaceAt(ip); err == nil {
			if name, err := r.MethodName(info.Method, dac.MethodFull); err == nil {
				return name
			}
		}
	}
	if m := target.ModuleAt(d.p.Target().Modules(), ip); m != nil {
		return fmt.Sprintf("%s+%#x", target.BaseName(m.Path), uint64(ip-m.Base))
	}
	return ""
}

// place returns the place of an instruction in its module, or nil.
func (d *describer) place(ip target.Addr) *answer.CodePlace {
	m := target.ModuleAt(d.p.Target().Modules(), ip)
	if m == nil || stackwalk.IsGenerated(m) {
		return nil
	}
	out := &answer.CodePlace{Module: target.BaseName(m.Path), Offset: answer.Hex(ip - m.Base)}
	if id := image.IdentityOf(d.p.Target(), m); id.Known() {
		out.Build = id.String()
	}
	return out
}

// nativeStack adds the frames of the thread that died in a dump with only stacks: by unwind data of module files, by
// frame pointers, or by a scan.
func (d *describer) nativeStack() {
	t := d.died.Thread
	if t == nil || t.OS == nil {
		return
	}
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	describer := threads.NewDescriber(threads.DescribeOptions{Symbols: d.symbols()}, &d.out.Gaps)
	for f := range walker.Walk(d.ctx, nil, t.OS.Registers, stackwalk.WalkOptions{Native: true}) {
		if f.Err != nil {
			d.out.Note(fmt.Errorf("the stack ends at %#x: %w", uint64(f.SP), f.Err))
		}
		d.out.Frames++
		row := describer.Frame(&f)
		out := answer.CrashFrame{SP: f.SP, IP: f.IP, Method: answer.Text{S: row.NativeName()}, Place: d.place(f.IP), AtException: f.AtException}
		if row.Guessed {
			out.Guess = row.Trust
		}
		d.out.Stack = append(d.out.Stack, out)
	}
}

// carried describes the exceptions of all threads.
func (d *describer) carried() {
	d.out.Carried = describeCarried(d.rt, d.died.carried, &d.out.Gaps)
}

func describeCarried(rt *dac.Runtime, list []carried, g *answer.Gaps) []answer.CarriedException {
	var out []answer.CarriedException
	for _, c := range once(list) {
		row := answer.CarriedException{Thread: c.thread.Describe(g), State: c.state, Exception: c.thrown}
		x, err := dac.CodeOf(rt).DescribeException(c.thrown, dac.ExceptionOptions{Brief: true})
		if err != nil {
			row.Type = g.Text("", err)
		} else {
			g.NoteAll(x.Noted())
			row.Type, row.Message = x.Type, x.Message
		}
		out = append(out, row)
	}
	return out
}

// stack adds the managed frames of the thread that died, with repeated calls folded, and looks for
// Environment.FailFast.
func (d *describer) stack() {
	t := d.died.Thread
	if t == nil || t.Managed == nil || t.OS == nil {
		return
	}
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	describer := threads.NewDescriber(threads.DescribeOptions{Source: true}, &d.out.Gaps)
	rows := func(yield func(answer.CrashFrame) bool) {
		leading, began := true, false
		for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			d.out.Note(f.Missing())
			began = began || f.AtException
			d.outside(&f)
			if f.Kind != stackwalk.FrameManaged {
				continue
			}
			d.out.Frames++
			if was := leading; leading && isFailFast(&f) {
				fatal := f
				d.fatal = &fatal
			} else if leading = false; was && d.fatal != nil && ofHandling(&f) {
				d.fatal, d.gaveUp = nil, true
			}
			row := describer.Frame(&f)
			d.outer = outer{f.CallerSP, row.Method.S}
			out := answer.CrashFrame{SP: f.SP, IP: f.IP, Method: row.Method, File: row.File, Line: row.Line, AtException: began}
			if row.Method.Err != nil {
				if md, err := f.Method(); err == nil && md != nil {
					out.Definition = md.Definition()
				}
			}
			if !yield(out) {
				return
			}
			began = false
		}
	}
	for f := range threads.Fold(rows, sameCall) {
		row := f.Row
		if f.Cycle > 0 {
			row.Cycle, row.Repeat = f.Cycle, f.Times
		}
		d.out.Stack = append(d.out.Stack, row)
	}
	d.failFast(walker)
}

// outside records the thread's innermost frame and the native method that it calls.
func (d *describer) outside(f *stackwalk.Frame) {
	if d.innermost == 0 {
		d.innermost = f.SP
	}
	if d.out.Frames > 0 || d.invoked != "" || f.Kind != stackwalk.FrameExplicit || !f.Explicit.CallsUnmanaged() {
		return
	}
	if md, err := f.Method(); err == nil && md != nil {
		d.invoked, _ = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
	}
}

func sameCall(a, b *answer.CrashFrame) bool {
	return a.Method.Err == nil && b.Method.Err == nil && a.IP == b.IP && a.Method.S == b.Method.S
}

// causes describes the exception at a and its causes.
func (d *describer) causes(a target.Addr) {
	if a != 0 {
		d.out.ExceptionTree = exceptionTree(d.rt, a, &d.out.Gaps)
	}
}

// conclude draws the conclusions.
func (d *describer) conclude() {
	d.runtimeRecord()
	switch s := d.smashed(); {
	case s != nil:
		d.concludeSmashed(s)
	case d.out.FailFast != nil:
		d.concludeFailFast()
	case d.died.fatal() && d.overflowed():
		d.concludeOverflow()
	case d.died.fatal() && d.fault != nil:
		d.concludeFault()
	case d.died.fatal():
		d.concludeFatal()
	case d.blames():
		d.concludeThrown()
	case d.out.Alive:
		d.concludeAlive()
	case d.fault != nil:
		d.concludeFault()
	case d.aborted():
		d.concludeAborted()
	case d.died.Thrown == 0 && d.rt != nil && d.unreadThreads() && !received(d.died.Exception, d.p.Target().Process().ID):
		d.conclusion(words.CauseUnknown.Of(), answer.StrengthUnknown, words.ExceptionsUnread.Of())
	}
}

// blames reports whether the process died of its thread's exception: it is unhandled, the record is of a managed
// exception, or the thread aborted with it.
func (d *describer) blames() bool {
	x := d.died.Exception
	switch {
	case d.died.Thrown == 0:
		return false
	case d.died.Unhandled:
		return true
	case x == nil || received(x, d.p.Target().Process().ID), d.overtaken():
		return false
	}
	return x.Signal == nil && (x.Code == codeCLR || x.Code == codeEngine || x.Code == codeFailFast) ||
		x.Signal != nil && x.Signal.Number == target.SIGABRT
}

// blamed returns the strength of and the evidence for the conclusion of blames.
func (d *describer) blamed() (strength answer.Strength, fact answer.Statement) {
	w := d.written
	switch {
	case d.died.Unhandled:
		return answer.StrengthProved, words.MarkedUnhandled.Of(threadSays(d.died.Thread))
	case w != nil && w.Exception != nil && w.Exception.Address == d.died.Thrown:
		return answer.StrengthProved, words.RecordNames.Of()
	case d.died.state() != nil:
		return answer.StrengthLikely, words.WasHandling.Of()
	case !d.died.Deduced.IsZero():
		return answer.StrengthLikely, d.died.Deduced
	}
	return answer.StrengthLikely, words.ThrewLast.Of()
}

// runtimeRecord examines the record of a fault that the runtime turned into a managed exception.
func (d *describer) runtimeRecord() {
	s := d.died.state()
	if s == nil || s.Record == 0 || d.out.Touched != nil {
		return
	}
	x, err := readExceptionRecord(d.p.Memory(), s.Record)
	if err != nil {
		d.out.Note(err)
		return
	}
	if a, access, ok := touchedBy(x); ok {
		by := words.ByRuntimesRecord
		if d.p.Target().Platform().FaultsAreSignals() {
			access = "" // 0 for any access
			a, by = d.unreported(a, by)
		}
		d.touch(a, access, by)
	}
}

// concludeThrown draws the conclusions from the exception and its causes.
func (d *describer) concludeThrown() {
	out := d.out
	path, last, unthrown := d.path()
	sent := len(path) == 1 && d.sent(&path[0])
	if t := out.Touched; len(path) == 1 && t != nil && path[0].Type == nullReference {
		switch {
		case sent:
		case reportedZero(t):
			path[0].Cause = words.MeansNullDamaged.Of()
		case t.Address >= nullRange:
			path[0].Cause = words.MeansNotCanonical.Of()
		default:
			path[0].Cause = words.MeansNull.Of()
		}
	}
	if len(path) == 1 && len(path[0].Trace) == 0 {
		path[0].Trace = d.stoodAt()
	}
	if len(path) == 0 {
		return
	}
	meaning, composed := d.meaning(&path[len(path)-1], last), d.composed(&out.Exceptions[0])
	if composed.IsZero() {
		composed = d.composed(last)
	}
	strength, evidence := d.blamed()
	all := []answer.Statement{evidence, meaning, composed}
	if n := d.died.later(); n > 0 {
		all = append(all, words.FurtherExceptions.Of(words.N(n)))
	}
	all = append(all, d.before(&path[0])...)
	if t := out.Touched; t != nil && !sent {
		all = append(all, touchedEvidence(t))
	}
	if n := len(out.Exceptions); n > len(leading(out.Causes)) {
		all = append(all, words.ManyCauses.Of(words.N(n-1)))
	}
	d.blame(notCaught(path, false).Plus(unthrown), strength, all...)
	d.likely(LikelyCause(path).Plus(unthrown))
	out.Usual = path[len(path)-1].usual()
	d.mappingFailed(&path[0])
	d.asyncVoid(&out.Exceptions[0])
	switch {
	case sent:
		d.concludeSent()
	case len(path) == 1:
		d.nullUse(&path[0], last)
	}
}

// mostUses is the maximum number of reference uses in a statement for which its null reference is named.
const mostUses = 3

// nullUse names the null reference by the reference uses of the failed statement.
func (d *describer) nullUse(root *Fault, x *answer.Exception) {
	if root.Type != nullReference || root.Unusual || d.rt == nil || len(x.Frames) == 0 {
		return
	}
	strength := answer.StrengthLikely
	switch t := d.out.Touched; {
	case t == nil:
	case reportedZero(t):
		strength = answer.StrengthPossible // the reference may be damaged
	case t.Address >= nullRange:
		return // no null reference
	}
	f := &x.Frames[0]
	if throws, err := dac.CodeOf(d.rt).Throws(f.IP); throws || err != nil {
		return // a throw of null, or code without a map or IL
	}
	uses, err := disasm.NewLister(d.rt, objects.New(d.rt)).NullUses(f.IP)
	if err != nil {
		return
	}
	evidence := []answer.Statement{words.StatementIL.Of(words.Method(f.Function.S))}
	if t := d.out.Touched; t != nil && !reportedZero(t) {
		if fits := touching(uses, int64(t.Address)); len(fits) < len(uses) {
			uses = fits
			evidence = append(evidence, words.OtherUses.Of(words.Address(t.Address)))
		}
	}
	if left := slices.DeleteFunc(slices.Clone(uses), d.hasObject); len(left) > 0 && len(left) < len(uses) {
		uses = left
		evidence = append(evidence, words.SetFields.Of())
	}
	var names []string
	for _, u := range uses {
		if !slices.Contains(names, u.What) {
			names = append(names, u.What)
		}
	}
	if n := len(names); n == 0 || n > mostUses {
		return
	}
	d.conclusion(words.NullUses.Of(words.Text(strings.Join(names, ", or "))), strength, evidence...)
}

// hasObject reports whether the reference of a use was read from fields that refer to an object in the dump: it was not null, unless another thread has set
// the field since.
func (d *describer) hasObject(u disasm.NullUse) bool {
	r := objects.New(d.rt)
	var o objects.Object
	for i, fd := range u.From {
		t, err := r.Type(fd.MethodTable)
		if err != nil {
			return false
		}
		fields, err := t.OwnFields()
		if err != nil {
			return false
		}
		at := slices.IndexFunc(fields, func(f *objects.Field) bool { return f.Addr == fd.Addr })
		if at < 0 {
			return false
		}
		v := fields[at].StaticValue().Value
		if i > 0 {
			v = fields[at].At(target.Addr(objects.InstanceOf(o)))
		}
		if o, err = v.Object(); err != nil || o.Addr == 0 {
			return false
		}
	}
	return len(u.From) > 0
}

// touching returns the uses that touch memory at offset at, else the calls and the uses with an unknown offset, else
// all.
func touching(uses []disasm.NullUse, at int64) []disasm.NullUse {
	var exact, unknown []disasm.NullUse
	for _, u := range uses {
		if u.At == at {
			exact = append(exact, u)
		} else if u.At < 0 || u.Calls {
			unknown = append(unknown, u)
		}
	}
	switch {
	case len(exact) > 0:
		return exact
	case len(unknown) > 0:
		return unknown
	}
	return uses // for example a field of a value in a field
}

// path returns the exceptions along the first causes up to the last one with a stack trace, and that last exception.
// unthrown describes the first exception after it, which was not thrown.
func (d *describer) path() (path []Fault, last *answer.Exception, unthrown answer.Statement) {
	chain := leading(d.out.Causes)
	if len(chain) == 0 {
		return nil, nil, unthrown
	}
	list := d.faults(d.out.Exceptions)
	n := len(chain)
	for n > 1 && d.untraced(&d.out.Exceptions[chain[n-1]]) {
		n--
	}
	for _, i := range chain[:n] {
		path = append(path, list[i])
	}
	if n < len(chain) {
		x := &list[chain[n]]
		unthrown = words.InnerUnthrown.Of(words.Type(x.Type), rootDetails(x, false))
	}
	return path, &d.out.Exceptions[chain[n-1]], unthrown
}

// untraced reports whether an exception provably has no stack trace, including traces from elsewhere.
func (d *describer) untraced(x *answer.Exception) bool {
	if len(x.Frames) > 0 || x.TraceError != nil || x.StackTrace != nil || d.rt == nil {
		return false
	}
	e, err := d.rt.Exception(x.Address)
	return err == nil && e.RemoteStackTrace == 0
}

// meaning returns the evidence for what root's type means in x. If the runtime threw x, the usual meaning applies. If
// the program's own code threw it, meaning marks root as unusual. The statement is zero without evidence.
func (d *describer) meaning(root *Fault, x *answer.Exception) answer.Statement {
	if d.rt == nil || !root.Cause.IsZero() || causes()[root.Type] == nil {
		return answer.Statement{}
	}
	if len(x.Frames) > 0 {
		f := &x.Frames[0]
		if helper := helpers()[root.Type]; helper != "" && strings.Contains(f.Function.S, helper) {
			root.Cause = causes()[root.Type].Of()
			return words.RuntimeThrows.Of(words.Method(f.Function.S))
		}
		if !ofFramework(f.Function.S) {
			throws, err := dac.CodeOf(d.rt).Throws(f.IP)
			if throws {
				root.Unusual = true
				if root.Type == nullReference {
					return words.ProgramThrowsNull.Of(words.Method(f.Function.S))
				}
				return words.ProgramThrows.Of(words.Method(f.Function.S))
			}
			if err == nil && helpers()[root.Type] != "" {
				root.Cause = causes()[root.Type].Of()
				return words.RuntimeThrowsAt.Of(words.Method(f.Function.S))
			}
		}
	}
	if root.Type != outOfMemory {
		return answer.Statement{}
	}
	oom, err := heap.OutOfMemory(d.rt, d.p.Target())
	switch {
	case err != nil || oom.Unread > 0:
		return answer.Statement{}
	case len(oom.Failures) > 0:
		f := &oom.Failures[0]
		if f.Sized() {
			root.Cause = words.MeansAllocation.Of(words.ExactBytes(f.AllocationSize), words.Text(f.Why()))
		} else {
			root.Cause = words.MeansUnsized.Of(words.Text(f.Why()))
		}
		return words.FailedRecord.Of(words.N(f.Heap), words.N(f.Collection))
	}
	root.Unusual = true
	return words.NoneFailed.Of()
}

// overflowed reports whether the runtime reported a stack overflow.
func (d *describer) overflowed() bool {
	return len(d.out.Exceptions) > 0 && d.out.Exceptions[0].HResult == resultStackOverflow
}

// concludeOverflow reports the calls that filled the stack.
func (d *describer) concludeOverflow() {
	evidence := []answer.Statement{words.OverflowSet.Of(threadSays(d.died.Thread))}
	var where answer.Statement
	most := -1
	for i := range d.out.Stack {
		if f := &d.out.Stack[i]; f.Cycle > 0 && (most < 0 || f.Cycle*f.Repeat > d.out.Stack[most].Cycle*d.out.Stack[most].Repeat) {
			most = i
		}
	}
	if most < 0 {
		where = d.innermostCode()
	} else {
		f := &d.out.Stack[most]
		where = recursion(f, d.out.Stack[most:min(most+f.Cycle, len(d.out.Stack))])
		evidence = append(evidence, words.Rounds.Of(words.N(f.Cycle*f.Repeat), words.N(d.out.Frames), words.N(f.Repeat)))
	}
	d.blame(words.Overflowed.Of(where), answer.StrengthProved, evidence...)
}

// recursion describes a sequence of calls that a stack repeats from f on.
func recursion(f *answer.CrashFrame, round []answer.CrashFrame) answer.Statement {
	own := max(0, slices.IndexFunc(round, func(f answer.CrashFrame) bool { return f.Method.Err == nil && !answer.LibraryMethod(f.Method.S) }))
	through := answer.Statement{}
	var others []string // the round may have several calls of one method
	for i := range round {
		if name := round[i].Method.String(); name != round[own].Method.String() && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	switch {
	case len(others) == 0 && len(round) == f.Cycle: // it calls itself, perhaps in several places
	case len(others) == 1 && len(round) == f.Cycle:
		through = words.ThroughMethod.Of(words.Method(others[0]))
	case f.Cycle > 1:
		through = words.ThroughCalls.Of(words.N(f.Cycle - 1))
	}
	return words.CalledItself.Of(words.Method(round[own].Method.String()), through, sourceLine(round[own].File, round[own].Line))
}

// innermostCode describes where a stack without repeated calls overflowed: in the innermost method, or in native code
// that it calls.
func (d *describer) innermostCode() answer.Statement {
	switch caller := d.caller(); {
	case caller == "":
		return answer.Statement{}
	case d.invoked != "" || d.out.Stack[0].Method.Err == nil && d.out.Stack[0].Method.S != caller:
		return words.OverflowNative.Of(d.calledFrom())
	default:
		return words.OverflowInner.Of(words.Method(caller))
	}
}

// argument returns the exception that was passed to FailFast. The runtime makes it the inner exception of its own.
func (d *describer) argument(a target.Addr) target.Addr {
	e, err := d.rt.Exception(a)
	d.out.Note(err)
	return e.Inner
}

// touchedEvidence describes how an address explains an exception.
func touchedEvidence(t *answer.Touched) answer.Statement {
	explained := words.AboveNullLimit
	if reportedZero(t) {
		explained = words.NullOrDamaged
	} else if t.Address < nullRange {
		explained = words.BelowNullLimit
	}
	text := readAsText(t.Address)
	if t.Access != "" {
		return words.AccessOf.Of(words.Text(t.Access), words.Address(t.Address), t.By, text, explained.Of())
	}
	return words.FaultingAddress.Of(words.Address(t.Address), t.By, text, explained.Of())
}

// leading returns the path from the first exception along the first causes.
func leading(causes [][]int) []int {
	var out []int
	for n := 0; n < len(causes) && !slices.Contains(out, n); {
		out = append(out, n)
		if len(causes[n]) == 0 {
			break
		}
		n = causes[n][0]
	}
	return out
}

// concludeAlive describes what a process without a crash record was doing.
func (d *describer) concludeAlive() {
	record := words.NoRecord.Of()
	if d.lostThreads() {
		record = words.RecordUnread.Of()
	}
	switch {
	case d.rt == nil:
		d.out.Undecided = true
		d.conclusion(words.CrashUnknown.Of(), answer.StrengthUnknown,
			record, words.ThreadsUnread.Of())
		return
	case d.out.Failure() != nil || d.unreadThreads():
		d.out.Undecided = true
		d.conclusion(words.CrashUnknown.Of(), answer.StrengthUnknown,
			record, words.ExceptionsUnread.Of())
	default:
		d.conclusion(words.NoCrash.Of(), answer.StrengthLikely, record, words.NoneUnhandled.Of())
	}
	d.waiting()
}

// unreadThreads reports whether the exception of a thread could not be read.
func (d *describer) unreadThreads() bool {
	list, err := d.died.list, d.died.lost
	if err != nil {
		return true
	}
	_, err = carriedBy(d.rt, list)
	return err != nil
}

// waiting describes what the threads wait for.
func (d *describer) waiting() {
	walker, err := d.walker()
	if err != nil {
		d.out.Note(err)
		return
	}
	list, unread := d.died.list, d.died.lost
	d.out.Note(unread)
	w, err := threads.Waiting(d.ctx, walker, list)
	if err != nil {
		d.out.Note(err)
		return
	}
	d.out.NoteAll(w.Noted())
	d.out.Waiting = w
	for _, circle := range w.Deadlocks {
		d.circle(w, circle)
	}
	if !d.exiting(walker, list, w) {
		d.finalizing(list, w)
	}
	if unread == nil { // an incomplete list may hide other threads
		d.returned(walker, list)
	}
}

// circle describes threads that wait for each other's monitors. It is a deadlock unless one of the waits has a limit.
func (d *describer) circle(w *answer.Waiting, circle []answer.Thread) {
	strength := answer.StrengthProved
	var ends []answer.Statement
	for i := range w.Threads {
		row := &w.Threads[i]
		if !slices.ContainsFunc(circle, func(t answer.Thread) bool { return t.OSID == row.OSID }) {
			continue
		}
		if row.How != answer.HowRecorded || row.Timeout != nil {
			strength = answer.Weakest(strength, answer.StrengthLikely)
		}
		if row.Timeout != nil {
			ends = append(ends, words.WaitsAtMost.Of(words.ThreadAndID(row.Thread), words.Duration(time.Duration(*row.Timeout)*time.Millisecond)))
		}
	}
	var names []answer.Statement
	for i := range circle {
		names = append(names, words.ThreadAndID(circle[i]))
	}
	kind, says := answer.FindingDeadlock, words.MonitorDeadlock.Of(words.Join(" -> ", names...))
	if len(ends) > 0 {
		kind, says = answer.FindingCircle, words.MonitorCircle.Of(words.Join(" -> ", names...), words.Join("", ends...))
	}
	d.finding(kind, says, strength, words.OwnersInTurn.Of())
}

// finalizing describes the finalizer thread while it runs code of the program.
func (d *describer) finalizing(list []stackwalk.Thread, w *answer.Waiting) {
	for i := range list {
		t := &list[i]
		if t.Managed == nil || !t.Managed.Finalizer {
			continue
		}
		for j := range w.Threads {
			if row := &w.Threads[j]; row.OSID == t.ID() && row.Kind != answer.ActivityIdle && row.Top.S != "" {
				where := row.Top.S
				if row.Caller.S != "" {
					where = row.Caller.S
				}
				kind, severity := finalizerKind(row.Kind, where)
				facts := []answer.Statement{words.FinalizerFrames.Of()}
				if row.Kind == answer.ActivityLock && d.passes(row.OSID) {
					kind, severity, facts = answer.NoFinding, "", append(facts, words.EntersSoon.Of())
				}
				d.finding(kind, words.FinalizerDoes.Of(words.Text(row.Text), words.Method(where)), answer.StrengthRecorded, facts...)
				last := &d.out.Verdicts[len(d.out.Verdicts)-1]
				last.Severity, last.Sites = severity, []answer.Site{{Method: row.Caller, Does: string(row.Kind)}}
			}
		}
	}
}

// passes reports whether a thread in a method that enters a lock is about to enter it: no lock has it among its waiters, or its holder goes on in a
// moment. It is not known if some waits are not.
func (d *describer) passes(thread uint32) bool {
	if d.waits == nil {
		d.waits = func() (*answer.Waits, error) { return locks.Waits(d.ctx, d.p, locks.Options{NoGraph: true}) }
	}
	w, err := d.waits()
	if err != nil || len(w.Noted()) > 0 {
		return false
	}
	at := slices.IndexFunc(w.Threads, func(t answer.ThreadWait) bool { return t.Thread.OSID == thread })
	return at < 0 || w.Threads[at].Soon
}

// ofRuntime are the methods of the finalizer thread that call nothing but the runtime: one gets the next object, the other frees a context's memory.
// Neither can hang in the code of a library.
var ofRuntime = []string{"System.GC.RunFinalizers", "System.Reflection.LoaderAllocatorScout.Finalize"}

// finalizerKind returns what it means that the finalizer thread does something in a method: a finding if it waits. What runs ends in a moment,
// mostly: the class library's finalizers run after each collection of generation 2. Native code, and the program's own, may hang by running.
func finalizerKind(does answer.ActivityKind, method string) (answer.FindingKind, answer.Severity) {
	switch does {
	case answer.ActivityRunning, answer.ActivityRuntime, answer.ActivityCollecting, answer.ActivitySuspended:
		if answer.LibraryMethod(method) {
			return answer.NoFinding, ""
		}
	case answer.ActivityNative, answer.ActivityUnknown:
		if slices.Contains(ofRuntime, strings.TrimSuffix(method, "()")) {
			return answer.NoFinding, ""
		}
	default:
		return answer.FindingFinalizers, ""
	}
	return answer.FindingFinalizers, answer.SeverityWarning
}

// threadSays names a thread.
func threadSays(t *stackwalk.Thread) answer.Statement { return words.ThreadAndID(t.Describe(nil)) }

// faults converts exceptions for LikelyCause.
func (d *describer) faults(list []answer.Exception) []Fault {
	out := make([]Fault, len(list))
	for i := range list {
		x := &list[i]
		if out[i].Type = x.Type.S; x.Type.Err != nil {
			out[i].Type = "an exception whose type can't be read"
		} else if strings.Contains(x.Type.S, "[[") && d.rt != nil {
			if name, err := d.rt.TypeName(x.MethodTable, dac.NameManaged); err == nil {
				out[i].Type = name
			}
		}
		if x.Message != nil && x.Message.Err == nil {
			out[i].Message = x.Message.S
		}
		out[i].Details = d.details(x.Address, out[i].Message)
		for _, f := range x.Frames {
			if f.Function.Err != nil {
				continue
			}
			out[i].Trace = append(out[i].Trace, Place{Function: f.Function.S, File: f.File, Line: f.Line})
		}
	}
	return out
}

// describeRecord describes the crash record of a NativeAOT process. modules supplies the module names of its frames.
func describeRecord(r *Record, modules []target.Module) *answer.Crash {
	record := &answer.CrashRecord{Reason: word(recordReasons, r.Reason), Thread: r.Thread, HResult: r.HResult,
		RuntimeType: word(recordTypes, r.RuntimeType), RuntimeBase: r.RuntimeBase, RuntimeVersion: r.RuntimeVersion, Message: r.Message}
	out := &answer.Crash{Reason: record.Reason, Why: words.OwnReason.Of(words.Text(record.Reason)), Code: fmt.Sprintf("%#x", r.HResult),
		ThreadID: r.Thread, Likely: r.Message, Cause: words.OwnMessage.Of(words.Text(r.Message)), Record: record, Address: noAddress,
		Verdicts: []answer.Verdict{recordVerdict(r, words.ThreadID(r.Thread))}}
	if r.Exception != nil {
		x := describeRecorded(r.Exception, modules)
		record.Exception = &x
		out.Exceptions = flatten(nil, &x)
		if chain := recordedFaults(&x); r.Reason == recordUnhandled {
			says := notCaught(chain, false)
			out.Verdicts = append(out.Verdicts, answer.Conclude(answer.NoFinding, says, answer.StrengthProved, words.RecordNames.Of()))
			out.Likely, out.Cause, out.Usual, out.Blames = LikelyCause(chain).Text, says, chain[len(chain)-1].usual(), len(out.Verdicts)
		}
	}
	return out
}

// recordUnhandled is the reason of a crash record for an exception that nothing caught.
const recordUnhandled = 1

// recordedFaults returns an exception and its first inner ones, up to the last that was thrown.
func recordedFaults(x *answer.RecordedException) []Fault {
	var out []Fault
	for n := 0; ; x = &x.Inners[0] {
		f := Fault{Type: x.Type.S, Message: x.Message.S}
		for _, frame := range x.Frames {
			f.Trace = append(f.Trace, Place{Function: frame.Function.S})
		}
		out = append(out, f)
		if len(x.Frames) > 0 {
			n = len(out)
		}
		if len(x.Inners) == 0 {
			return out[:max(n, 1)]
		}
	}
}

func describeRecorded(r *RecordedException, modules []target.Module) answer.RecordedException {
	x := answer.RecordedException{Exception: answer.Exception{Address: r.Address, Type: answer.Text{S: r.Type},
		Message: &answer.Text{S: r.Message}, HResult: answer.Hex(r.HResult)}}
	for i := range r.Stack {
		f := &r.Stack[i]
		x.Frames = append(x.Frames, answer.TraceFrame{IP: f.IP, Function: answer.Text{S: f.function(modules)}, Offset: &f.Offset})
	}
	for _, inner := range r.Inner {
		x.Inners = append(x.Inners, describeRecorded(inner, modules))
	}
	return x
}

// flatten appends an exception and its inner ones, outermost first.
func flatten(list []answer.Exception, x *answer.RecordedException) []answer.Exception {
	list = append(list, x.Exception)
	for i := range x.Inners {
		list = flatten(list, &x.Inners[i])
	}
	return list
}

// function returns the frame's name as Module.so!Name.
func (f *RecordedFrame) function(modules []target.Module) string {
	name := f.Name
	if name == "" {
		name = "<unknown>"
	}
	for i := range modules {
		if modules[i].Base == f.Module {
			return target.BaseName(modules[i].Path) + "!" + name
		}
	}
	return name
}

// Words for the numbers in a Record (nativeaot, CrashInfo.cs and the runtime's enum RuntimeType).
var (
	recordReasons = []string{"Unknown", "UnhandledException", "EnvironmentFailFast", "InternalFailFast"}
	recordTypes   = []string{"Unknown", "Desktop", "NetCore", "SingleFile", "NativeAOT", "Other"}
)

func word(words []string, n int) string {
	if n < 0 || n >= len(words) {
		return fmt.Sprint(n)
	}
	return words[n]
}
