// Package text writes answers as the commands of the program sosgo print them: stacks, objects, crashes, triages and
// their findings. It reads no dump and computes nothing; text of the dump is escaped for a terminal. For programs that
// read the result, JSON and tables are better: see docs/json.md and package export. Start with Triage.
//
// Stability: unstable.
package text

import (
	"bufio"
	"cmp"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Options choose the form. The zero value is the form of the commands without options.
type Options struct {
	SOS       bool // SOS's exact form, without sosgo's additions
	All       bool // headings of stacks as in "clrstack -all"
	Full      bool // modules and offsets of frames
	Registers bool // registers of frames, if the answer has them
	Variables bool // arguments and locals of frames, if the answer has them
	Lines     bool // source lines of a crash in SOS's form too
	// Missing receives the reasons for missing rows and values, which a command prints as warnings. Without it, a
	// function returns the first of them after it has written the text.
	Missing func(error)
}

// Stacks writes stacks as clrstack does. It reads their lists, and returns the error that kept one from being whole.
func Stacks(w io.Writer, s *answer.Stacks, o Options) error {
	return write(w, s, o, func(p *report.Page) {
		threadtext.Stacks(p, s, threadtext.StackOptions{All: o.All, Full: o.Full, Registers: o.Registers, Variables: o.Variables})
	})
}

// Object writes an object as dumpobj does.
func Object(w io.Writer, x *answer.Object, o Options) error {
	return write(w, x, o, func(p *report.Page) { objecttext.Object(p, x) })
}

// Crash writes a crash as crashinfo does.
func Crash(w io.Writer, c *answer.Crash, o Options) error {
	return write(w, c, o, func(p *report.Page) { threadtext.Crash(p, c, threadtext.CrashOptions{Lines: o.Lines}) })
}

// Triage writes a triage as the command triage does. Where the answer has no advice, the command adds which of its own
// options would help.
func Triage(w io.Writer, t *answer.Triage, o Options) error {
	return write(w, t, o, func(p *report.Page) { processtext.Triage(p, t) })
}

// Finding writes a finding as triage does, without its number.
func Finding(w io.Writer, f *answer.Finding, o Options) error {
	return write(w, f, o, func(p *report.Page) { processtext.Finding(p, f) })
}

// write writes an answer. It returns an error of w, else the failure of the answer, else the first reason for a missing
// part that o.Missing did not receive.
func write[T any](w io.Writer, x *T, o Options, text func(*report.Page)) error {
	if x == nil || w == nil {
		return target.Argumentf("no answer to write, or nothing to write it to")
	}
	var missing error
	note := o.Missing
	if note == nil {
		note = func(err error) { missing = cmp.Or(missing, err) }
	}
	b := bufio.NewWriter(w)
	p := report.NewPage(b, o.SOS, note)
	text(p)
	p.Fail(b.Flush())
	failure := report.Lacking(x, note)
	return cmp.Or(p.Err(), failure, missing)
}
