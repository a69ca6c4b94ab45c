package dap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// maxOutput is the maximum number of bytes of a command's output that a client receives.
const maxOutput = 1 << 20

func (s *session) evaluate(ctx context.Context, a *dap.EvaluateArguments) (any, error) {
	text := strings.TrimSpace(a.Expression)
	if text == "" {
		return nil, errors.New("there is no expression")
	}
	if a.Context == "repl" && s.opened.Console.IsCommand(text) {
		return s.command(ctx, a.FrameId, text)
	}
	if a.FrameId != 0 {
		v, rest, err := s.inFrame(ctx, a.FrameId, text)
		switch {
		case err != nil:
			return nil, err
		case v != nil && rest == "" && v.Name != "":
			return dap.EvaluateResponseBody{Result: v.Value, Type: v.Type, VariablesReference: v.VariablesReference, NamedVariables: v.NamedVariables,
				IndexedVariables: v.IndexedVariables, MemoryReference: v.MemoryReference}, nil
		case v != nil:
			text = v.EvaluateName + rest
		}
	}
	o := rows.EvaluateOptions{}
	if f, err := s.frame(ctx, a.FrameId); err == nil {
		o.Thread = f.thread.of
	}
	e, err := rows.Evaluate(ctx, s.view, text, o)
	if e == nil || len(e.Values) == 0 {
		if err == nil {
			err = errors.New("there is no expression")
		}
		return nil, err
	}
	if len(e.Values) == 1 {
		return s.evaluated(ctx, &e.Values[0])
	}
	return s.several(ctx, e.Values)
}

// evaluated shows the value of an expression. If the value is missing, it returns the reason as the error.
func (s *session) evaluated(ctx context.Context, e *answer.Evaluation) (any, error) {
	if e.Value.Kind == answer.CellMissing {
		if errors.Is(e.Value.Err, query.ErrNoThread) {
			return nil, errors.New("its value is a thread's: choose a frame of the thread")
		}
		return nil, e.Value.Err
	}
	if e.Value.Kind == answer.CellObject && e.Address != 0 {
		v := s.reference(ctx, s.view, named{}, e.Address)
		if e.Text != "" && !e.Value.String {
			v.Value = e.Text
		}
		return dap.EvaluateResponseBody{Result: v.Value + possible(e), Type: v.Type, VariablesReference: v.VariablesReference, NamedVariables: v.NamedVariables,
			IndexedVariables: v.IndexedVariables, MemoryReference: v.MemoryReference}, nil
	}
	body := dap.EvaluateResponseBody{Result: cmpText(e.Text, e.Value.Plain()) + possible(e), Type: cmpText(e.Type, e.Kind.String())}
	if e.Kind == answer.CellList {
		body.Result = answer.Count(int(min(e.Count, 1<<31-1)), "item", "items") + possible(e)
		body.VariablesReference = s.values.add(cells(e.Items))
	}
	if e.Address != 0 {
		body.MemoryReference = reference(e.Address)
	}
	return body, nil
}

func possible(e *answer.Evaluation) string {
	if e.Strength == "" {
		return ""
	}
	return " (" + string(e.Strength) + ")"
}

// several shows the values of several expressions, one on each line.
func (s *session) several(ctx context.Context, list []answer.Evaluation) (any, error) {
	var lines []string
	var all []dap.Variable
	for i := range list {
		v := dap.Variable{Name: list[i].Expression}
		if body, err := s.evaluated(ctx, &list[i]); err == nil {
			b := body.(dap.EvaluateResponseBody)
			v.Value, v.Type, v.VariablesReference, v.IndexedVariables, v.MemoryReference = b.Result, b.Type, b.VariablesReference, b.IndexedVariables, b.MemoryReference
		} else {
			v.Value = words(err)
		}
		lines, all = append(lines, v.Name+" = "+v.Value), append(all, v)
	}
	return dap.EvaluateResponseBody{Result: strings.Join(lines, "\n"), VariablesReference: s.values.add(group(
		func(context.Context, *session) ([]dap.Variable, error) { return all, nil }))}, nil
}

// cells are the items of a list that an expression returned.
type cells []answer.Cell

func (n cells) children(ctx context.Context, s *session, p part) ([]dap.Variable, error) {
	var out []dap.Variable
	if !p.indexed {
		return nil, nil
	}
	for i := range n {
		if i < p.start || p.count > 0 && len(out) == p.count {
			continue
		}
		c := &n[i]
		v := dap.Variable{Name: fmt.Sprintf("[%d]", i), Value: c.Plain(), Type: c.Type}
		switch c.Kind {
		case answer.CellObject:
			v = s.reference(ctx, s.view, named{name: v.Name}, target.Addr(c.Bits))
		case answer.CellMissing:
			v.Value = words(c.Err)
		}
		out = append(out, v)
	}
	return out, nil
}

// inFrame returns the variable that an expression begins with, and the rest of the expression: an argument or local, or
// a member of one that is a value; else a field of this, or a static field of the frame's type. v is nil for
// other expressions.
func (s *session) inFrame(ctx context.Context, id int, text string) (v *dap.Variable, rest string, err error) {
	n := nameIn(text)
	name, rest := text[:n], text[n:]
	if name == "" || strings.HasPrefix(rest, "(") {
		return nil, "", nil
	}
	f, err := s.frame(ctx, id)
	if err != nil || f.Kind != answer.FrameManaged || f.later != nil {
		return nil, "", err
	}
	d, err := s.described(ctx, f, threads.StackOptions{Arguments: true, Locals: true})
	if err != nil {
		return nil, "", ctx.Err()
	}
	for _, list := range []struct {
		of      []answer.Variable
		unnamed string
	}{{d.Locals, unnamedLocal}, {d.Arguments, unnamedArgument}} {
		for i := range list.of {
			x := &list.of[i]
			switch {
			case shownName(x, list.unnamed) != name:
			case rest == "":
				shown := s.frameVariable(ctx, f, x, name)
				return &shown, "", nil
			default:
				return s.member(ctx, f.thread.view, &x.Stored, name, rest)
			}
		}
	}
	v, err = s.ofType(ctx, f, d.Arguments, name)
	return v, rest, err
}

// member returns the part of a variable that the rest of an expression leads to, as far as it leads through values.
func (s *session) member(ctx context.Context, view *process.Process, stored *answer.Stored, path, rest string) (v *dap.Variable, left string, err error) {
	for {
		switch {
		case rest == "":
			shown := s.variable(ctx, view, named{name: path, stored: stored, evaluate: path})
			return &shown, "", nil
		case stored.Missing.Err != nil:
			return nil, "", fmt.Errorf("%s: %w", path, stored.Missing.Err)
		case isNumber(stored.Value.Kind):
			return &dap.Variable{EvaluateName: "(" + stored.Value.Plain() + ")"}, rest, nil
		case stored.Value.Kind == answer.KindReference && stored.Value.Bits == 0:
			return &dap.Variable{EvaluateName: "null"}, rest, nil
		case stored.Value.Kind == answer.KindReference:
			return &dap.Variable{EvaluateName: reference(target.Addr(stored.Value.Bits))}, rest, nil
		case stored.Members.IsZero() || !strings.HasPrefix(rest, "."):
			return nil, "", target.Unsupportedf("%s is no reference to an object: its parts are among the variables", path)
		}
		n := 1 + nameIn(rest[1:])
		name := rest[1:n]
		list := stored.Members.List()
		i := slices.IndexFunc(list, func(m answer.Member) bool { return m.Name.S == name || m.Name.S == "<"+name+">k__BackingField" })
		if i < 0 {
			return nil, "", fmt.Errorf("%s has no field %q", path, name)
		}
		stored, path, rest = &list[i].Stored, path+"."+name, rest[n:]
	}
}

// ofType returns an expression for the field of this or static field of the frame's type with that name, or nil.
func (s *session) ofType(ctx context.Context, f *frame, arguments []answer.Variable, name string) (*dap.Variable, error) {
	if len(arguments) > 0 && arguments[0].Name == "this" {
		if this := arguments[0].Stored; this.Missing.Err == nil && this.Value.Kind == answer.KindReference && this.Value.Bits != 0 {
			at := target.Addr(this.Value.Bits)
			o, _, err := asked(s, f.thread.view, func(v *process.Process) (*answer.Object, error) {
				return values.Describe(ctx, v, at, values.DescribeOptions{Plain: true})
			})
			if err == nil && slices.ContainsFunc(o.Fields, func(x answer.Field) bool { return x.Kind == answer.FieldInstance && isField(&x, name) }) {
				return &dap.Variable{EvaluateName: reference(at) + "." + name}, nil
			}
		}
	}
	fields, of, _, err := s.statics(ctx, f)
	if err != nil || of == "" {
		return nil, ctx.Err()
	}
	if slices.ContainsFunc(fields, func(x answer.Field) bool { return x.Kind != answer.FieldInstance && isField(&x, name) }) {
		return &dap.Variable{EvaluateName: of + "." + name}, nil
	}
	return nil, nil
}

func isField(f *answer.Field, name string) bool {
	return f.Name.S == name || f.Name.S == "<"+name+">k__BackingField"
}

func isNumber(k answer.ValueKind) bool {
	return k == answer.KindInt || k == answer.KindUint || k == answer.KindBool || k == answer.KindFloat
}

// command runs a command line over the dump. The frame's thread becomes the current one.
func (s *session) command(ctx context.Context, frameID int, line string) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if frameID != 0 {
		if k, ok := s.stacks.key(frameID); ok {
			s.opened.Console.Run(ctx, fmt.Sprintf("setthread %#x", k.thread), &output{stop: cancel})
		}
	}
	out := &output{stop: cancel}
	s.opened.Console.Run(ctx, line, out)
	text := strings.ToValidUTF8(string(out.b), "\ufffd")
	if out.full {
		text += fmt.Sprintf("\n… (output is cut at %d bytes: a shell has all)\n", maxOutput)
	}
	return dap.EvaluateResponseBody{Result: strings.TrimRight(text, "\n")}, nil
}

// output keeps the first maxOutput bytes that a command prints, then stops the command. Commands may write from
// several goroutines, one at a time.
type output struct {
	b    []byte
	full bool
	stop func()
}

func (o *output) Write(p []byte) (int, error) {
	room := maxOutput - len(o.b)
	o.b = append(o.b, p[:min(room, len(p))]...)
	if len(p) > room && !o.full {
		o.full = true
		o.stop()
	}
	return len(p), nil
}

func (s *session) completions(a *dap.CompletionsArguments) (any, error) {
	lines := strings.Split(a.Text, "\n")
	line := lines[len(lines)-1]
	if a.Line > 0 && a.Line <= len(lines) {
		line = lines[a.Line-1]
	}
	before := upTo(line, a.Column-1)
	found, length := s.opened.Console.Complete(before)
	if len(found) == 0 {
		found, length = s.opened.Console.Complete("eval " + before)
	}
	body := dap.CompletionsResponseBody{Targets: []dap.CompletionItem{}}
	for _, f := range found {
		body.Targets = append(body.Targets, dap.CompletionItem{Label: strings.TrimRight(f, " "), Text: f, Start: max(0, a.Column-1-length), Length: length})
	}
	return body, nil
}

// upTo returns the first units UTF-16 code units of a line.
func upTo(line string, units int) string {
	u := utf16.Encode([]rune(line))
	return string(utf16.Decode(u[:max(0, min(units, len(u)))]))
}
