package query

import (
	"math"
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// cellChars is the maximum number of characters of a string in a cell.
const cellChars = 4096

func (f *frame) cell(v Value) answer.Cell {
	switch v.kind {
	case KindError:
		return answer.Cell{Err: v.Err()}
	case KindNull:
		return answer.Cell{Kind: answer.CellNull}
	case KindBool:
		return answer.Cell{Kind: answer.CellBool, Bits: v.bits}
	case KindChar:
		return answer.Cell{Kind: answer.CellText, Text: v.plainText()}
	case KindFloat:
		return answer.Cell{Kind: answer.CellFloat, Bits: math.Float64bits(v.shortest())}
	case KindDecimal:
		return f.e.shownNumber(answer.Cell{Kind: answer.CellDecimal, Text: v.decimalText()}, v.decimalText())
	case KindText:
		return f.e.shown(v.text)
	case KindType:
		name, err := v.typ.ManagedName()
		if err != nil {
			return answer.Cell{Err: err}
		}
		return answer.Cell{Kind: answer.CellType, Text: name, Bits: uint64(v.typ.MT.Addr)}
	case KindStruct:
		return answer.Cell{Kind: answer.CellStruct, Bits: v.bits, Text: f.structText(v), Type: typeTitle(v.typ)}
	case KindObject:
		return f.objectCell(v)
	case KindList:
		return answer.Cell{Kind: answer.CellText, Text: "list"}
	}
	c := integerCell(v)
	switch c.Kind {
	case answer.CellInt:
		return f.e.shownNumber(c, strconv.FormatInt(int64(v.bits), 10))
	case answer.CellUint:
		return f.e.shownNumber(c, strconv.FormatUint(v.bits, 10))
	}
	return c
}

func integerCell(v Value) answer.Cell {
	if v.typ != nil {
		c := answer.Cell{Kind: answer.CellInt, Bits: v.bits, Type: typeTitle(v.typ), Unsigned: v.kind == KindUint}
		if c.Unsigned {
			c.Kind = answer.CellUint
		}
		if name, err := enumName(v); err == nil && name != "" {
			c.Kind, c.Text = answer.CellEnum, name
		}
		return c
	}
	switch {
	case v.note == noteGeneration:
		return answer.Cell{Kind: answer.CellEnum, Bits: v.bits, Text: generationName(v.bits)}
	case v.hex:
		return answer.Cell{Kind: answer.CellAddress, Bits: v.bits}
	case v.kind == KindUint:
		return answer.Cell{Kind: answer.CellUint, Bits: v.bits}
	}
	return answer.Cell{Kind: answer.CellInt, Bits: v.bits}
}

func typeTitle(t *objects.Type) string {
	if t == nil {
		return ""
	}
	name, err := t.ManagedName()
	if err != nil {
		return ""
	}
	return name
}

// cellText returns the text of a string for a cell. Secrets are masked before it is cut.
func (f *frame) cellText(o objects.Object) (string, error) {
	if f.e.mask != nil {
		text, err := o.Text(limits.ExpressionText)
		if masked := f.e.mask(text); err != nil || masked != text {
			return cutText(masked), err
		}
	}
	return o.Text(cellChars)
}

// cutText cuts a text at cellChars characters.
func cutText(s string) string {
	units := utf16text.Units(s)
	if len(units) <= cellChars {
		return s
	}
	return utf16text.FromUnits(units[:cellChars]) + "..."
}

// inline returns the line of an object with its secrets masked.
func (f *frame) inline(o objects.Object) string {
	if o.IsBoxed() && o.Boxed().Hidden(f.e.mask) != nil {
		return secrets.Mask
	}
	return f.e.masked(o.Inline(objects.LineChars))
}

func (f *frame) objectCell(v Value) answer.Cell {
	t, err := f.typeOf(v)
	if err != nil {
		return answer.Cell{Err: err}
	}
	o := objects.Object{Addr: v.Addr(), Type: t}
	c := answer.Cell{Kind: answer.CellObject, Bits: v.bits, Type: typeTitle(t)}
	if t.IsString() {
		c.String = true
		if c.Text, err = f.cellText(o); err != nil {
			return answer.Cell{Err: err}
		}
		return c
	}
	if t.MT.IsValueType() {
		inner := f.cell(f.readBox(v, t))
		if inner.Kind != answer.CellStruct {
			return inner
		}
	}
	c.Text = f.inline(o)
	return c
}

// evaluation describes a value for display.
func (f *frame) evaluation(expression string, v Value) answer.Evaluation {
	if v.kind == KindUint && v.hex {
		if o, err := f.proven(v.Addr()); err == nil {
			v = Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
		}
	}
	out := answer.Evaluation{Expression: expression, Value: f.cell(v)}
	out.Kind, out.Type = out.Value.Kind, out.Value.Type
	switch v.kind {
	case KindObject, KindStruct:
		out.Address, out.Text = target.Addr(v.bits), out.Value.Text
		if v.kind == KindStruct && v.typ != nil {
			out.MethodTable = v.typ.MT.Addr
		}
		if v.kind == KindObject && out.Value.Kind != answer.CellObject { // a box
			out.Type = typeTitle(v.typ)
		}
		if out.Value.String {
			out.Text = ""
		}
	case KindType:
		out.Address = v.typ.MT.Addr
	case KindList:
		out.Kind, out.Value = answer.CellList, answer.Cell{Kind: answer.CellNull}
		for item := range v.list.all {
			if out.Count++; out.Count > limits.ExpressionItems {
				break
			}
			if len(out.Items) < maxItems {
				out.Items = append(out.Items, f.cell(f.below(v, item)))
			}
		}
	}
	return out
}

// maxItems is the maximum number of items of a list in an answer.
const maxItems = 1000
