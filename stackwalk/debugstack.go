package stackwalk

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// DebugStack lists the stack of t, given its registers, as the debugging API does (ICorDebugStackWalk). Each run of
// native code is one frame, methods have signatures as in metadata, and some frames of the runtime have labels. It
// starts where Walk does. It notes unreadable names in gaps.
func (w *Walker) DebugStack(ctx context.Context, t *dac.Thread, regs target.Registers, o WalkOptions,
	gaps *answer.Gaps) iter.Seq2[answer.DebugFrame, error] {
	return answer.NewRows(gaps, func(yield func(answer.DebugFrame, error) bool) error {
		if w.rt == nil {
			yield(answer.DebugFrame{}, errNoRuntime)
			return nil
		}
		internal := w.internalFrames(t, gaps)
		at, _ := w.start(ctx, t, &regs, o)
		snap := w.Snapshot(t, *at, SnapshotOptions{Synchronous: true})
		snap.enter = !o.Now
		for f := range snap.Frames(ctx) {
			for len(internal) > 0 && internal[0].SP < f.SP {
				if !yield(internal[0], nil) {
					return nil
				}
				internal = internal[1:]
			}
			if !yield(w.debugFrame(&f, gaps), nil) {
				return nil
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, f := range internal {
			if !yield(f, nil) {
				return nil
			}
		}
		if err := snap.Err(); err != nil {
			yield(answer.DebugFrame{}, err)
		}
		return nil
	})
}

// internalFrames returns the explicit frames that the debugging API shows.
func (w *Walker) internalFrames(t *dac.Thread, gaps *answer.Gaps) (out []answer.DebugFrame) {
	for f, err := range w.rt.Frames(t) {
		if err != nil {
			gaps.Note(err)
			break
		}
		if f.Kind == dac.FrameInlinedCall {
			how, err := w.rt.FrameCaller(&f, &target.Registers{Arch: w.rt.Target().Platform().Arch})
			if err != nil || how == dac.CallerNone {
				continue // between two calls
			}
		}
		throws, err := w.rt.FrameThrows(&f)
		gaps.Note(err)
		if label := debugLabel(f.Kind, throws); label != "" {
			out = append(out, answer.DebugFrame{SP: f.Addr, Label: label})
		}
	}
	return out
}

// debugLabel returns the debugging API's name of an explicit frame, or "" for a frame that the API omits.
func debugLabel(k dac.FrameKind, throws bool) string {
	switch {
	case throws:
		return "Exception"
	case k == dac.FrameInlinedCall:
		return "Managed to Unmanaged transition"
	case k == dac.FrameHelper:
		return "Internal call"
	}
	return ""
}

func (w *Walker) debugFrame(f *SnapshotFrame, gaps *answer.Gaps) answer.DebugFrame {
	out := answer.DebugFrame{SP: f.SP, IP: f.IP, Native: f.Function == nil}
	switch {
	case out.Native:
	case f.Function.Token.Row() == 0:
		out.Unnamed = true
		out.Method = gaps.Text(w.code.MethodName(f.Function, dac.MethodFull))
	default:
		out.Method = gaps.Text(methodECMA(f.Function))
		m, err := f.Function.Module()
		if err == nil {
			out.Module.S, err = m.File()
		}
		if out.Module.Err = err; out.Method.Err == nil {
			gaps.Note(err)
		}
	}
	return out
}

// methodECMA returns a method with its signature as in metadata.
func methodECMA(m *dac.MethodDesc) (string, error) {
	sig, md, err := m.Signature()
	if err != nil {
		return "", err
	}
	name, err := m.Name()
	if err != nil || md == nil {
		return name, err
	}
	owner, err := md.MethodOwner(m.Token.Row())
	if err != nil {
		return "", err
	}
	class, err := md.TypeDefFullName(owner)
	return metadata.FormatMethodECMA(class+"."+name, &sig, md.Names()), err
}
