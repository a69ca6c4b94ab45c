package codeinfo

import (
	"cmp"
	"slices"
)

// A GCState is the set of tracked slots that hold references from an offset on, or at a safe point
// only.
type GCState struct {
	Offset        uint32 // bytes from the start of the code
	SafePoint     bool
	Interruptible bool // the thread can be stopped at every instruction from here on
	Live          []Slot
}

// States returns the states of a method by offset. In code that is neither interruptible nor a safe
// point, no live slots are recorded.
func (d *GCDecoder) States() ([]GCState, error) {
	var out []GCState
	for i, offset := range slices.Clone(d.SafePointOffsets()) {
		live, err := d.LiveAtSafePoint(nil, i)
		if err != nil {
			return nil, err
		}
		out = append(out, GCState{Offset: offset, SafePoint: true, Live: live})
	}
	changes, err := d.ChangeOffsets()
	if err != nil {
		return nil, err
	}
	const state = ActiveFrame | ExecutionAborted | NoUntracked
	for _, offset := range slices.Clone(changes) {
		live, err := d.LiveSlots(nil, Query{Offset: offset, State: state})
		if err != nil {
			return nil, err
		}
		_, interruptible := d.findRange(offset)
		out = append(out, GCState{Offset: offset, Interruptible: interruptible, Live: live})
	}
	slices.SortStableFunc(out, func(a, b GCState) int { return cmp.Compare(a.Offset, b.Offset) })
	return out, nil
}
