package dac

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// DescribeGCInfo describes where the code found by CodeOf for a holds references. For a method without code it
// only describes the method.
func (r *CodeReader) DescribeGCInfo(a target.Addr) (*answer.GCInfo, error) {
	info, err := r.CodeOf(a)
	if err != nil {
		return nil, err
	}
	out := &answer.GCInfo{Ranges: []answer.CodeSpan{}, Untracked: []answer.GCSlot{}, States: []answer.GCState{}}
	if info.Start != 0 {
		if out, err = r.GCInfo(info); err != nil {
			return nil, err
		}
	}
	out.Method, out.Name = info.Method.Addr, out.Text(r.MethodName(info.Method, MethodFull))
	return out, nil
}

// GCInfo describes where code holds references. It does not set the method.
func (r *CodeReader) GCInfo(info CodeInfo) (*answer.GCInfo, error) {
	var d codeinfo.GCDecoder
	if err := r.DecodeGCInfo(&d, info); err != nil {
		return nil, err
	}
	states, err := d.States()
	if err != nil {
		return nil, err
	}
	out := &answer.GCInfo{Start: info.Start, Kind: info.Kind.String(), GCInfo: info.GCInfo,
		Version: d.Version, CodeSize: d.CodeLength, PrologSize: d.PrologSize,
		GSCookie: offsetIfPresent(d.GSCookie), PSPSym: offsetIfPresent(d.PSPSym), ContextSlot: offsetIfPresent(d.ContextSlot),
		LeafOnly: d.ReportLeafOnly, Outgoing: d.OutgoingArea, Ranges: []answer.CodeSpan{}, States: []answer.GCState{},
		CookieRange: answer.CodeSpan(d.GSCookieRange), VarArg: d.VarArg}
	out.Context = contextName(d.Context)
	if d.HasStackBase {
		out.FrameBase = target.RegName(r.Runtime().Target().Platform().Arch, d.StackBase)
	}
	if d.HasTailCallBit() {
		out.TailCalls = &d.TailCalls
	}
	if d.HasReturn {
		out.Returns = d.Return.String()
	}
	for _, s := range d.Interruptible() {
		out.Ranges = append(out.Ranges, answer.CodeSpan(s))
	}
	out.Untracked = gcSlots(d.Untracked())
	for _, s := range states {
		if s.SafePoint || s.Interruptible {
			out.States = append(out.States, answer.GCState{Offset: s.Offset, SafePoint: s.SafePoint, Live: gcSlots(s.Live)})
		}
	}
	out.Changes = gcChanges(states)
	return out, nil
}

// contextName returns SOS's name of a kind of generic context, or "" for no context.
func contextName(k codeinfo.GenericContext) string {
	return [...]string{"", "METHODHANDLE", "METHODDESC", "THIS"}[k&3]
}

func offsetIfPresent(o codeinfo.StackOffset) *int32 {
	if !o.Present {
		return nil
	}
	return &o.Offset
}

// gcChanges returns the changes from each state to the next.
func gcChanges(states []codeinfo.GCState) []answer.GCChange {
	var out []answer.GCChange
	var last codeinfo.GCState
	for _, s := range states {
		c := answer.GCChange{Offset: s.Offset, SafePoint: s.SafePoint, Interruptible: s.Interruptible}
		if s.SafePoint {
			c.Begins = gcSlots(s.Live)
			out = append(out, c)
			continue
		}
		c.Switches = s.Interruptible != last.Interruptible
		c.Ends, c.Begins = gcSlots(without(last.Live, s.Live)), gcSlots(without(s.Live, last.Live))
		out, last = append(out, c), s
	}
	return out
}

// without returns the slots in a that are not in b.
func without(a, b []codeinfo.Slot) []codeinfo.Slot {
	return slices.DeleteFunc(slices.Clone(a), func(s codeinfo.Slot) bool { return slices.Contains(b, s) })
}

func gcSlots(slots []codeinfo.Slot) []answer.GCSlot {
	out := make([]answer.GCSlot, len(slots))
	for i, s := range slots {
		out[i] = answer.GCSlot{Slot: s.String(), Interior: s.Flags&codeinfo.SlotInterior != 0, Pinned: s.Flags&codeinfo.SlotPinned != 0}
		if s.Base == codeinfo.BaseSP {
			out[i].FromSP = &s.Offset
		}
	}
	return out
}
