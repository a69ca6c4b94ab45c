package threads

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ReturnOptions selects return addresses and stacks.
type ReturnOptions struct {
	Symbols     *image.Symbols // name native code
	ManagedOnly bool           // only addresses in managed code, without callees
	// BusyOnly omits threads that hold no locks, are not hijacked and do not run managed code.
	BusyOnly bool
	// Ranges are scanned instead of the threads' stacks.
	Ranges []target.Range
}

// Returns lists the return addresses on the stack of t. The answer fails if the stack is not in the dump.
func Returns(ctx context.Context, w *stackwalk.Walker, t *stackwalk.Thread, o ReturnOptions) *answer.Returns {
	return listReturns(ctx, w, []*stackwalk.Thread{t}, o, true)
}

// AllReturns lists the return addresses on the stacks of threads. A stack that is not in the dump is a missing row.
func AllReturns(ctx context.Context, w *stackwalk.Walker, list []*stackwalk.Thread, o ReturnOptions) *answer.Returns {
	return listReturns(ctx, w, list, o, false)
}

func listReturns(ctx context.Context, w *stackwalk.Walker, list []*stackwalk.Thread, o ReturnOptions, single bool) *answer.Returns {
	l := &returnLister{ctx: ctx, w: w, code: dac.CodeOf(w.Runtime()), o: o}
	out := answer.NewReturns(func(yield func(*answer.ThreadReturns, error) bool) {
		for _, t := range list {
			row, err := &answer.ThreadReturns{ThreadID: idOf(t)}, error(nil)
			if !o.BusyOnly || l.isBusy(t) {
				err = l.thread(t, row)
			}
			if single {
				l.gaps.Fail(err)
				err = nil
			}
			if !yield(row, nil) || err != nil && !yield(nil, err) {
				return
			}
		}
	})
	l.gaps = &out.Gaps
	return out
}

// A returnLister lists the return addresses of stacks.
type returnLister struct {
	ctx  context.Context
	w    *stackwalk.Walker
	code *dac.CodeReader
	o    ReturnOptions
	gaps *answer.Gaps
}

// isBusy reports whether t holds locks, is hijacked, or runs managed code.
func (l *returnLister) isBusy(t *stackwalk.Thread) bool {
	m := t.Managed
	if m.Unknown != nil {
		return true // it may be busy
	}
	if m.State&dac.ThreadHijacked != 0 || m.LockCount != 0 && m.LockCount != ^uint32(0) {
		return true
	}
	ip, _ := t.OS.Registers.IP()
	managed, err := l.code.IsCode(ip)
	return err == nil && managed
}

func (l *returnLister) thread(t *stackwalk.Thread, row *answer.ThreadReturns) error {
	ranges := l.o.Ranges
	if len(ranges) == 0 {
		s, err := t.Stack(l.w.Runtime().Target())
		if err != nil {
			return err
		}
		ranges = s.Ranges
	}
	if t.OS != nil {
		ip, _ := t.OS.Registers.IP()
		row.Current = l.place(ip)
	}
	row.Returns = l.returns(t, ranges)
	return nil
}

func (l *returnLister) returns(t *stackwalk.Thread, ranges []target.Range) iter.Seq2[answer.Return, error] {
	return func(yield func(answer.Return, error) bool) {
		for _, r := range ranges {
			for ret, err := range l.w.Returns(l.ctx, r) {
				if err == nil && l.o.ManagedOnly && !l.isManaged(ret.IP) {
					continue
				}
				if !yield(l.describe(t, &ret), err) || l.ctx.Err() != nil {
					return
				}
			}
		}
	}
}

// isManaged reports whether ip is in a method. If that is unknown, it returns false and notes the error.
func (l *returnLister) isManaged(ip target.Addr) bool {
	info, err := l.code.MethodAt(ip)
	if err != nil && !errors.Is(err, dac.ErrNoCode) {
		l.gaps.Note(err)
	}
	return err == nil && info.Method != nil
}

func (l *returnLister) describe(t *stackwalk.Thread, ret *stackwalk.Return) answer.Return {
	out := answer.Return{OSID: t.ID(), Slot: ret.Slot, IP: ret.IP, Method: l.place(ret.IP), Trust: unwind.TrustScan.String(), Callee: ret.Callee}
	if ret.Callee != 0 && !l.o.ManagedOnly {
		out.CalleeIn = l.place(ret.Callee)
	}
	return out
}

// place describes the code at an address. It notes an unknown method.
func (l *returnLister) place(a target.Addr) string {
	info, err := l.code.MethodAt(a)
	switch {
	case err == nil && info.Method != nil:
		name := l.gaps.Text(l.code.MethodName(info.Method, dac.MethodFull))
		return fmt.Sprintf("(MethodDesc %v + %#x %s)", info.Method.Addr, info.Offset, name)
	case err != nil && !errors.Is(err, dac.ErrNoCode):
		l.gaps.Note(err)
	}
	return placeName(l.o.Symbols, a)
}

// placeName returns the name of a place in native code, or the address.
func placeName(symbols *image.Symbols, a target.Addr) string {
	if symbols != nil {
		if s, ok := symbols.At(a); ok {
			return s.String()
		}
	}
	return a.String()
}
