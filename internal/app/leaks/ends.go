package leaks

import (
	"context"
	"errors"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ends states that a suspect lives no longer than calls that are under way, if nothing else keeps it, and these stand in no loop that may go on for
// ever: what a program reads in to work on it.
func (f *finder) ends(ctx context.Context, s *suspect) (answer.Statement, error) {
	if f.unread { // a root that can't be read may keep it, too
		return answer.Statement{}, nil
	}
	var of []graph.Node
	switch {
	case s.kind == answer.SuspectGroup:
		asked := min(len(s.sample), followed, max(1, maxFollowed/max(1, f.g.Objects())))
		for i := range asked {
			of = append(of, s.sample[i*len(s.sample)/asked])
		}
	case s.point != graph.NoNode && (s.kind == answer.SuspectObject || s.kind == answer.SuspectAccumulation):
		of = f.parts(s)
	}
	if len(of) == 0 {
		return answer.Statement{}, nil
	}
	method, err := f.endsWith(ctx, of)
	if err != nil || method == "" {
		return answer.Statement{}, err
	}
	return says.Ends(method), nil
}

// StillHeld reports whether a warning is of a frame with unknown references that keeps all the same what it refers to: all words that look like references
// count, and the registers that it had, if they are known. A call that is not resolved yet loses no more than its arguments.
func StillHeld(warning error) bool {
	return errors.Is(warning, stackwalk.ErrRunning) || errors.Is(warning, dac.ErrHijacked) || errors.Is(warning, stackwalk.ErrUncalled)
}

// endsWith names one of the calls that alone keep some objects alive, if each of them ends by itself.
func (f *finder) endsWith(ctx context.Context, of []graph.Node) (method string, err error) {
	var tops []graph.Node
	for _, n := range of {
		if call := f.callAbove(n, nil); !f.isCall(call) {
			tops = append(tops, f.top(n))
		} else if method = f.callEnds(call); method == "" {
			return "", nil
		}
	}
	if len(tops) == 0 {
		return method, nil
	}
	seen := 0
	for p, err := range f.g.Paths(ctx, tops[0], graph.PathOptions{Each: graph.EachSource, Skip: f.isCall, Ends: tops[1:]}) {
		if seen++; err != nil || seen == mostOwners {
			return "", err
		}
		if f.owner(p.Nodes) == ownUnproved {
			continue
		}
		if method = f.frameEnds(p.Nodes); method == "" {
			return "", nil
		}
	}
	for _, top := range tops {
		of, err := f.callsTo(ctx, top)
		if err != nil || of == nil {
			return "", err
		}
		for call := range of {
			if method = f.callEnds(call); method == "" {
				return "", nil
			}
		}
	}
	return method, nil
}

// callsTo returns the suspended calls through which paths lead to n. It returns nil if there are too many.
func (f *finder) callsTo(ctx context.Context, n graph.Node) (map[graph.Node]bool, error) {
	calls, seen := map[graph.Node]bool{}, 0
	if !f.anyCall {
		return calls, nil
	}
	for p, err := range f.g.Paths(ctx, n, graph.PathOptions{Each: graph.EachSource}) {
		if seen++; err != nil || seen >= mostOwners {
			return nil, err
		}
		if call := f.callOn(p.Nodes); call != graph.NoNode {
			calls[call] = true
		}
		if len(calls) > followed {
			return nil, nil
		}
	}
	return calls, nil
}

// callEnds names the async method of a suspended call that ends by itself, or returns "".
func (f *finder) callEnds(call graph.Node) string {
	p, err := tasks.New(f.b).AwaitOf(f.g.Address(call))
	if err != nil || p == nil {
		return ""
	}
	loops, err := ilflow.Around(p.Code, p.At)
	if err != nil || !finite(&metadata.MethodBody{Code: p.Code}, loops, p.Member) {
		return ""
	}
	return asyncMethod(f.typeName(call))
}

// frameEnds names the method of the frame in which a path begins, if it ends by itself. Otherwise it returns "", also if the path begins elsewhere.
func (f *finder) frameEnds(nodes []graph.Node) string {
	var s *graph.Source
	for _, n := range nodes {
		if !f.g.IsObject(n) {
			s = f.g.Source(n)
		}
	}
	if s == nil || s.Kind != graph.SourceFrame || s.Frame.Method == nil {
		return ""
	}
	code := dac.CodeOf(f.r.Runtime())
	body, err := code.IL(s.Frame.Method)
	if err != nil {
		return ""
	}
	meta, err := s.Frame.Method.Metadata()
	if err != nil {
		return ""
	}
	loops, err := ilflow.All(body.Code) // the place of the innermost method is not exact in optimized code
	if s.Frame.Index > 0 {
		loops, err = f.loopsAt(s.Frame.IP-1, body.Code)
	}
	if err != nil || !finite(&body, loops, func(t metadata.Token) string { return tasks.MemberName(meta, t) }) {
		return ""
	}
	name, err := code.MethodName(s.Frame.Method, dac.MethodQualified)
	if err != nil {
		return ""
	}
	return name
}

// loopsAt returns the loops of a method around an address in its machine code.
func (f *finder) loopsAt(ip target.Addr, il []byte) (ilflow.Loops, error) {
	code := dac.CodeOf(f.r.Runtime())
	place, err := code.PlaceAt(ip)
	if err != nil {
		return nil, err
	}
	at, known, err := code.ILOffset(place)
	if err == nil && !known {
		err = target.Unsupportedf("no IL offset")
	}
	if err != nil {
		return nil, err
	}
	return ilflow.Around(il, at)
}

// finite reports whether each of some loops of a method counts, or goes through elements that are there: not those that others go on adding.
func finite(body *metadata.MethodBody, loops ilflow.Loops, member func(metadata.Token) string) bool {
	g, err := ilflow.ReadFlow(body)
	if err != nil {
		return false
	}
	for start, end := range loops {
		if !g.Counts(start, end, member) {
			return false
		}
	}
	for in, err := range metadata.Instructions(body.Code) {
		if err != nil {
			return false
		}
		if in.Kind != metadata.OperandMethod || len(loops) == 0 {
			continue
		}
		if name := member(in.Token()); strings.Contains(name, "MoveNextAsync") || strings.Contains(name, "Consuming") {
			return false
		}
	}
	return true
}
