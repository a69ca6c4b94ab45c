package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func gcInfoCommand() cli.Command {
	return cli.Command{
		Name:    "gcinfo",
		Group:   cli.GroupTypes,
		Summary: "tell which registers and stack slots of a method hold references",
		Help: "ADDRESS is a MethodDesc, or any address in the code of a method. Each line gives an offset from the " +
			"start of the code and what changes there: +slot begins to hold a reference, -slot ends. At a safepoint " +
			"all slots that live across the call are listed.",
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples:  []cli.Example{{Line: "gcinfo 7f27f48618d8", Text: "the references that Thread.Sleep holds"}},
		NeedsDump: true,
		Result:    []report.Part{report.Whole[gcInfoResult]()},
		Run:       runGCInfo,
	}
}

// gcInfoResult is the JSON form.
type gcInfoResult struct {
	Method      report.Address `json:"method" doc:"MethodDesc"`
	Name        string         `json:"name" doc:"method"`
	Start       report.Address `json:"start" doc:"entry point of the code"`
	Kind        string         `json:"kind" doc:"JIT or ReadyToRun"`
	GCInfo      report.Address `json:"gcInfo" doc:"address of the GC info"`
	Version     int            `json:"version" doc:"version of its encoding"`
	CodeSize    uint32         `json:"codeSize" doc:"bytes of code, funclets included"`
	PrologSize  uint32         `json:"prologSize" doc:"bytes; 0 when not recorded"`
	GSCookie    *int32         `json:"gsCookie,omitempty" doc:"stack offset of the security cookie"`
	PSPSym      *int32         `json:"pspSym,omitempty" doc:"stack offset of the PSPSym"`
	Context     string         `json:"genericContext,omitempty" doc:"METHODTABLE, METHODDESC or THIS: where shared code finds its type arguments"`
	ContextSlot *int32         `json:"genericContextSlot,omitempty" doc:"stack offset of it"`
	FrameBase   string         `json:"frameBase,omitempty" doc:"frame register"`
	Returns     string         `json:"returns,omitempty" doc:"what the method returns in registers; versions 2 and 3"`
	LeafOnly    bool           `json:"reportOnlyLeaf" doc:"only the leaf of a method and its funclets reports its slots"`
	Outgoing    uint32         `json:"outgoingArea" doc:"bytes of stack for arguments of callees"`
	Ranges      []codeSpan     `json:"interruptible" doc:"code that can be stopped at every instruction"`
	Untracked   []gcSlot       `json:"untracked" doc:"slots that hold references in the whole method"`
	States      []gcState      `json:"states" doc:"live slots wherever they change"`
}

type codeSpan struct {
	Start uint32 `json:"start" doc:"offset in bytes"`
	End   uint32 `json:"end" doc:"offset of the first byte behind it"`
}

type gcSlot struct {
	Slot     string `json:"slot" doc:"register, or base register and offset in hexadecimal"`
	Interior bool   `json:"interior,omitempty" doc:"may point inside an object"`
	Pinned   bool   `json:"pinned,omitempty" doc:"keeps the object where it is"`
}

type gcState struct {
	Offset    uint32   `json:"offset" doc:"offset in bytes"`
	SafePoint bool     `json:"safePoint,omitempty" doc:"the state holds at this return address only"`
	Live      []gcSlot `json:"live" doc:"slots that hold references, untracked ones left out"`
}

func runGCInfo(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	info, err := codeAt(rt, a)
	if err != nil {
		return err
	}
	if info.Start == 0 {
		out := gcInfoResult{Ranges: []codeSpan{}, Untracked: []gcSlot{}, States: []gcState{}}
		out.Method, out.Name = methodLabel(c, rt, info)
		return noCode(c, "No GC info available", out)
	}
	var d codeinfo.GCDecoder
	if err := code.Of(rt).DecodeGCInfo(&d, info); err != nil {
		return err
	}
	states, err := gcStates(&d)
	if err != nil {
		return err
	}
	if e := c.JSON(); e != nil {
		return e.Value(newGCInfoResult(c, rt, info, &d, states))
	}
	c.Printf("entry point %s\n", report.Hex16(info.Start))
	c.Printf("%s\n", codeOrigin(info))
	c.Printf("GC info %s\n", report.Hex16(info.GCInfo))
	c.Printf("Pointer table:\n")
	printGCFacts(c, &d)
	for _, line := range gcLines(&d, states) {
		c.Printf("%08x%s\n", line.offset, line.text)
	}
	return nil
}

// codeOrigin says where code comes from, in SOS's words.
func codeOrigin(info code.Info) string {
	if info.Kind == code.ReadyToRun {
		return "preJIT generated code"
	}
	return "Normal JIT generated code"
}

// printGCFacts prints what holds in the whole method.
func printGCFacts(c *cli.Context, d *codeinfo.GCDecoder) {
	if !d.GSCookie.Present || d.ContextSlot.Present {
		c.Printf("Prolog size: %d\n", d.PrologSize)
	}
	c.Printf("GS cookie: %s\n", stackOffset("caller.sp", d.GSCookie))
	if r := d.GSCookieRange; d.GSCookie.Present {
		c.Printf("GS cookie valid range: [%x;%x)\n", r.Start, r.End)
	}
	c.Printf("PSPSym: %s\n", stackOffset("initial.sp", d.PSPSym))
	c.Printf("Generics inst context: %s\n", stackOffset("caller.sp", d.ContextSlot))
	c.Printf("PSP slot: %s\n", stackOffset("caller.sp", d.PSPSym))
	c.Printf("GenericInst slot: %s", stackOffset("caller.sp", d.ContextSlot))
	if d.ContextSlot.Present {
		c.Printf(" (GENERIC_PARAM_CONTEXT_%s)", contextName(d.Context))
	}
	frame := "<none>"
	if d.HasStackBase {
		frame = target.RegName(dumpOf(c).Target().Platform().Arch, d.StackBase)
	}
	c.Printf("\nVarargs: %d\nFrame pointer: %s\nWants Report Only Leaf: %d\n", boolIndex(d.VarArg), frame, boolIndex(d.ReportLeafOnly))
	c.Printf("Size of parameter area: %x\n", d.OutgoingArea)
	if d.HasReturn {
		c.Printf("Return Kind: %s\n", d.Return)
	}
	c.Printf("Code size: %x\n", d.CodeLength)
	if len(d.Untracked()) > 0 {
		c.Printf("Untracked:%s\n", changeText("+", d.Untracked()))
	}
}

func stackOffset(base string, o codeinfo.StackOffset) string {
	if !o.Present {
		return "<none>"
	}
	return base + codeinfo.FormatOffset(o.Offset)
}

// contextName is the kind of a generic context in SOS's words.
func contextName(k codeinfo.GenericContext) string {
	return [...]string{"", "METHODHANDLE", "METHODDESC", "THIS"}[k&3]
}

// A liveState is the set of slots that hold references from an offset on, or
// at a safe point alone. The untracked ones are left out.
type liveState struct {
	offset        uint32
	safePoint     bool
	interruptible bool
	live          []codeinfo.Slot
}

// gcStates are the states of a method by offset. In code that is neither
// interruptible nor a safe point nothing is known to be live.
func gcStates(d *codeinfo.GCDecoder) ([]liveState, error) {
	var out []liveState
	for i, offset := range slices.Clone(d.SafePointOffsets()) {
		live, err := d.LiveAtSafePoint(nil, i)
		if err != nil {
			return nil, err
		}
		out = append(out, liveState{offset: offset, safePoint: true, live: live})
	}
	changes, err := d.ChangeOffsets()
	if err != nil {
		return nil, err
	}
	const state = codeinfo.ActiveFrame | codeinfo.ExecutionAborted | codeinfo.NoUntracked
	for _, offset := range slices.Clone(changes) {
		live, err := d.LiveSlots(nil, codeinfo.Query{Offset: offset, State: state})
		if err != nil {
			return nil, err
		}
		out = append(out, liveState{offset: offset, interruptible: interruptible(d, offset), live: live})
	}
	slices.SortStableFunc(out, func(a, b liveState) int { return cmp.Compare(a.offset, b.offset) })
	return out, nil
}

func interruptible(d *codeinfo.GCDecoder, offset uint32) bool {
	return slices.ContainsFunc(d.Interruptible(), func(r codeinfo.CodeRange) bool { return r.Start <= offset && offset < r.End })
}

// A gcLine says what happens at an offset.
type gcLine struct {
	offset uint32
	text   string
}

// gcLines words the states as SOS does: last slot first, what ends before
// what begins.
func gcLines(d *codeinfo.GCDecoder, states []liveState) []gcLine {
	var out []gcLine
	var last liveState
	for _, s := range states {
		if s.safePoint {
			out = append(out, safePointLines(d, s)...)
			continue
		}
		if s.interruptible != last.interruptible {
			out = append(out, gcLine{s.offset, " interruptible"})
			if !s.interruptible {
				out[len(out)-1].text = " not interruptible"
			}
		}
		if t := changeText("-", without(last.live, s.live)) + changeText("+", without(s.live, last.live)); t != "" {
			out = append(out, gcLine{s.offset, t})
		}
		last = s
	}
	return out
}

// safePointLines are the lines of a safe point. Before version 4 the slots
// are recorded one byte before it, and SOS gives them a line of their own.
func safePointLines(d *codeinfo.GCDecoder, s liveState) []gcLine {
	text := changeText("+", s.live)
	if d.Version >= 4 {
		return []gcLine{{s.offset, " is a safepoint: " + text}}
	}
	out := []gcLine{{s.offset, " is a safepoint: "}}
	if text != "" {
		out = append(out, gcLine{s.offset - 1, text})
	}
	return out
}

// without are the slots of a that b lacks.
func without(a, b []codeinfo.Slot) []codeinfo.Slot {
	var out []codeinfo.Slot
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// changeText lists slots, the last first.
func changeText(sign string, slots []codeinfo.Slot) string {
	var b strings.Builder
	for _, s := range slices.Backward(slots) {
		name := s.String()
		if s.Base == codeinfo.BaseSP {
			name = "sp" + codeinfo.FormatOffset(s.Offset)
		}
		b.WriteString(" " + sign + name + (s.Flags &^ codeinfo.SlotUntracked).String())
	}
	return b.String()
}

func newGCInfoResult(c *cli.Context, rt *dac.Runtime, info code.Info, d *codeinfo.GCDecoder, states []liveState) gcInfoResult {
	out := gcInfoResult{Start: report.Address(info.Start), Kind: info.Kind.String(), GCInfo: report.Address(info.GCInfo),
		Version: d.Version, CodeSize: d.CodeLength, PrologSize: d.PrologSize,
		GSCookie: optionalOffset(d.GSCookie), PSPSym: optionalOffset(d.PSPSym), ContextSlot: optionalOffset(d.ContextSlot),
		LeafOnly: d.ReportLeafOnly, Outgoing: d.OutgoingArea, Ranges: []codeSpan{}, States: []gcState{}}
	out.Method, out.Name = methodLabel(c, rt, info)
	if d.Context != codeinfo.ContextNone {
		out.Context = contextName(d.Context)
	}
	if d.HasStackBase {
		out.FrameBase = target.RegName(dumpOf(c).Target().Platform().Arch, d.StackBase)
	}
	if d.HasReturn {
		out.Returns = d.Return.String()
	}
	for _, r := range d.Interruptible() {
		out.Ranges = append(out.Ranges, codeSpan{r.Start, r.End})
	}
	out.Untracked = gcSlots(d.Untracked())
	for _, s := range states {
		if s.safePoint || s.interruptible {
			out.States = append(out.States, gcState{s.offset, s.safePoint, gcSlots(s.live)})
		}
	}
	return out
}

func optionalOffset(o codeinfo.StackOffset) *int32 {
	if !o.Present {
		return nil
	}
	return &o.Offset
}

func gcSlots(slots []codeinfo.Slot) []gcSlot {
	out := make([]gcSlot, len(slots))
	for i, s := range slots {
		out[i] = gcSlot{s.String(), s.Flags&codeinfo.SlotInterior != 0, s.Flags&codeinfo.SlotPinned != 0}
	}
	return out
}
