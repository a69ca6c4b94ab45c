package triage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/signature"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// crashed checks how the process died.
func crashed(ctx context.Context, q *Answers) (view, error) {
	c, err := q.Crash.get()
	if err != nil {
		return view{}, err
	}
	switch {
	case c.Undecided:
		return view{}, firstOf(c.Noted(), target.ErrNotInDump)
	case c.Alive:
		v := view{partly: firstOf(c.Noted(), nil)}
		v.found = ofKind(answer.FindingEnding, v.findings(c.Verdicts))
		return v, nil
	}
	clauses := c.Verdicts
	f := finding(answer.FindingCrash, clauses...)
	f.Statement, f.Thread = c.Why, c.ThreadID
	switch {
	case c.Blames > 0 && c.Blames <= len(clauses):
		cause := &clauses[c.Blames-1]
		f.Statement, f.Strength = cause.Statement, cause.Strength
		if !c.Usual.IsZero() {
			f.Clauses = append(slices.Clip(f.Clauses), answer.Conclude(answer.FindingCrash, words.UsuallyMeans.Of(c.Usual), answer.StrengthLikely))
		}
	case c.Likely != "":
		f.Statement, f.Strength = c.Cause, answer.StrengthLikely // no clause has this conclusion
	}
	id := signature.Crash(c, q.rules)
	f.Identity = id.Identity
	if c.Likely != "" || !received(c) {
		f.Statement = f.Plus(crashPlace(c, id.Frame)...)
	}
	if len(c.Exceptions) > 0 && c.Exceptions[0].Address != 0 {
		f.Object = c.Exceptions[0].Address
		f.Next = append(f.Next, fmt.Sprintf("pe %x", uint64(f.Object)))
	}
	for i := range clauses {
		f.Next = append(f.Next, clauses[i].Show...)
	}
	f.Clauses = append(f.Clauses, failedCommand(ctx, q, c)...)
	return view{found: []answer.Finding{f}, partly: firstOf(c.Noted(), nil)}, nil
}

// failedCommand names the database command with the exception that ended the process.
func failedCommand(_ context.Context, q *Answers, c *answer.Crash) []answer.Verdict {
	isDriver := func(x answer.Exception) bool {
		return strings.HasSuffix(x.Type.S, ".SqlException") || strings.HasPrefix(x.Type.S, "Npgsql.")
	}
	if !slices.ContainsFunc(c.Exceptions, isDriver) {
		return nil
	}
	list, err := q.SQLPools.get()
	if err != nil {
		return nil // the pools are a separate subject, which reports the error
	}
	for i := range list.Failures {
		x := &list.Failures[i]
		if x.Command != nil && slices.ContainsFunc(c.Exceptions, func(e answer.Exception) bool { return e.Address == x.Object }) {
			v := answer.Conclude(answer.FindingCrash, words.FailedCommand.Of(words.Text(x.Command.Text.String())), x.Strength,
				words.ObjectOfType.Of(words.Type(x.Type.String()), words.ShortObject(x.Object)))
			v.Show = []string{"sqlpools"}
			return []answer.Verdict{v}
		}
	}
	return nil
}

// finalizer checks the thread that runs finalizers. In a crashed process all threads have stopped, so its position is
// meaningless.
func finalizer(_ context.Context, q *Answers) (view, error) {
	c, err := q.Crash.get()
	switch {
	case err != nil:
		return view{}, err
	case c.Undecided:
		return view{}, firstOf(c.Noted(), target.ErrNotInDump)
	case !c.Alive:
		return view{beside: true}, nil
	}
	v := view{partly: firstOf(c.Noted(), nil)}
	v.found = ofKind(answer.FindingFinalizers, v.findings(c.Verdicts))
	if waiting := q.behindFinalizer(); waiting != nil {
		for i := range v.found {
			v.found[i].Clauses = append(v.found[i].Clauses, *waiting)
		}
	}
	return v, nil
}

// behindFinalizer describes the objects that await finalization, or returns nil without such objects, or if they were not read.
func (q *Answers) behindFinalizer() *answer.Verdict {
	l, err := q.Leaks.get()
	if err != nil || l.Finalizers.Ready == 0 || len(l.Finalizers.ReadyTypes) == 0 {
		return nil
	}
	t := &l.Finalizers.ReadyTypes[0]
	x := answer.Conclude(answer.NoFinding, words.AwaitFinalizer.Of(words.Commas(l.Finalizers.Ready), words.Commas(t.Count), words.Type(t.Type.String()), words.Bytes(t.Size)),
		answer.StrengthRecorded, words.FinalizerQueue.Of())
	x.Show = []string{"finalizequeue"}
	return &x
}

// ofKind returns the findings of a kind among conclusions.
func ofKind(kind answer.FindingKind, list []answer.Verdict) []answer.Finding {
	var out []answer.Finding
	for i := range list {
		if list[i].Kind == kind {
			out = append(out, finding(kind, list[i]))
		}
	}
	return out
}

// crashPlace returns where the process died if its conclusions don't name it: the innermost method of the program on
// the stack with its line, else frame, and the thread. The conclusion about an exception names the method of its trace.
func crashPlace(c *answer.Crash, frame string) (out []answer.Statement) {
	switch i := slices.IndexFunc(c.Stack, ownMethod); {
	case i >= 0 && (c.Likely == "" || len(c.Exceptions) == 0 && c.FailFast == nil) && !names(c.Cause, c.Stack[i].Method.S):
		f, place := &c.Stack[i], answer.Statement{}
		if f.File != "" {
			place = words.AtPlace.Of(words.Place(target.BaseName(f.File), f.Line))
		}
		out = append(out, words.InnermostOwn.Of(words.Method(compilernames.Pretty(f.Method.S)), place))
	case i < 0 && c.Likely == "" && frame != "":
		out = append(out, words.DiedIn.Of(words.Method(frame)))
	}
	switch {
	case c.Thread != nil:
		out = append(out, words.CommaThread.Of(words.ThreadAndID(*c.Thread)))
	case c.ThreadID != 0:
		out = append(out, words.CommaThread.Of(words.ThreadID(c.ThreadID)))
	}
	return out
}

// received reports whether the thread of the record need not have to do with the signal.
func received(c *answer.Crash) bool {
	s := c.Signal
	return s != nil && s.Sender != nil && !(s.Sender.Self && s.Code != nil && *s.Code == target.SITkill)
}

// names reports whether a method is among the arguments of a statement.
func names(s answer.Statement, method string) bool {
	return slices.ContainsFunc(s.Args, func(a answer.Arg) bool { return a.Type == answer.ArgMethod && a.Value == method })
}

// ownMethod reports whether a frame is of a managed method of the program itself.
func ownMethod(f answer.CrashFrame) bool {
	return f.Place == nil && f.Method.Err == nil && f.Method.S != "" && !strings.HasPrefix(f.Method.S, "[") && !answer.LibraryMethod(f.Method.S)
}

// firstOf returns the first of errs, or otherwise. What a collection in progress was moving comes last: it is no failure.
func firstOf(errs []error, otherwise error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return !moving(err) }); i >= 0 {
		return errs[i]
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return otherwise
}

// moving reports whether a part is missing because a collection in progress was moving it.
func moving(err error) bool { return errors.Is(err, target.ErrInCollection) }
