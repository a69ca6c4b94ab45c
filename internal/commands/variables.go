package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type frameVariable struct {
	Name     string         `json:"name,omitempty" doc:"name, from metadata or the PDB; absent where neither tells it"`
	Index    int            `json:"index" doc:"number among the arguments or among the locals"`
	Type     string         `json:"type" doc:"declared type"`
	State    string         `json:"state" doc:"value, no data (optimised away, or not live here), not in dump, not supported or corrupt"`
	Register string         `json:"register,omitempty" doc:"register that it is in"`
	Addr     report.Address `json:"address,omitempty" doc:"place in memory that it is in"`
	Word     report.Address `json:"word,omitempty" doc:"the number that stands there"`
	Value    string         `json:"value,omitempty" doc:"the value as text"`
}

// A variablePrinter prints the arguments and locals of frames.
type variablePrinter struct {
	c            *cli.Context
	objects      map[*dac.Runtime]*objects.Reader // a stack can have frames of several
	args, locals bool
}

func newVariablePrinter(c *cli.Context) *variablePrinter {
	return &variablePrinter{c: c, args: c.Bool("a") || c.Bool("p"), locals: c.Bool("a") || c.Bool("l"),
		objects: map[*dac.Runtime]*objects.Reader{}}
}

// wants reports whether variables of f were asked for.
func (p *variablePrinter) wants(f *stackwalk.Frame) bool {
	return (p.args || p.locals) && f.Kind == stackwalk.FrameManaged
}

// of returns the variables that were asked for.
func (p *variablePrinter) of(f *stackwalk.Frame) (args, locals []stackwalk.Variable) {
	r := p.objects[f.Runtime]
	if r == nil {
		r = objects.New(f.Runtime)
		p.objects[f.Runtime] = r
	}
	args, locals, err := stackwalk.Variables(f, r)
	if err != nil {
		p.c.Warn(err)
	}
	if !p.args {
		args = nil
	}
	if !p.locals {
		locals = nil
	}
	return args, locals
}

func (p *variablePrinter) print(f *stackwalk.Frame) {
	args, locals := p.of(f)
	p.list("PARAMETERS", args, true)
	p.list("LOCALS", locals, false)
	p.c.Printf("\n")
}

func (p *variablePrinter) list(title string, vars []stackwalk.Variable, names bool) {
	if len(vars) == 0 {
		return
	}
	p.c.Printf("    %s:\n", title)
	for i := range vars {
		if !p.c.SOS {
			p.c.Printf("        %s\n", p.line(&vars[i], title == "LOCALS"))
			continue
		}
		text := ""
		if names && vars[i].Name != "" {
			text = report.Escape(vars[i].Name) + " "
		}
		text += sosPlace(&vars[i], names)
		if text != "" {
			text += "= "
		}
		p.c.Printf("        %s%s\n", text, p.sosValue(&vars[i]))
	}
}

// sosPlace is where a variable is, as SOS words it.
func sosPlace(v *stackwalk.Variable, parentheses bool) string {
	if !v.Located || v.Split() {
		return ""
	}
	text := "<CLR reg>"
	if v.Addr != 0 {
		text = "0x" + report.Hex16(v.Addr)
	}
	if parentheses {
		text = "(" + text + ")"
	}
	return text + " "
}

// sosValue is the number in a variable's place. SOS extends the sign of 16 bits.
func (p *variablePrinter) sosValue(v *stackwalk.Variable) string {
	if !v.Located && v.Err == nil {
		return "<no data>"
	}
	w, err := v.Word()
	if err != nil {
		p.c.Warn(err)
		return "<unable to retrieve data>"
	}
	if v.Size() == 2 {
		w = uint64(int64(int16(w)))
	}
	return "0x" + report.Hex16(w)
}

// line is a variable with its name, place, type and value.
func (p *variablePrinter) line(v *stackwalk.Variable, local bool) string {
	r := p.describe(v)
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("%s_%d", [...]string{"A", "V"}[trueIndex(local)], r.Index)
	}
	switch {
	case r.Register != "":
		name += " (" + r.Register + ")"
	case r.Addr != 0:
		name += " (0x" + report.Hex16(r.Addr) + ")"
	}
	value := r.Value
	if r.State != stateValue {
		value = "<" + r.State + ">"
	}
	return fmt.Sprintf("%s: %s = %s", report.Escape(name), report.Escape(r.Type), report.Escape(value))
}

// The states of a variable.
const (
	stateValue  = "value"
	stateNoData = "no data"
)

func (p *variablePrinter) describe(v *stackwalk.Variable) frameVariable {
	r := frameVariable{Name: v.Name, Index: v.Index, State: stateValue, Addr: report.Address(v.Addr)}
	name, err := v.TypeName(dac.NameManaged)
	r.Type = textOr(p.c, name, err)
	r.Register = v.Register()
	if !v.Located && v.Err == nil {
		r.State = stateNoData
		return r
	}
	if w, err := v.Word(); err == nil {
		r.Word = report.Address(w)
	}
	value, err := v.Value()
	if err != nil {
		p.c.Warn(err)
		r.State = variableState(err)
		return r
	}
	r.Value = variableText(value)
	return r
}

func variableState(err error) string {
	switch {
	case errors.Is(err, target.ErrNotInDump):
		return "not in dump"
	case errors.Is(err, target.ErrUnsupported):
		return "not supported"
	}
	return "corrupt"
}

// variableText is a value; of a reference its address too, for other commands
// to take.
func variableText(v objects.Value) string {
	text := v.Plain(maxInline)
	if a, err := v.Addr(); err == nil && v.Kind() == objects.KindReference && a != 0 {
		if more := v.Inline(maxInline); more != "" {
			text = report.Hex16(a) + " " + more
		}
		return "0x" + text
	}
	return text
}

// variablesJSON are the variables of a frame for JSON.
func (p *variablePrinter) variablesJSON(f *stackwalk.Frame, r *stackFrame) {
	args, locals := p.of(f)
	for i := range args {
		r.Arguments = append(r.Arguments, p.describe(&args[i]))
	}
	for i := range locals {
		r.Locals = append(r.Locals, p.describe(&locals[i]))
	}
}
