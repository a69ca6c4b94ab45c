package metadata

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sosgo/sosgo/target"
)

// known fails unless err is one that the package may return.
func known(t *testing.T, err error) {
	t.Helper()
	if err == nil || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrNotInDump) ||
		errors.Is(err, target.ErrUnsupported) || errors.Is(err, target.ErrLimit) {
		return
	}
	t.Fatalf("%T %v", err, err)
}

// maxFuzzRows bounds the rows that a fuzz target visits in each table.
const maxFuzzRows = 300

func FuzzParse(f *testing.F) {
	f.Add(zoo().bytes())
	unsorted := zoo()
	unsorted.sorted, unsorted.stream = 0, "#-"
	for _, rid := range []uint16{2, 1, 3} {
		unsorted.row(TableMethodPtr, rid)
	}
	unsorted.more = []string{"#JTD"}
	f.Add(unsorted.bytes())
	f.Add(pdbOf(0x1F, 0, 0, 0, 4, 2, 9, 3, 0, 0).bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		md, err := Parse(b)
		if err != nil {
			known(t, err)
			return
		}
		visit(t, md)
		holed, err := Parse(b, Sparse(func(off, n int) bool { return off%7 != 3 }))
		if err != nil {
			known(t, err)
			return
		}
		visit(t, holed)
	})
}

// visit formats every name and decodes every row with its signatures, constants and attributes.
func visit(t *testing.T, md *Metadata) {
	each := func(id TableID, fn func(rid uint32) error) {
		for rid := uint32(0); rid <= min(md.RowCount(id)+1, maxFuzzRows); rid++ {
			known(t, fn(rid))
		}
	}
	each(TableTypeDef, func(rid uint32) error { return visitType(t, md, rid) })
	each(TableTypeRef, func(rid uint32) error { _, err := md.TypeRefFullName(rid); return err })
	each(TableMethodDef, func(rid uint32) error { return visitMethod(t, md, rid) })
	each(TableField, func(rid uint32) error {
		_, _, err := md.ConstantOf(NewToken(TableField, rid))
		known(t, err)
		_, err = md.FieldOwner(rid)
		known(t, err)
		_, _, err = md.OffsetOf(rid)
		known(t, err)
		_, _, err = md.RVAOf(rid)
		return err
	})
	each(TableCustomAttribute, func(rid uint32) error {
		row, err := md.CustomAttribute(rid)
		if err != nil {
			return err
		}
		_, err = md.AttributeValue(row, nil)
		return err
	})
	each(TableTypeSpec, func(rid uint32) error {
		row, err := md.TypeSpec(rid)
		if err != nil {
			return err
		}
		b, err := md.Blob(row.Signature)
		if err != nil {
			return err
		}
		_, err = ParseTypeSpec(b)
		return err
	})
	each(TableDocument, func(rid uint32) error { _, err := md.DocumentName(rid); return err })
	each(TableMethodDebugInformation, func(rid uint32) error {
		for _, err := range md.SequencePoints(rid) {
			known(t, err)
		}
		return nil
	})
	each(TableLocalScope, func(rid uint32) error {
		r, err := md.LocalVariables(rid)
		drain(t, r)
		return err
	})
	visitRows(t, md)
}

func drain(t *testing.T, r RowRange) {
	n := 0
	for _, err := range r.All() {
		known(t, err)
		if n++; n > maxFuzzRows {
			return
		}
	}
}

func visitType(t *testing.T, md *Metadata, rid uint32) error {
	for _, list := range []func(uint32) (RowRange, error){
		md.Fields, md.Methods, md.InterfaceImpls, md.NestedClasses,
	} {
		r, err := list(rid)
		known(t, err)
		drain(t, r)
	}
	_, _, err := md.LayoutOf(rid)
	known(t, err)
	_, err = md.EnumType(rid)
	known(t, err)
	r, err := md.GenericParams(NewToken(TableTypeDef, rid))
	known(t, err)
	drain(t, r)
	name, err := md.TypeDefFullName(rid)
	if err != nil {
		return err
	}
	tok, ok := md.indexedTypeDef(name)
	if again, found := md.searchTypeDef(name); ok && (!found || again != tok) {
		t.Fatalf("%q is %s by the index, and %s by its rows (%v)", name, tok, again, found)
	}
	if ok {
		if again, err := md.TypeDefFullName(tok.Row()); err != nil || again != name {
			t.Fatalf("%q found as %s, which is %q: %v", name, tok, again, err)
		}
	}
	return nil
}

func visitMethod(t *testing.T, md *Metadata, rid uint32) error {
	_, err := md.MethodOwner(rid)
	known(t, err)
	r, err := md.Params(rid)
	known(t, err)
	drain(t, r)
	_, _, err = md.ImplMapOf(NewToken(TableMethodDef, rid))
	known(t, err)
	row, err := md.MethodDef(rid)
	if err != nil {
		return err
	}
	b, err := md.Blob(row.Signature)
	if err != nil {
		return err
	}
	m, err := ParseMethodSig(b)
	if err != nil {
		return err
	}
	FormatMethod("M", &m, md.Names())
	FormatMethodECMA("M", &m, md.Names())
	return nil
}

// visitRows decodes the columns of every table.
func visitRows(t *testing.T, md *Metadata) {
	for id := range TableID(numTables) {
		for rid := uint32(1); rid <= min(md.RowCount(id), maxFuzzRows); rid++ {
			r := md.row(id, rid)
			for _, c := range schema[id].cols {
				switch c.kind {
				case kindString:
					_, err := md.String(r.str())
					known(t, err)
				case kindBlob:
					_, err := md.Blob(r.blob())
					known(t, err)
				case kindGUID:
					_, err := md.GUID(r.guid())
					known(t, err)
				case kindCoded, kindRow, kindList:
					r.token()
				default:
					r.u32()
				}
			}
			known(t, r.err)
		}
	}
}

func FuzzSignature(f *testing.F) {
	f.Add([]byte{0x20, 2, 0x02, 0x1D, 0x0E, 0x10, 0x11, 5 << 2})
	f.Add([]byte{0x05, 2, 0x01, 0x08, 0x41, 0x0E})
	f.Add([]byte{0x15, 0x12, 0x11, 2, 0x0E, 0x14, 0x08, 3, 1, 4, 2, 0, 0x7B})
	f.Add([]byte{0x1B, 0x00, 2, 0x08, 0x18, 0x18})
	f.Add([]byte{0x07, 2, 0x08, 0x45, 0x10, 0x05})
	f.Add([]byte{0x44, 0x15, 0x12, 0x08, 1, 0x3E, 6, 2, 0x3F, 3, 0x11, 4, 0x08})
	f.Add(bytes.Repeat([]byte{0x0F}, 100))
	names := zoo().open(f).Names()
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMethodSig(b)
		known(t, err)
		if err == nil {
			FormatMethod("M", &m, names)
			FormatMethodECMA("M", &m, names)
		}
		ts, err := ParseTypeSpec(b)
		known(t, err)
		if err == nil {
			FormatType(&ts, names)
			FormatTypeECMA(&ts, names)
		}
		_, err = ParseFieldSig(b)
		known(t, err)
		_, err = ParseLocalSig(b)
		known(t, err)
		_, err = ParseMethodSpec(b)
		known(t, err)
		s, n, err := ParseInstanceSig(b)
		known(t, err)
		if n > len(b) || err == nil && n == 0 {
			t.Fatalf("%d of %d bytes", n, len(b))
		}
		for i := range s.Args {
			FormatType(&s.Args[i], names)
		}
	})
}

func FuzzMethodBody(f *testing.F) {
	f.Add([]byte{2<<2 | 2, 0x02, 0x2A})
	f.Add(fatBody(bodyMoreSects, make([]byte, 9), sectEHTable, 16, 0, 0, 0, 0, 1, 0, 2, 3, 0, 4, 7, 0, 0, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMethodBody(b)
		known(t, err)
		if err == nil && (m.Size > len(b) || m.Header+len(m.Code) > m.Size) {
			t.Fatalf("%d bytes of %d: %+v", m.Size, len(b), m)
		}
	})
}

func FuzzIL(f *testing.F) {
	f.Add([]byte{0x02, 0x28, 7, 0, 0, 0x0A, 0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0x2A})
	f.Add([]byte{0xFE, 0x16, 2, 0, 0, 0x1B, 0x22, 0, 0, 0x20, 0x40, 0x2B, 0xFE})
	f.Fuzz(func(t *testing.T, code []byte) {
		next := 0
		for i, err := range Instructions(code) {
			known(t, err)
			if err != nil {
				return
			}
			if i.Offset != next || i.Size < 1 {
				t.Fatalf("%+v follows %#x", i, next)
			}
			next += i.Size
			for range i.Targets() {
				continue
			}
		}
		if next != len(code) {
			t.Fatalf("%d of %d bytes", next, len(code))
		}
	})
}

func FuzzAttribute(f *testing.F) {
	f.Add([]byte{0x1C}, []byte{1, 0, 0x1D, 0x51, 1, 0, 0, 0, 0x0E, 1, 'x', 0, 0})
	f.Add([]byte{0x11, 5 << 2}, []byte{1, 0, 9, 1, 0, 0x54, 0x08, 1, 'N', 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, param, value []byte) {
		if len(param) > 0x40 || len(value) > 0x7F {
			return
		}
		w, row := attributed(param, 1, value)
		_, err := w.open(t).AttributeValue(row, folders{})
		known(t, err)
	})
}
