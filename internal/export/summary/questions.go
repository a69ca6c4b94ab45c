package summary

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/crash"
	"github.com/sosgo/sosgo/internal/app/triage"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Options select the content of a summary.
type Options struct {
	NoHeap bool   // omits sizes and suspects, the slowest parts for a large dump, and the heap's part of the crash
	Rules  string // text of the rules for signing crashes (docs/fleet.md); empty selects the default rules
}

// Summary describes the dump in one record for a crash pipeline: signature, reason, top frame, suspects and sizes.
// Unreadable parts are omitted and counted in Missing.
func Summary(ctx context.Context, p *process.Process, o Options) (*answer.Summary, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Summary, error) {
		info, platform := p.Dump().File().Process(), p.Dump().File().Platform()
		s := &answer.Summary{Dump: target.BaseName(p.Dump().File().Path), Process: info.Command, PID: info.ID,
			System: fmt.Sprintf("%s %s", platform.OS, platform.Arch)}
		var err error
		if s.ID, err = p.Dump().ID(); errors.Is(err, target.ErrUnsupported) {
			s.Note(err) // a target that is no dump
		} else if err != nil {
			return nil, err
		}
		if t := info.DumpTime; !t.IsZero() {
			t = t.UTC()
			s.Time = &t
		}
		if inst, err := c.Instance(); err == nil {
			s.Runtime = inst.Release()
		}
		list, err := c.Threads()
		s.Note(err)
		n := 0
		for i := range list {
			if list[i].OS != nil { // the runtime also lists threads that have ended or not started
				n++
			}
		}
		if n > 0 {
			s.Threads = &n
		}
		if !o.NoHeap && !p.StacksOnly() {
			_, _ = c.ObjectHeap() // note the heap's gaps, which affect sizes and suspects
		}
		to := triage.Options{NoHeap: o.NoHeap, Brief: true, Jobs: c.Jobs(), Rules: o.Rules}
		answers, err := read(ctx, p, to)
		if err != nil {
			return nil, err
		}
		if x, err := answers.Crash.Get(); err == nil {
			AddCrash(s, x)
			if err := Sign(s, x, o.Rules); err != nil {
				return nil, err
			}
		}
		if found, err := answers.Leaks.Get(); err == nil {
			AddLeaks(s, found)
		}
		t, err := triage.Judge(ctx, answers, to)
		if t == nil {
			return nil, err
		}
		AddTriage(s, t) // it notes what was not checked
		s.NoteFirst(c.TakeNotes())
		s.Missing = len(s.Noted())
		return s, ctx.Err()
	})
}

// read reads the parts of a summary. Without the runtime's data that is only the crash.
func read(ctx context.Context, p *process.Process, o triage.Options) (*triage.Answers, error) {
	if _, err := p.Instance(); err != nil || p.StacksOnly() {
		return &triage.Answers{Crash: triage.Got(crash.Describe(ctx, p, crash.Options{NoHeap: o.NoHeap}))}, ctx.Err()
	}
	return triage.Read(ctx, p, o)
}
