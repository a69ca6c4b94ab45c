package crash

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/internal/words"
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
	passed  *passage // how far the thread's exception has come, or nil if nobody has asked
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
