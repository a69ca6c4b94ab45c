package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

type frameReference struct {
	Place    string         `json:"place,omitempty" doc:"the register, or register and offset, that tells where the reference is; absent in an explicit frame"`
	Addr     report.Address `json:"address,omitempty" doc:"the word of the stack; absent for a register"`
	Object   report.Address `json:"object" doc:"what it holds: null, or the address of an object, or of anything if interior"`
	Type     string         `json:"type,omitempty" doc:"type of the object"`
	Value    string         `json:"value,omitempty" doc:"text of a string"`
	Interior bool           `json:"interior,omitempty" doc:"it may point into an object, or at none"`
	Pinned   bool           `json:"pinned,omitempty" doc:"it keeps the object where it is"`
}

// A referencePrinter prints the references that frames hold.
type referencePrinter struct {
	c       *cli.Context
	walker  *stackwalk.Walker
	objects *objects.Reader
	frames  map[frameKey][]stackwalk.Root // of the thread
}

// A frameKey tells a frame from the others of a thread.
type frameKey struct{ ip, sp target.Addr }

// newReferencePrinter returns nil if nobody asked for references.
func newReferencePrinter(c *cli.Context, w *stackwalk.Walker) (*referencePrinter, error) {
	if !c.Bool("gc") {
		return nil, nil
	}
	r, err := viewOf(c).Objects()
	return &referencePrinter{c: c, walker: w, objects: r}, err
}

// thread collects the references that t's frames hold. Frames whose references
// are not known are a warning each.
func (p *referencePrinter) thread(t *sosgo.Thread) {
	if p == nil {
		return
	}
	p.frames = map[frameKey][]stackwalk.Root{}
	for r, err := range p.walker.Roots(p.c.Context(), t.Managed, t.OS.Registers) {
		if err != nil {
			p.c.Warn(err)
			continue
		}
		k := frameKey{r.FrameIP, r.FrameSP}
		p.frames[k] = append(p.frames[k], r)
	}
}

// of are the references of a frame.
func (p *referencePrinter) of(f *stackwalk.Frame) []stackwalk.Root {
	if p == nil {
		return nil
	}
	return p.frames[frameKey{f.IP, f.SP}]
}

// sosIndent is how far the references stand from the left: the width of SP and
// IP.
const sosIndent = 34

func (p *referencePrinter) print(f *stackwalk.Frame) {
	for _, r := range p.of(f) {
		p.c.Printf("%*s%s\n", sosIndent, "", p.line(&r))
	}
}

// line is a reference in SOS's form.
func (p *referencePrinter) line(r *stackwalk.Root) string {
	var b strings.Builder
	if r.Explicit == "" {
		b.WriteString(sosSlot(r.Slot) + ": ")
	}
	if r.Addr != 0 {
		b.WriteString(report.Hex16(r.Addr) + " -> ")
	}
	b.WriteString(report.Hex16(r.Object))
	if r.Pinned {
		b.WriteString(" (pinned)")
	}
	if r.Interior {
		b.WriteString(" (interior)")
	}
	if r.Object != 0 && !r.Interior {
		b.WriteString(" - " + p.object(r.Object))
	}
	return b.String()
}

// sosSlot is a slot in SOS's form, which leaves out an offset of zero.
func sosSlot(s codeinfo.Slot) string {
	text := s.String()
	if s.Base != codeinfo.BaseRegister && s.Offset == 0 {
		text = strings.TrimSuffix(text, codeinfo.FormatOffset(0))
	}
	return text
}

// The limits of SOS's lines: characters of a string, and of it with the type.
const (
	sosStringLimit = 31
	sosTypeLimit   = 127
)

// object is an object's type, and the text of a string.
func (p *referencePrinter) object(a target.Addr) string {
	name, text := p.describe(a, sosStringLimit)
	if text != "" {
		name += ": " + text
	}
	if p.c.SOS {
		if runes := []rune(name); len(runes) > sosTypeLimit {
			name = string(runes[:sosTypeLimit])
		}
	}
	return report.Escape(name)
}

// describe returns an object's type and the quoted text of a string.
func (p *referencePrinter) describe(a target.Addr, limit int) (name, text string) {
	o, err := p.objects.Object(a)
	if err == nil {
		name, err = o.Type.Name()
	}
	if err != nil {
		return absent(p.c, fmt.Errorf("object %016x: %w", uint64(a), err)), ""
	}
	if !o.IsString() {
		return name, ""
	}
	s, err := o.Text(limit)
	if err != nil {
		return name, absent(p.c, err)
	}
	return name, `"` + s + `"`
}

// referencesJSON are the references of a frame for JSON.
func (p *referencePrinter) referencesJSON(f *stackwalk.Frame) []frameReference {
	var out []frameReference
	for _, r := range p.of(f) {
		j := frameReference{Addr: report.Address(r.Addr), Object: report.Address(r.Object),
			Interior: r.Interior, Pinned: r.Pinned}
		if r.Explicit == "" {
			j.Place = r.Slot.String()
		}
		if r.Object != 0 && !r.Interior {
			j.Type, j.Value = p.describe(r.Object, maxInline)
		}
		out = append(out, j)
	}
	return out
}

// precise lists the objects that the frames of a thread hold, frame by frame.
func (p *stackPrinter) precise(t *sosgo.Thread) error {
	w, err := viewOf(p.c).Walker()
	if err != nil {
		return err
	}
	refs := &referencePrinter{c: p.c, walker: w, objects: p.objects}
	if p.c.JSON() == nil {
		p.c.Printf("%s\n", threadHeading(t))
	}
	if t.Managed == nil || t.OS == nil {
		return nil
	}
	var last frameKey
	for r, err := range w.Roots(p.c.Context(), t.Managed, t.OS.Registers) {
		if err != nil {
			p.c.Warn(err)
			continue
		}
		if r.Object == 0 {
			continue
		}
		if k := (frameKey{r.FrameIP, r.FrameSP}); k != last {
			p.frameHeading(&r)
			last = k
		}
		if err := p.preciseRow(t, refs, &r); err != nil {
			return err
		}
	}
	return nil
}

func (p *stackPrinter) frameHeading(r *stackwalk.Root) {
	if p.c.JSON() != nil {
		return
	}
	if r.Explicit != "" {
		p.c.Printf("%s %s [%s]\n", report.Hex16(r.FrameSP), report.Hex16(r.FrameIP), report.Escape(r.Explicit))
		return
	}
	name, err := code.Of(p.rt).MethodName(r.Method, code.MethodFull)
	p.c.Printf("%s %s %s\n", report.Hex16(r.FrameSP), report.Hex16(r.FrameIP), report.Escape(textOr(p.c, name, err)))
}

func (p *stackPrinter) preciseRow(t *sosgo.Thread, refs *referencePrinter, r *stackwalk.Root) error {
	if p.c.JSON() == nil {
		p.c.Printf("    %s\n", refs.line(r))
		return nil
	}
	o := stackObject{OSID: t.ID(), Slot: report.Address(r.Addr), Object: report.Address(r.Object), Frame: report.Address(r.FrameSP),
		Interior: r.Interior, Pinned: r.Pinned}
	if r.Addr == 0 {
		o.Register = r.Slot.String()
	}
	if !r.Interior {
		o.Type, o.Value = refs.describe(r.Object, maxInline)
	}
	return p.c.JSON().Item("objects", o)
}
