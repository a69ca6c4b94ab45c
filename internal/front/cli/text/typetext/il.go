package typetext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// IL is the text of dumpil.
func IL(p *report.Page, il *answer.IL) {
	switch {
	case il.NoBody && p.SOS && il.Compiled:
		p.Printf("Unknown error in reading function IL\nUnable to retrieve IL for this method (ilAddr is %016x).\n", 0)
		return
	case il.NoBody:
		p.Print("This method has no IL body (e.g. IL stubs generated for P/Invoke or Reverse P/Invoke marshaling).\n")
		return
	case il.Dynamic:
		p.Print("This is dynamic IL. Exception info is not reported at this time.\n" +
			"If a token is unresolved, run \"dumpobj <addr>\" on the addr given\n" +
			"in parenthesis. You can also look at the token table yourself, by\n")
		p.Printf("running \"dumparray %s\".\n\n", text.Hex16(il.Items.Maybe))
	default:
		if il.MethodDesc != 0 {
			p.Printf("ilAddr is %s\n", text.Hex16(il.Address.Maybe))
		}
		if !il.Address.IsZero() {
			p.Printf("ilAddr = %s\n", report.Hex16(il.Address.Value))
		}
	}
	l := ilListing{p: p, il: il}
	for in := range report.Each(p, il.Instructions) {
		l.blocks(in.Offset)
		l.line(fmt.Sprintf("IL_%04x: %s %s", in.Offset, in.Opcode, l.operand(&in.Operand)))
	}
	if p.Err() == nil {
		l.blocks(il.CodeSize)
	}
}

// NoIL writes SOS's text for an address that is not a method.
func NoIL(p *report.Page) {
	if p.SOS {
		p.Print("Must pass a valid expression\n")
	}
}

// An ilListing writes instructions nested in the blocks of their handlers.
type ilListing struct {
	p      *report.Page
	il     *answer.IL
	indent int
}

func (l *ilListing) line(text string) {
	l.p.Printf("%s%s\n", report.Indent(l.indent, 2), report.Escape(text))
}

// operand formats an operand. SOS does not resolve the module of IL at an address.
func (l *ilListing) operand(o *answer.ILOperand) string {
	if l.p.SOS && o.Kind == answer.ILName && l.il.MethodDesc == 0 && !l.il.Dynamic {
		return answer.ILOperand{Kind: answer.ILUnnamed, Token: o.Token}.String()
	}
	return ilOperand(l.p, o)
}

// ilOperand formats an operand. In SOS's form names are truncated, strings unescaped, and numbers have six decimals.
func ilOperand(p *report.Page, o *answer.ILOperand) string {
	switch {
	case p.SOS && o.Kind == answer.ILFloat:
		return text.SOSFloat(o.Float)
	case p.SOS && o.Kind == answer.ILName:
		return sosToken(&o.Name)
	}
	return o.String()
}

// The lengths to which SOS truncates names: definitions, references to other modules, and types with a signature.
const (
	sosNameChars = 48
	sosRefChars  = 49
	sosSpecChars = 50
)

// sosToken returns a name truncated as in SOS's buffers. A nested type has only its own name.
func sosToken(t *answer.ILToken) string {
	if t.Literal != nil {
		return `"` + *t.Literal + `"`
	}
	typ := t.Type.Own
	switch t.Type.Kind {
	case answer.ILTypeDef:
		typ = cut(typ, sosNameChars)
	case answer.ILTypeRef:
		typ = cut(typ, sosRefChars)
	case answer.ILTypeSpec:
		typ = cut(typ, sosSpecChars)
	}
	return t.Join(typ, cut(t.Member, sosNameChars))
}

func cut(s string, limit int) string { return s[:min(len(s), limit)] }

// blocks closes the blocks that end at an offset and opens the blocks that start there. SOS opens a block for each
// handler, even if several protect the same instructions.
func (l *ilListing) blocks(offset int) {
	at := func(span [2]uint32) (starts, ends bool) {
		return int(span[0]) == offset, int(span[0])+int(span[1]) == offset
	}
	for i := range l.il.Clauses {
		c := &l.il.Clauses[i]
		shared := !l.p.SOS && i > 0 && c.Try == l.il.Clauses[i-1].Try
		if starts, ends := at(c.Try); !shared && starts {
			l.open(".try")
		} else if !shared && ends {
			l.end(".try")
		}
		if starts, ends := at(c.Handler); starts {
			l.open(l.handler(c))
		} else if ends {
			l.end(blockWord(c))
		}
	}
}

func (l *ilListing) open(what string) {
	l.line(what)
	l.line("{")
	l.indent++
}

func (l *ilListing) end(what string) {
	l.indent = max(0, l.indent-1)
	l.line("} // end " + what)
}

// blockWord returns the name of a handler's block. SOS calls all blocks except finally and fault a catch.
func blockWord(c *answer.ILClause) string {
	switch c.Kind {
	case answer.ILFinally:
		return ".finally"
	case answer.ILFault:
		return ".fault"
	}
	return ".catch"
}

// handler returns blockWord with the caught type, which SOS leaves out.
func (l *ilListing) handler(c *answer.ILClause) string {
	word := blockWord(c)
	if l.p.SOS || c.Type.S == "" || c.Type.Err != nil {
		return word
	}
	return word + " " + c.Type.S
}
