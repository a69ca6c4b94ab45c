package dac

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A FileFit counts how much of a file's metadata agrees with the structures of a loaded module.
type FileFit struct {
	// Types is the number of loaded type definitions that could be compared: attributes, number of methods, and
	// the tokens and types of fields. Fit is the number of these that agree with the file.
	Types, Fit int
	// Tables is the number of tables and heaps with a size and place in the runtime's metadata reader, 0 if the
	// reader is not in the dump. Placed is the number of these that agree with the file.
	Tables, Placed int
}

// fitTypes is the least number of types that prove a file without tables.
const fitTypes = 4

// Differs reports whether the file is another than the loaded one.
func (f *FileFit) Differs() bool { return f.Fit < f.Types || f.Placed < f.Tables }

// Proves reports whether the file is the loaded one.
func (f *FileFit) Proves() bool { return !f.Differs() && (f.Tables > 0 || f.Types >= fitTypes) }

// String describes the comparison: "1204 of 1204 types and 31 of 31 tables fit", or the difference.
func (f *FileFit) String() string {
	switch {
	case f.Fit < f.Types:
		return fmt.Sprintf("%d of %d types differ", f.Types-f.Fit, f.Types)
	case f.Placed < f.Tables:
		return fmt.Sprintf("%d of %d tables of the metadata differ", f.Tables-f.Placed, f.Tables)
	case f.Types == 0:
		return fmt.Sprintf("%d of %d tables of the metadata fit", f.Placed, f.Tables)
	case f.Tables == 0:
		return fmt.Sprintf("%d of %d types fit", f.Fit, f.Types)
	}
	return fmt.Sprintf("%d of %d types and %d of %d tables of the metadata fit", f.Fit, f.Types, f.Placed, f.Tables)
}

// FitFile compares a candidate for the module's file with the structures that the runtime made from the loaded
// file. It does not read the module's image in the target. It returns an error if nothing can be compared.
func (m *Module) FitFile(file *image.Image) (FileFit, error) {
	var fit FileFit
	blob, err := file.Metadata()
	if err != nil {
		return fit, err
	}
	md, err := metadata.Parse(blob.Data)
	if err != nil {
		return fit, err
	}
	for e, err := range m.Entries(MapTypeDef) {
		if err != nil {
			continue // missing memory proves nothing
		}
		switch m.fitType(md, e) {
		case fits:
			fit.Types, fit.Fit = fit.Types+1, fit.Fit+1
		case differs:
			fit.Types++
		}
	}
	if root := m.fitTables(md, &fit); root != 0 {
		m.fitRoot(root, file, blob.RVA, &fit)
	}
	return fit, nil
}

// A comparison is the result of comparing a structure with a file.
type comparison uint8

const (
	unread comparison = iota // parts of the structure are not in the dump
	fits
	differs
)

// classAttributes are the bits of EEClass::m_dwAttrClass from metadata. The runtime uses some of the reserved
// bits itself (ECMA-335 II.23.1.15).
const classAttributes = 0x00ffffff &^ 0x00040800

// fieldLiteral is the attribute of constants, which have no FieldDesc.
const fieldLiteral = 0x40

// fitType compares a loaded type with its row.
func (m *Module) fitType(md *metadata.Metadata, e MapEntry) comparison {
	mt, err := m.r.TrustedMethodTable(e.Value)
	if err != nil || mt.Token != metadata.NewToken(metadata.TableTypeDef, e.Row) {
		return unread
	}
	c, err := m.r.EEClass(mt)
	if err != nil {
		return unread
	}
	row, err := md.TypeDef(e.Row)
	if err != nil || row.Flags&classAttributes != c.Attributes&classAttributes {
		return differs
	}
	fields, err := m.r.Fields(mt)
	if err != nil {
		return unread
	}
	if !fitFields(md, e.Row, fields) {
		return differs
	}
	return fits
}

// fitFields compares the FieldDescs of a type with its rows in the Field table.
func fitFields(md *metadata.Metadata, typeDef uint32, fields []FieldDesc) bool {
	rows, err := md.Fields(typeDef)
	if err != nil {
		return false
	}
	want := map[metadata.Token]metadata.ElementType{}
	for rid, err := range rows.All() {
		if err != nil {
			return false
		}
		f, err := md.Field(rid)
		if err != nil {
			return false
		}
		if f.Flags&fieldLiteral != 0 {
			continue
		}
		sig, err := md.Blob(f.Signature)
		if err != nil || len(sig) < 2 {
			return false
		}
		want[metadata.NewToken(metadata.TableField, rid)] = metadata.ElementType(sig[1])
	}
	if len(want) != len(fields) {
		return false
	}
	for i := range fields {
		typ, ok := want[fields[i].Token]
		if !ok || isPrimitive(typ) && typ != fields[i].ElementType {
			return false
		}
	}
	return true
}

// isPrimitive reports whether fields keep this type at run time. The runtime gives other fields another element
// type.
func isPrimitive(t metadata.ElementType) bool {
	return t >= metadata.ElementBoolean && t <= metadata.ElementR8
}

// The runtime reads metadata through MDInternalRO. It holds a copy of the header of the table stream
// (CMiniMdSchemaBase, metamodel.h), followed by the number of rows of each table and by pointers to the tables
// and heaps. No layout has the offsets of these members. The PEAssembly points to the object, which starts with
// a vtable of the runtime.
const (
	readerPointers = 128     // bytes of a PEAssembly to search for the pointer
	readerBytes    = 2 << 10 // bytes of an MDInternalRO to search for pointers
	readerHead     = 64      // the header starts within so many bytes
	schemaHead     = 24      // sizeof(CMiniMdSchemaBase)
	schemaTables   = 45      // entries of CMiniMdSchema::m_cRecs in all versions
	schemaBytes    = schemaHead + 4*schemaTables
)

// fitTables compares the tables of the runtime's reader with the file's. It returns the start of the reader's
// metadata, or 0.
func (m *Module) fitTables(md *metadata.Metadata, fit *FileFit) (root target.Addr) {
	reader := m.metadataReader()
	at, ok := findSchema(reader)
	if !ok {
		return 0
	}
	for i := range schemaTables {
		rows := binary.LittleEndian.Uint32(reader[at+schemaHead+4*i:])
		if want := md.RowCount(metadata.TableID(i)); rows != 0 || want != 0 {
			fit.Tables++
			if rows == want {
				fit.Placed++
			}
		}
	}
	if fit.Placed < fit.Tables {
		return 0
	}
	words := make(map[uint64]bool, len(reader)/8)
	for i := 0; i+8 <= len(reader); i += 8 {
		words[binary.LittleEndian.Uint64(reader[i:])] = true
	}
	places, most := md.Places(), 0
	if len(places) == 0 {
		return 0
	}
	for w := range words {
		n := 0
		for _, p := range places {
			if words[w+uint64(p.Off-places[0].Off)] {
				n++
			}
		}
		if n > most || n == most && target.Addr(w) < root {
			most, root = n, target.Addr(w)
		}
	}
	fit.Tables += len(places)
	fit.Placed += most
	return root - target.Addr(places[0].Off)
}

// fitRoot compares the offset of the metadata in the file with the file offset that the dump records for the
// mapping at root.
func (m *Module) fitRoot(root target.Addr, file *image.Image, rva image.RVA, fit *FileFit) {
	want, ok := file.FileOffset(rva)
	if !ok {
		return
	}
	for _, tm := range m.r.Target().Modules() {
		for _, p := range tm.Mappings {
			if p.Start <= root && root < p.End {
				fit.Tables++
				if p.Offset+uint64(root-p.Start) == want {
					fit.Placed++
				}
				return
			}
		}
	}
}

// metadataReader returns the start of the runtime's reader of the module's metadata, or nil if it is not in the dump.
func (m *Module) metadataReader() []byte {
	if m.PEAssembly == 0 {
		return nil
	}
	rd := layout.Reader{Mem: m.r.mem, Base: m.PEAssembly}
	for off := 0; off < readerPointers; off += 8 {
		p := rd.Ptr(off)
		if rd.Err != nil {
			return nil
		}
		if p == 0 || p%8 != 0 {
			continue
		}
		b := make([]byte, readerBytes)
		n, err := m.r.mem.ReadMemory(b, p)
		if err != nil && !errors.Is(err, target.ErrNotInDump) {
			continue
		}
		if n < 8 || !m.r.inst.Module.Contains(target.Addr(binary.LittleEndian.Uint64(b))) {
			continue
		}
		if _, ok := findSchema(b[:n]); ok {
			return b[:n]
		}
	}
	return nil
}

// findSchema finds the header of a table stream followed by its row counts: exactly the tables marked as
// present have rows.
func findSchema(b []byte) (at int, ok bool) {
	le := binary.LittleEndian
	for at = 0; at < readerHead && at+schemaBytes <= len(b); at += 8 {
		s := b[at:]
		valid := le.Uint64(s[8:])
		if le.Uint32(s) != 0 || s[4] == 0 || s[4] > 2 || valid&1 == 0 || valid>>schemaTables != 0 || bits.OnesCount64(valid) < 3 {
			continue
		}
		agree := true
		for i := range schemaTables {
			agree = agree && (le.Uint32(s[schemaHead+4*i:]) != 0) == (valid>>i&1 != 0)
		}
		if agree && le.Uint32(s[schemaHead:]) == 1 { // the Module table has one row
			return at, true
		}
	}
	return 0, false
}
