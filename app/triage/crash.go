package triage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/signature"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/target"
)

// crash looks at how the process died.
func crash(ctx context.Context, q *Questions) (view, error) {
	c, err := ask(ctx, q.Crash)
	if err != nil {
		return view{}, err
	}
	switch {
	case c.Undecided:
		return view{}, firstOf(c.Noted(), target.ErrNotInDump)
	case c.Alive:
		return view{}, nil
	}
	clauses := c.Verdicts
	f := finding(answer.FindingCrash, clauses...)
	f.Text, f.Thread = c.Reason, c.ThreadID
	if c.Likely != "" {
		text, usual := cutUsual(c.Likely)
		f.Text, f.Strength = c.Likely, answer.StrengthLikely // unless a clause concludes just this
		for i := range clauses {
			switch clauses[i].Text {
			case c.Likely:
				f.Strength = clauses[i].Strength
			case text:
				f.Text, f.Strength = text, clauses[i].Strength
				f.Clauses = append(slices.Clip(f.Clauses), answer.Verdict{Kind: answer.FindingCrash, Statement: answer.Statement{Text: "such an exception usually means: " + usual}, Strength: answer.StrengthLikely})
			}
		}
	}
	id := signature.Crash(c, q.rules)
	f.Identity = id.Identity
	f.Text += crashPlace(c, id.Frame)
	if len(c.Exceptions) > 0 && c.Exceptions[0].Address != 0 {
		f.Object = c.Exceptions[0].Address
		f.Next = append(f.Next, fmt.Sprintf("pe %x", uint64(f.Object)))
	}
	f.Clauses = append(f.Clauses, failedCommand(ctx, q, c)...)
	return view{found: []answer.Finding{f}, partly: firstOf(c.Noted(), nil)}, nil
}

// cutUsual separates what an exception usually means, which its type alone suggests, from a likely cause.
func cutUsual(likely string) (text, usual string) {
	before, rest, found := strings.Cut(likely, " (usually: ")
	usual, after, closed := strings.Cut(rest, ")")
	if !found || !closed {
		return likely, ""
	}
	return before + after, usual
}

// failedCommand names the command of a database whose exception ended the process.
func failedCommand(ctx context.Context, q *Questions, c *answer.Crash) []answer.Verdict {
	isDriver := func(x answer.Exception) bool {
		return strings.HasSuffix(x.Type.S, ".SqlException") || strings.HasPrefix(x.Type.S, "Npgsql.")
	}
	if !slices.ContainsFunc(c.Exceptions, isDriver) {
		return nil
	}
	list, err := ask(ctx, q.SQLPools)
	if err != nil {
		return nil // the pools are a subject of their own, which reports it
	}
	for i := range list.Failures {
		x := &list.Failures[i]
		if x.Command != nil && slices.ContainsFunc(c.Exceptions, func(e answer.Exception) bool { return e.Address == x.Object }) {
			return []answer.Verdict{{Kind: answer.FindingCrash, Strength: x.Strength, Statement: answer.Statement{Text: "the command that failed: " + x.Command.Text.String()}, Show: []string{"sqlpools"},
				Evidence: []string{fmt.Sprintf("%s %x", x.Type, uint64(x.Object))}}}
		}
	}
	return nil
}

// finalizer looks at the thread that runs finalizers. If the process died, all of its threads stopped, and where this one stood means nothing.
func finalizer(ctx context.Context, q *Questions) (view, error) {
	c, err := ask(ctx, q.Crash)
	switch {
	case err != nil:
		return view{}, err
	case c.Undecided:
		return view{}, firstOf(c.Noted(), target.ErrNotInDump)
	case !c.Alive:
		return view{beside: true}, nil
	}
	v := view{partly: firstOf(c.Noted(), nil)}
	for i := range c.Verdicts {
		if c.Verdicts[i].Kind == answer.FindingFinalizers {
			v.found = append(v.found, finding(answer.FindingFinalizers, c.Verdicts[i]))
		}
	}
	return v, nil
}

// crashPlace returns where the process died, as far as its conclusions do not say so: the innermost method of the program on the stack with its line,
// or else frame, and the thread. A method in the trace of an exception is named by the conclusion about it.
func crashPlace(c *answer.Crash, frame string) string {
	var out string
	switch i := slices.IndexFunc(c.Stack, ownMethod); {
	case i >= 0 && (c.Likely == "" || len(c.Exceptions) == 0 && c.FailFast == nil) && !strings.Contains(c.Likely, c.Stack[i].Method.S):
		out = ", the innermost method of the program on its stack: " + compilernames.Pretty(c.Stack[i].Method.S)
		if f := &c.Stack[i]; f.File != "" {
			out += fmt.Sprintf(" (%s:%d)", target.BaseName(f.File), f.Line)
		}
	case i < 0 && c.Likely == "" && frame != "":
		out = ", died in " + frame
	}
	if c.ThreadID != 0 {
		out += fmt.Sprintf(", thread %#x", c.ThreadID)
		if c.ThreadName.Err == nil && c.ThreadName.S != "" {
			out += fmt.Sprintf(" %q", c.ThreadName.S)
		}
	}
	return out
}

// ownMethod reports whether a frame is of a managed method of the program itself.
func ownMethod(f answer.CrashFrame) bool {
	return f.Place == nil && f.Method.Err == nil && f.Method.S != "" && !strings.HasPrefix(f.Method.S, "[") && !answer.LibraryMethod(f.Method.S)
}

// firstOf returns the first of errs, or otherwise.
func firstOf(errs []error, otherwise error) error {
	if len(errs) > 0 {
		return errs[0]
	}
	return otherwise
}
