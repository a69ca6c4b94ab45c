package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// environmentClass holds the command line.
type environmentClass struct {
	_         objects.Shape       `of:"System.Environment"`
	Arguments objects.StaticField `static:"s_commandLineArgs"`
}

// Arguments lists the command line as the runtime passed it to the program, the program first. It notes unreadable
// parts in g. The error explains why there are no arguments.
func (r *Reader) Arguments(g *answer.Gaps) ([]answer.NamedValue, error) {
	for e, err := range objects.LoadedShapes[*environmentClass](r.b) {
		var o objects.Object
		var v objects.Value
		if err == nil {
			v = valueOf(&e.Arguments)
			err = v.Err()
		}
		if err == nil && !v.IsNull() {
			o, err = v.Object()
		}
		if err != nil {
			return nil, fmt.Errorf("command line: %w", err)
		}
		if o.Addr == 0 {
			break
		}
		c, err := r.items.Of(o)
		if err != nil {
			return nil, fmt.Errorf("command line: %w", err)
		}
		var out []answer.NamedValue
		for i, err := range c.Items() {
			if len(out) == limits.Settings {
				g.Note(target.Corruptf("command line: more than %d arguments", limits.Settings))
				break
			}
			v := answer.NamedValue{Name: fmt.Sprintf("args[%d]", len(out))}
			if err != nil {
				v.Value = g.Text("", err)
			} else {
				v.Value = r.text(g, i.Value)
			}
			out = append(out, v)
		}
		return out, nil
	}
	return nil, fmt.Errorf("command line: the runtime has passed none to the program: %w", target.ErrNotInDump)
}

// Environment splits environment variables and sorts them: the runtime's variables first, then by name.
func Environment(list []string) []answer.NamedValue {
	out := []answer.NamedValue{}
	for _, v := range variables(list) {
		out = append(out, answer.NamedValue{Name: v.name, Value: answer.Text{S: v.value}})
	}
	rank := func(name string) int {
		if _, r, ok := runtimeSetting(name); ok {
			return r
		}
		return len(runtimePrefixes)
	}
	slices.SortStableFunc(out, func(a, b answer.NamedValue) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Hide replaces the values that package secrets hides.
func Hide(p *answer.Process) {
	if p == nil {
		return
	}
	// An option and its value are one argument or two: --password=X, --password X.
	option := ""
	for i := range p.Arguments {
		v := &p.Arguments[i]
		name, value, given := strings.Cut(v.Value.S, "=")
		if secrets.SecretFollows(option, v.Value.S) || given && secrets.Hides(name, value) {
			v.Hidden, v.Value.S = true, secrets.Mask
		}
		if option = name; v.Hidden || given {
			option = ""
		}
	}
	for _, list := range [][]answer.NamedValue{p.Arguments, p.Environment, p.Properties, p.Switches} {
		for i := range list {
			hide(&list[i])
		}
	}
	for i := range p.Configurations {
		keys := p.Configurations[i].Keys
		for k := range keys {
			hide(&keys[k].NamedValue)
		}
	}
	words := strings.Fields(p.Command)
	for i, w := range words {
		if name, value, given := strings.Cut(w, "="); secrets.Looks(w) || given && secrets.Hides(name, value) || i+1 < len(words) && secrets.SecretFollows(w, words[i+1]) {
			p.Command = secrets.Mask
			return
		}
	}
}

func hide(v *answer.NamedValue) {
	if v.Value.Err == nil && secrets.Hides(v.Name, v.Value.S) {
		v.Hidden, v.Value.S = true, secrets.Mask
	}
}
