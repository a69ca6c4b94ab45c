package crash

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

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
	case d.handling():
		d.concludeHandling()
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
	case x == nil || received(x, d.p.Target().Process().ID), d.overtaken(), d.handling():
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
	if path[len(path)-1].Type == outOfMemory {
		all = slices.Insert(all, 1, d.fileless())
	}
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

// startsThread reports whether a method, with its module, asks the system for a thread (ThreadNative_Start of comsynchronizable.cpp).
func startsThread(function string) bool {
	return strings.Contains(function, "System.Threading.Thread.StartCore(") || strings.Contains(function, "System.Threading.Thread.StartInternal(")
}

// Errors of Linux and macOS for files, which are the HRESULTs of exceptions: too many in the system, and in the process (ENFILE, EMFILE).
const (
	tooManyInSystem = 23
	tooManyFiles    = 24
)

// fileless names an exception that another thread handles because the process has too many files, or returns the zero Statement.
func (d *describer) fileless() answer.Statement {
	if !d.p.Target().Platform().FaultsAreSignals() {
		return answer.Statement{}
	}
	for i := range d.died.carried {
		x := &d.died.carried[i]
		if x.in == nil || d.died.Thread != nil && x.thread.Managed == d.died.Thread.Managed {
			continue
		}
		e, err := dac.CodeOf(d.rt).DescribeException(x.thrown, dac.ExceptionOptions{})
		if err == nil && e.Type.S == "System.IO.IOException" && (e.HResult == tooManyInSystem || e.HResult == tooManyFiles) && e.Message != nil && e.Message.Err == nil {
			return words.OtherHandles.Of(threadSays(x.thread), words.Type(e.Type.S), words.Text(clipped(e.Message.S)))
		}
	}
	return answer.Statement{}
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
	if len(x.Frames) > 0 && startsThread(x.Frames[0].Function.S) {
		root.Cause = words.MeansNoThread.Of()
		return words.RefusedThread.Of(words.Method(x.Frames[0].Function.S))
	}
	return words.NoneFailed.Of()
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
