package dap

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/threads"
)

func (s *session) exceptionInfo(ctx context.Context, id int) (any, error) {
	t, err := s.threads.find(ctx, s, id)
	if err != nil {
		return nil, err
	}
	crash, crashErr := s.crash(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	died := crash != nil && !crash.Alive && !crash.Undecided && crash.ThreadID == t.os.OSID
	if died && len(crash.Exceptions) > 0 {
		return exceptionBody(&crash.ExceptionTree, "unhandled", cmpText(crash.Likely, crash.Reason)), nil
	}
	if t.managed != nil && (t.managed.Exception != nil || t.managed.ExceptionError != nil) && !s.view.StacksOnly() {
		a, err := stacks.Analyze(ctx, t.view, t.of, threads.StackOptions{})
		switch {
		case err != nil && !died:
			return nil, err
		case err == nil && len(a.Exceptions) > 0:
			mode, text := howCarried(t.carried)
			return exceptionBody(&a.ExceptionTree, mode, text), nil
		case err == nil && a.Unread != nil && !died:
			return nil, a.Unread
		}
	}
	if died {
		return dap.ExceptionInfoResponseBody{ExceptionId: cmpText(crash.Code, crash.Reason), Description: strings.Join(nonEmpty(crash.Reason, crash.Likely), "\n"),
			BreakMode: "unhandled"}, nil
	}
	if crashErr != nil {
		return nil, crashErr
	}
	return nil, fmt.Errorf("thread %#x has thrown nothing", t.os.OSID)
}

// howCarried returns the protocol's break mode for the state of a thread's exception, and a description.
func howCarried(state answer.CarriedState) (mode dap.ExceptionBreakMode, text string) {
	switch state {
	case answer.CarriedUnhandled, answer.CarriedFatal:
		return "unhandled", "no handler was found"
	case answer.CarriedLast:
		return "always", "it was thrown last, and is not being handled any more"
	case answer.CarriedHandling:
		return "always", "it is being handled, or a handler is looked for"
	}
	return "always", ""
}

func exceptionBody(t *answer.ExceptionTree, mode dap.ExceptionBreakMode, text string) dap.ExceptionInfoResponseBody {
	seen := map[int]bool{}
	details := exceptionDetails(t, 0, seen)
	body := dap.ExceptionInfoResponseBody{ExceptionId: details.FullTypeName, BreakMode: mode, Details: &details}
	body.Description = strings.Join(nonEmpty(details.Message, text), "\n")
	return body
}

// exceptionDetails describes an exception of a tree and its causes, each once.
func exceptionDetails(t *answer.ExceptionTree, i int, seen map[int]bool) dap.ExceptionDetails {
	seen[i] = true
	e := &t.Exceptions[i]
	out := dap.ExceptionDetails{FullTypeName: e.Type.String(), StackTrace: traceText(e)}
	out.TypeName = out.FullTypeName[strings.LastIndexByte(out.FullTypeName, '.')+1:]
	if e.Message != nil {
		out.Message = e.Message.String()
	}
	if e.Address != 0 {
		out.EvaluateName = reference(e.Address)
	}
	switch {
	case len(t.Causes) == 0 && i+1 < len(t.Exceptions): // a single chain
		out.InnerException = append(out.InnerException, exceptionDetails(t, i+1, seen))
	case i < len(t.Causes):
		for _, c := range t.Causes[i] {
			if c < len(t.Exceptions) && !seen[c] {
				out.InnerException = append(out.InnerException, exceptionDetails(t, c, seen))
			}
		}
	}
	for _, o := range t.Omitted {
		if o.Exception == i {
			out.InnerException = append(out.InnerException, dap.ExceptionDetails{Message: "causes are missing: " + o.Reason})
		}
	}
	return out
}

// traceText formats the stack trace of an exception as .NET does.
func traceText(e *answer.Exception) string {
	var b strings.Builder
	for i := range e.Frames {
		f := &e.Frames[i]
		fmt.Fprintf(&b, "   at %s", f.Function.String())
		if f.File != "" {
			fmt.Fprintf(&b, " in %s:line %d", f.File, f.Line)
		}
		b.WriteString("\n")
		if f.Foreign {
			b.WriteString("--- thrown again from here ---\n")
		}
	}
	switch {
	case e.TraceError != nil:
		b.WriteString("   " + words(e.TraceError) + "\n")
	case len(e.Frames) == 0 && e.StackTrace != nil:
		b.WriteString(e.StackTrace.String())
	}
	return b.String()
}
