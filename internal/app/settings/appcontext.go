package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Reader reads the configuration of a process. It is safe for concurrent use.
type Reader struct {
	b     *objects.Binder
	items *objects.Collections
}

// New returns a Reader that binds types with b.
func New(b *objects.Binder, c *objects.Collections) *Reader { return &Reader{b, c} }

// appContext has the host's properties, including those of runtimeconfig.json, and the switches that the program read
// or set.
type appContext struct {
	_        objects.Shape       `of:"System.AppContext"`
	Data     objects.StaticField `static:"s_dataStore"`
	Switches objects.StaticField `static:"s_switches,optional"`
}

// Properties lists the properties of AppContext by name: configProperties of runtimeconfig.json and the host's
// additions. Unreadable properties are noted in g. The error explains why there are no properties.
func (r *Reader) Properties(g *answer.Gaps) ([]answer.NamedValue, error) {
	return r.appContext(g, "properties of AppContext", func(a *appContext) *objects.StaticField { return &a.Data })
}

// Switches lists the switches of AppContext that the program set or read, by name. Errors are as for Properties.
func (r *Reader) Switches(g *answer.Gaps) ([]answer.NamedValue, error) {
	return r.appContext(g, "switches of AppContext", func(a *appContext) *objects.StaticField { return &a.Switches })
}

func (r *Reader) appContext(g *answer.Gaps, what string, field func(*appContext) *objects.StaticField) ([]answer.NamedValue, error) {
	list := []answer.NamedValue{}
	for a, err := range objects.LoadedShapes[*appContext](r.b) {
		var o objects.Object
		if err == nil && !field(a).Has() {
			return list, nil
		}
		var v objects.Value
		if err == nil {
			v = valueOf(field(a))
			err = v.Err()
		}
		if err == nil && !v.IsNull() {
			o, err = v.Object()
		}
		if errors.Is(err, objects.ErrNotInitialised) || err == nil && o.Addr == 0 {
			return list, nil // nothing was set or read
		}
		var c *objects.Collection
		if err == nil {
			c, err = r.items.Of(o)
		}
		if err != nil {
			return list, fmt.Errorf("%s: %w", what, err)
		}
		for i, err := range c.Items() {
			if err != nil {
				g.Note(fmt.Errorf("%s: %w", what, err))
				continue
			}
			list = append(list, r.pair(g, i))
			if len(list) == limits.Settings {
				g.Note(target.CorruptHeapf("%s: more than %d", what, limits.Settings))
				break
			}
		}
		slices.SortStableFunc(list, func(a, b answer.NamedValue) int { return cmp.Compare(a.Name, b.Name) })
		return list, nil
	}
	return nil, fmt.Errorf("%s: System.AppContext is not loaded: %w", what, target.ErrNotInDump)
}

// valueOf returns the value of a static field that the runtime may set before the class constructor runs, as
// AppContext.Setup does.
func valueOf(s *objects.StaticField) objects.Value {
	v := s.Value()
	if stored := s.Stored(); errors.Is(v.Err(), objects.ErrNotInitialised) && stored.Err() == nil && !stored.IsNull() {
		return stored
	}
	return v
}

// pair returns an entry of a dictionary from names to values. A string is its text, another value its one-line form.
func (r *Reader) pair(g *answer.Gaps, i objects.CollectionItem) answer.NamedValue {
	name, err := i.Key.Start(limits.RequestText)
	if err != nil {
		g.Note(err)
		name = answer.Absent(err)
	}
	return answer.NamedValue{Name: name, Value: r.text(g, i.Value)}
}

// text returns a value as text.
func (r *Reader) text(g *answer.Gaps, v objects.Value) answer.Text {
	if err := v.Err(); err != nil {
		return g.Text("", err)
	}
	if a, err := v.Addr(); err == nil && a != 0 {
		o, err := v.Object()
		if err != nil {
			return g.Text("", err)
		}
		if o.Type.IsString() {
			return g.Text(o.Start(limits.SettingText))
		}
	}
	return answer.Text{S: v.Plain(limits.RequestText)}
}

// A variable is an environment variable of the process.
type variable struct{ name, value string }

// variables splits NAME=VALUE. On Windows hidden variables begin with an equals sign.
func variables(list []string) []variable {
	out := make([]variable, 0, len(list))
	for _, v := range list {
		if at := strings.IndexByte(v[min(1, len(v)):], '='); at >= 0 {
			out = append(out, variable{v[:at+1], v[at+2:]}) // at is counted from the second byte
		}
	}
	return out
}

// runtimePrefixes are prefixes of environment variables for the runtime, in order of precedence (clrconfignative.h).
var runtimePrefixes = [...]string{"DOTNET_", "COMPlus_"}

// runtimeSetting returns the name of a variable without its prefix, and the rank of the prefix.
func runtimeSetting(name string) (rest string, rank int, ok bool) {
	for i, p := range runtimePrefixes {
		if len(name) > len(p) && strings.EqualFold(name[:len(p)], p) {
			return name[len(p):], i, true
		}
	}
	return "", 0, false
}
