package sosgo

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/async"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/resolve"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

//go:generate go run ./internal/test/tools/viewgen

// Threads returns a copy of the list of threads; see process.Process.Threads.
func (v *View) Threads() ([]stackwalk.Thread, error) {
	list, err := v.Process.Threads()
	return slices.Clone(list), err
}

// CrashedThread returns the thread that crashed: the thread of the dump's signal or exception record or, without a
// record, the first thread with an unhandled exception. It returns nil if the dump records no crash. The error is
// ErrNotInDump if the dump does not have that thread.
func (v *View) CrashedThread() (*stackwalk.Thread, error) {
	id, ok := crash.Died(v.Process)
	list, err := v.Threads()
	if !ok {
		return nil, err
	}
	t := stackwalk.ThreadByID(list, id)
	if t == nil {
		return nil, cmp.Or(err, fmt.Errorf("the thread %#x, which crashed: %w", id, ErrNotInDump))
	}
	return t, nil
}

// Resolve describes what is at an address: an object, a type, a method, code, a stack or an image.
func (v *View) Resolve(ctx context.Context, a target.Addr) *answer.Address {
	return resolve.Address(ctx, v.Process, a)
}

// DiagnoseOptions select the content of a diagnosis.
type DiagnoseOptions struct {
	Members bool // lists every member of the runtime's layout
}

// Diagnose reports everything that may prevent answers: what the dump holds and how it is read.
func (v *View) Diagnose(o DiagnoseOptions) *answer.Diagnosis {
	return doctor.Of(v.Process, doctor.Options{Members: o.Members})
}

// Values of StackOptions.Runtimes, for a process with several runtimes.
const (
	AllRuntimes    = stacks.AllRuntimes    // frames of all runtimes
	FoldedRuntimes = stacks.FoldedRuntimes // frames of the View's runtime, and one line for each run of others'
	OneRuntime     = stacks.OneRuntime     // frames of the View's runtime; other code is native
)

// Values of AsyncOptions.Form.
const (
	Listed  = async.Listed  // each stack
	Merged  = async.Merged  // trees of calls
	Counted = async.Counted // equal stacks once, with their number
)

// SignatureRules returns the default rules that make the crashes of one cause have one signature (docs/fleet.md).
// SummaryOptions and TriageOptions take changed ones.
func SignatureRules() string { return signature.DefaultRules }
