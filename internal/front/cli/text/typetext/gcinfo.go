package typetext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// GCInfo is the text of gcinfo.
func GCInfo(p *report.Page, g *answer.GCInfo) {
	if g.Start == 0 {
		p.Print("No GC info available\n")
		return
	}
	p.Printf("entry point %s\n%s\nGC info %s\nPointer table:\n", report.Hex16(g.Start), codeOrigin(g.Kind), report.Hex16(g.GCInfo))
	gcFacts(p, g)
	for _, line := range gcLines(g) {
		p.Printf("%08x%s\n", line.offset, line.text)
	}
}

// codeOrigin returns where code comes from, in SOS's words.
func codeOrigin(kind string) string {
	if kind == "ReadyToRun" {
		return "preJIT generated code"
	}
	return "Normal JIT generated code"
}

// gcFacts writes what holds in the whole method.
func gcFacts(p *report.Page, g *answer.GCInfo) {
	if g.GSCookie == nil || g.ContextSlot != nil {
		p.Printf("Prolog size: %d\n", g.PrologSize)
	}
	p.Printf("GS cookie: %s\n", stackOffset("caller.sp", g.GSCookie))
	if g.GSCookie != nil {
		p.Printf("GS cookie valid range: [%x;%x)\n", g.CookieRange.Start, g.CookieRange.End)
	}
	p.Printf("PSPSym: %s\n", stackOffset("initial.sp", g.PSPSym))
	p.Printf("Generics inst context: %s\n", stackOffset("caller.sp", g.ContextSlot))
	p.Printf("PSP slot: %s\n", stackOffset("caller.sp", g.PSPSym))
	p.Printf("GenericInst slot: %s", stackOffset("caller.sp", g.ContextSlot))
	if g.ContextSlot != nil {
		p.Printf(" (GENERIC_PARAM_CONTEXT_%s)", g.Context)
	}
	frame := g.FrameBase
	if frame == "" {
		frame = "<none>"
	}
	p.Printf("\nVarargs: %d\nFrame pointer: %s\n", bit(g.VarArg), frame)
	if g.TailCalls != nil { // the same bit, by processor
		p.Printf("Has tailcalls: %d\n", bit(*g.TailCalls))
	} else {
		p.Printf("Wants Report Only Leaf: %d\n", bit(g.LeafOnly))
	}
	p.Printf("Size of parameter area: %x\n", g.Outgoing)
	if g.Returns != "" {
		p.Printf("Return Kind: %s\n", g.Returns)
	}
	p.Printf("Code size: %x\n", g.CodeSize)
	if len(g.Untracked) > 0 {
		p.Printf("Untracked:%s\n", changeText("+", g.Untracked))
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func stackOffset(base string, offset *int32) string {
	if offset == nil {
		return "<none>"
	}
	return base + signedHex(*offset)
}

// signedHex returns an offset with its sign: "+10", "-8".
func signedHex(offset int32) string {
	if offset < 0 {
		return strconv.FormatInt(int64(offset), 16)
	}
	return "+" + strconv.FormatInt(int64(offset), 16)
}

// A gcLine describes an event at an offset.
type gcLine struct {
	offset uint32
	text   string
}

// gcLines words the changes as SOS does: last slot first, what ends before what begins.
func gcLines(g *answer.GCInfo) []gcLine {
	var out []gcLine
	for i := range g.Changes {
		c := &g.Changes[i]
		if c.SafePoint {
			out = append(out, safePointLines(g.Version, c)...)
			continue
		}
		switch {
		case c.Switches && c.Interruptible:
			out = append(out, gcLine{c.Offset, " interruptible"})
		case c.Switches:
			out = append(out, gcLine{c.Offset, " not interruptible"})
		}
		if text := changeText("-", c.Ends) + changeText("+", c.Begins); text != "" {
			out = append(out, gcLine{c.Offset, text})
		}
	}
	return out
}

// safePointLines returns the lines of a safe point. Before version 4 the slots are
// recorded one byte before it, and SOS gives them a line of their own.
func safePointLines(version int, c *answer.GCChange) []gcLine {
	text := changeText("+", c.Begins)
	if version >= 4 {
		return []gcLine{{c.Offset, " is a safepoint: " + text}}
	}
	out := []gcLine{{c.Offset, " is a safepoint: "}}
	if text != "" {
		out = append(out, gcLine{c.Offset - 1, text})
	}
	return out
}

// changeText lists slots, the last first.
func changeText(sign string, slots []answer.GCSlot) string {
	var b strings.Builder
	for _, s := range slices.Backward(slots) {
		name := s.Slot
		if s.FromSP != nil {
			name = "sp" + signedHex(*s.FromSP)
		}
		b.WriteString(" " + sign + name)
		if s.Pinned {
			b.WriteString("(pinned)")
		}
		if s.Interior {
			b.WriteString("(interior)")
		}
	}
	return b.String()
}
