package metadata

import "encoding/binary"

// The rows of the tables, decoded. Indexes of one table and coded indexes are tokens; the start of a list stays a
// number, because a list may go through a Ptr table. Section numbers are those of ECMA-335.
//
// Each accessor takes a rid, counted from 1. It fails with a *FormatError when the table has no such row or a column
// holds no valid token (the other columns are decoded then), and with a *MissingError when the row is not in the dump.

// A ModuleRow describes the module itself; it has one row (II.22.30).
type ModuleRow struct {
	Generation uint16 // EnC generation, 0 in a file
	Name       StringIndex
	MVID       GUIDIndex
	EncID      GUIDIndex
	EncBaseID  GUIDIndex
}

// Module decodes row rid of the Module table.
func (md *Metadata) Module(rid uint32) (ModuleRow, error) {
	r := md.row(TableModule, rid)
	v := ModuleRow{
		Generation: r.u16(0),
		Name:       StringIndex(r.u32(1)),
		MVID:       GUIDIndex(r.u32(2)),
		EncID:      GUIDIndex(r.u32(3)),
		EncBaseID:  GUIDIndex(r.u32(4)),
	}
	return v, r.err
}

// A TypeRefRow names a type of another scope (II.22.38).
type TypeRefRow struct {
	Scope     Token // Module, ModuleRef, AssemblyRef, or TypeRef of the enclosing type
	Name      StringIndex
	Namespace StringIndex
}

// TypeRef decodes row rid of the TypeRef table.
func (md *Metadata) TypeRef(rid uint32) (TypeRefRow, error) {
	r := md.row(TableTypeRef, rid)
	v := TypeRefRow{
		Scope:     r.coded(0, codedResolutionScope),
		Name:      StringIndex(r.u32(1)),
		Namespace: StringIndex(r.u32(2)),
	}
	return v, r.err
}

// A TypeDefRow defines a type (II.22.37).
type TypeDefRow struct {
	Flags      uint32 // TypeAttributes, II.23.1.15
	Name       StringIndex
	Namespace  StringIndex
	Extends    Token  // TypeDef, TypeRef or TypeSpec of the base type; nil for Object and interfaces
	FieldList  uint32 // first field; use Metadata.Fields
	MethodList uint32 // first method; use Metadata.Methods
}

// TypeDef decodes row rid of the TypeDef table.
func (md *Metadata) TypeDef(rid uint32) (TypeDefRow, error) {
	r := md.row(TableTypeDef, rid)
	v := TypeDefRow{
		Flags:      r.u32(0),
		Name:       StringIndex(r.u32(1)),
		Namespace:  StringIndex(r.u32(2)),
		Extends:    r.coded(3, codedTypeDefOrRef),
		FieldList:  r.u32(4),
		MethodList: r.u32(5),
	}
	return v, r.err
}

// A FieldRow defines a field (II.22.15).
type FieldRow struct {
	Flags     uint16 // FieldAttributes, II.23.1.5
	Name      StringIndex
	Signature BlobIndex
}

// Field decodes row rid of the Field table.
func (md *Metadata) Field(rid uint32) (FieldRow, error) {
	r := md.row(TableField, rid)
	v := FieldRow{Flags: r.u16(0), Name: StringIndex(r.u32(1)), Signature: BlobIndex(r.u32(2))}
	return v, r.err
}

// A MethodDefRow defines a method (II.22.26).
type MethodDefRow struct {
	RVA       uint32 // of the body; 0 when the method has no IL
	ImplFlags uint16 // MethodImplAttributes, II.23.1.10
	Flags     uint16 // MethodAttributes, II.23.1.11
	Name      StringIndex
	Signature BlobIndex
	ParamList uint32 // first parameter; use Metadata.Params
}

// MethodDef decodes row rid of the MethodDef table.
func (md *Metadata) MethodDef(rid uint32) (MethodDefRow, error) {
	r := md.row(TableMethodDef, rid)
	v := MethodDefRow{
		RVA:       r.u32(0),
		ImplFlags: r.u16(1),
		Flags:     r.u16(2),
		Name:      StringIndex(r.u32(3)),
		Signature: BlobIndex(r.u32(4)),
		ParamList: r.u32(5),
	}
	return v, r.err
}

// A ParamRow names a parameter (II.22.33).
type ParamRow struct {
	Flags    uint16 // ParamAttributes, II.23.1.13
	Sequence uint16 // 0 for the return value, else the position from 1
	Name     StringIndex
}

// Param decodes row rid of the Param table.
func (md *Metadata) Param(rid uint32) (ParamRow, error) {
	r := md.row(TableParam, rid)
	v := ParamRow{Flags: r.u16(0), Sequence: r.u16(1), Name: StringIndex(r.u32(2))}
	return v, r.err
}

// An InterfaceImplRow reports that a type implements an interface (II.22.23).
type InterfaceImplRow struct {
	Class     Token // TypeDef
	Interface Token // TypeDef, TypeRef or TypeSpec
}

// InterfaceImpl decodes row rid of the InterfaceImpl table.
func (md *Metadata) InterfaceImpl(rid uint32) (InterfaceImplRow, error) {
	r := md.row(TableInterfaceImpl, rid)
	v := InterfaceImplRow{Class: r.token(0, TableTypeDef), Interface: r.coded(1, codedTypeDefOrRef)}
	return v, r.err
}

// A MemberRefRow names a field or method of another type, or a vararg call site (II.22.25).
type MemberRefRow struct {
	Class     Token // TypeDef, TypeRef, ModuleRef, MethodDef or TypeSpec
	Name      StringIndex
	Signature BlobIndex
}

// MemberRef decodes row rid of the MemberRef table.
func (md *Metadata) MemberRef(rid uint32) (MemberRefRow, error) {
	r := md.row(TableMemberRef, rid)
	v := MemberRefRow{
		Class:     r.coded(0, codedMemberRefParent),
		Name:      StringIndex(r.u32(1)),
		Signature: BlobIndex(r.u32(2)),
	}
	return v, r.err
}

// A ConstantRow holds the compile-time value of a field, parameter or property (II.22.9).
type ConstantRow struct {
	Type   ElementType
	Parent Token // Field, Param or Property
	Value  BlobIndex
}

// Constant decodes row rid of the Constant table.
func (md *Metadata) Constant(rid uint32) (ConstantRow, error) {
	r := md.row(TableConstant, rid)
	v := ConstantRow{
		Type:   ElementType(r.u16(0)),
		Parent: r.coded(1, codedHasConstant),
		Value:  BlobIndex(r.u32(2)),
	}
	return v, r.err
}

// A CustomAttributeRow attaches a custom attribute (II.22.10).
type CustomAttributeRow struct {
	Parent Token
	Type   Token // MethodDef or MemberRef of the constructor
	Value  BlobIndex
}

// CustomAttribute decodes row rid of the CustomAttribute table.
func (md *Metadata) CustomAttribute(rid uint32) (CustomAttributeRow, error) {
	r := md.row(TableCustomAttribute, rid)
	v := CustomAttributeRow{
		Parent: r.coded(0, codedHasCustomAttribute),
		Type:   r.coded(1, codedCustomAttributeType),
		Value:  BlobIndex(r.u32(2)),
	}
	return v, r.err
}

// A ClassLayoutRow fixes the layout of a type (II.22.8).
type ClassLayoutRow struct {
	PackingSize uint16 // bytes
	ClassSize   uint32 // bytes
	Parent      Token  // TypeDef
}

// ClassLayout decodes row rid of the ClassLayout table.
func (md *Metadata) ClassLayout(rid uint32) (ClassLayoutRow, error) {
	r := md.row(TableClassLayout, rid)
	v := ClassLayoutRow{PackingSize: r.u16(0), ClassSize: r.u32(1), Parent: r.token(2, TableTypeDef)}
	return v, r.err
}

// A FieldLayoutRow fixes the offset of a field (II.22.16).
type FieldLayoutRow struct {
	Offset uint32 // bytes
	Field  Token
}

// FieldLayout decodes row rid of the FieldLayout table.
func (md *Metadata) FieldLayout(rid uint32) (FieldLayoutRow, error) {
	r := md.row(TableFieldLayout, rid)
	v := FieldLayoutRow{Offset: r.u32(0), Field: r.token(1, TableField)}
	return v, r.err
}

// A StandAloneSigRow holds a signature of local variables or of a calli site (II.22.36).
type StandAloneSigRow struct{ Signature BlobIndex }

// StandAloneSig decodes row rid of the StandAloneSig table.
func (md *Metadata) StandAloneSig(rid uint32) (StandAloneSigRow, error) {
	r := md.row(TableStandAloneSig, rid)
	v := StandAloneSigRow{Signature: BlobIndex(r.u32(0))}
	return v, r.err
}

// A ModuleRefRow names another module or a native library (II.22.31).
type ModuleRefRow struct{ Name StringIndex }

// ModuleRef decodes row rid of the ModuleRef table.
func (md *Metadata) ModuleRef(rid uint32) (ModuleRefRow, error) {
	r := md.row(TableModuleRef, rid)
	v := ModuleRefRow{Name: StringIndex(r.u32(0))}
	return v, r.err
}

// A TypeSpecRow holds the signature of a constructed type (II.22.39).
type TypeSpecRow struct{ Signature BlobIndex }

// TypeSpec decodes row rid of the TypeSpec table.
func (md *Metadata) TypeSpec(rid uint32) (TypeSpecRow, error) {
	r := md.row(TableTypeSpec, rid)
	v := TypeSpecRow{Signature: BlobIndex(r.u32(0))}
	return v, r.err
}

// An ImplMapRow binds a method to a native function (II.22.22).
type ImplMapRow struct {
	Flags       uint16 // PInvokeAttributes, II.23.1.8
	Member      Token  // Field or MethodDef
	ImportName  StringIndex
	ImportScope Token // ModuleRef
}

// ImplMap decodes row rid of the ImplMap table.
func (md *Metadata) ImplMap(rid uint32) (ImplMapRow, error) {
	r := md.row(TableImplMap, rid)
	v := ImplMapRow{
		Flags:       r.u16(0),
		Member:      r.coded(1, codedMemberForwarded),
		ImportName:  StringIndex(r.u32(2)),
		ImportScope: r.token(3, TableModuleRef),
	}
	return v, r.err
}

// A FieldRVARow gives the initial value of a static field (II.22.18).
type FieldRVARow struct {
	RVA   uint32
	Field Token
}

// FieldRVA decodes row rid of the FieldRVA table.
func (md *Metadata) FieldRVA(rid uint32) (FieldRVARow, error) {
	r := md.row(TableFieldRVA, rid)
	v := FieldRVARow{RVA: r.u32(0), Field: r.token(1, TableField)}
	return v, r.err
}

// An AssemblyRow describes the assembly; it has at most one row (II.22.2).
type AssemblyRow struct {
	HashAlgorithm uint32
	Version       [4]uint16 // major, minor, build, revision
	Flags         uint32    // AssemblyFlags, II.23.1.2
	PublicKey     BlobIndex
	Name          StringIndex
	Culture       StringIndex
}

// Assembly decodes row rid of the Assembly table.
func (md *Metadata) Assembly(rid uint32) (AssemblyRow, error) {
	r := md.row(TableAssembly, rid)
	v := AssemblyRow{
		HashAlgorithm: r.u32(0),
		Version:       [4]uint16{r.u16(1), r.u16(2), r.u16(3), r.u16(4)},
		Flags:         r.u32(5),
		PublicKey:     BlobIndex(r.u32(6)),
		Name:          StringIndex(r.u32(7)),
		Culture:       StringIndex(r.u32(8)),
	}
	return v, r.err
}

// An AssemblyRefRow names another assembly (II.22.5).
type AssemblyRefRow struct {
	Version          [4]uint16 // major, minor, build, revision
	Flags            uint32    // AssemblyFlags, II.23.1.2
	PublicKeyOrToken BlobIndex
	Name             StringIndex
	Culture          StringIndex
	HashValue        BlobIndex
}

// AssemblyRef decodes row rid of the AssemblyRef table.
func (md *Metadata) AssemblyRef(rid uint32) (AssemblyRefRow, error) {
	r := md.row(TableAssemblyRef, rid)
	v := AssemblyRefRow{
		Version:          [4]uint16{r.u16(0), r.u16(1), r.u16(2), r.u16(3)},
		Flags:            r.u32(4),
		PublicKeyOrToken: BlobIndex(r.u32(5)),
		Name:             StringIndex(r.u32(6)),
		Culture:          StringIndex(r.u32(7)),
		HashValue:        BlobIndex(r.u32(8)),
	}
	return v, r.err
}

// An ExportedTypeRow forwards a type or exports it from another file (II.22.14).
type ExportedTypeRow struct {
	Flags          uint32 // TypeAttributes, II.23.1.15
	TypeDefID      uint32 // hint of the TypeDef token in the other module
	Name           StringIndex
	Namespace      StringIndex
	Implementation Token // File, AssemblyRef, or ExportedType of the enclosing type
}

// ExportedType decodes row rid of the ExportedType table.
func (md *Metadata) ExportedType(rid uint32) (ExportedTypeRow, error) {
	r := md.row(TableExportedType, rid)
	v := ExportedTypeRow{
		Flags:          r.u32(0),
		TypeDefID:      r.u32(1),
		Name:           StringIndex(r.u32(2)),
		Namespace:      StringIndex(r.u32(3)),
		Implementation: r.coded(4, codedImplementation),
	}
	return v, r.err
}

// A NestedClassRow nests a type (II.22.32).
type NestedClassRow struct {
	Nested    Token // TypeDef
	Enclosing Token // TypeDef
}

// NestedClass decodes row rid of the NestedClass table.
func (md *Metadata) NestedClass(rid uint32) (NestedClassRow, error) {
	r := md.row(TableNestedClass, rid)
	v := NestedClassRow{Nested: r.token(0, TableTypeDef), Enclosing: r.token(1, TableTypeDef)}
	return v, r.err
}

// A GenericParamRow defines a generic parameter (II.22.20).
type GenericParamRow struct {
	Number uint16 // from 0
	Flags  uint16 // GenericParamAttributes, II.23.1.7
	Owner  Token  // TypeDef or MethodDef
	Name   StringIndex
}

// GenericParam decodes row rid of the GenericParam table.
func (md *Metadata) GenericParam(rid uint32) (GenericParamRow, error) {
	r := md.row(TableGenericParam, rid)
	v := GenericParamRow{
		Number: r.u16(0),
		Flags:  r.u16(1),
		Owner:  r.coded(2, codedTypeOrMethodDef),
		Name:   StringIndex(r.u32(3)),
	}
	return v, r.err
}

// A MethodSpecRow holds an instantiation of a generic method (II.22.29).
type MethodSpecRow struct {
	Method        Token // MethodDef or MemberRef
	Instantiation BlobIndex
}

// MethodSpec decodes row rid of the MethodSpec table.
func (md *Metadata) MethodSpec(rid uint32) (MethodSpecRow, error) {
	r := md.row(TableMethodSpec, rid)
	v := MethodSpecRow{Method: r.coded(0, codedMethodDefOrRef), Instantiation: BlobIndex(r.u32(1))}
	return v, r.err
}

// A DocumentRow names a source file (portable PDB).
type DocumentRow struct {
	Name          BlobIndex // document name blob; use Metadata.DocumentName
	HashAlgorithm GUIDIndex
	Hash          BlobIndex
	Language      GUIDIndex
}

// Document decodes row rid of the Document table.
func (md *Metadata) Document(rid uint32) (DocumentRow, error) {
	r := md.row(TableDocument, rid)
	v := DocumentRow{
		Name:          BlobIndex(r.u32(0)),
		HashAlgorithm: GUIDIndex(r.u32(1)),
		Hash:          BlobIndex(r.u32(2)),
		Language:      GUIDIndex(r.u32(3)),
	}
	return v, r.err
}

// A MethodDebugInformationRow holds the sequence points of the method with the same rid (portable PDB).
type MethodDebugInformationRow struct {
	Document       Token // nil when the method has none, or several
	SequencePoints BlobIndex
}

// MethodDebugInformation decodes row rid of the MethodDebugInformation table.
func (md *Metadata) MethodDebugInformation(rid uint32) (MethodDebugInformationRow, error) {
	r := md.row(TableMethodDebugInformation, rid)
	v := MethodDebugInformationRow{Document: r.token(0, TableDocument), SequencePoints: BlobIndex(r.u32(1))}
	return v, r.err
}

// A LocalScopeRow is a range of IL with its variables (portable PDB).
type LocalScopeRow struct {
	Method       Token // MethodDef
	ImportScope  Token
	VariableList uint32 // first variable; use Metadata.LocalVariables
	ConstantList uint32 // first constant
	StartOffset  uint32 // IL offset in bytes
	Length       uint32 // bytes of IL
}

// LocalScope decodes row rid of the LocalScope table.
func (md *Metadata) LocalScope(rid uint32) (LocalScopeRow, error) {
	r := md.row(TableLocalScope, rid)
	v := LocalScopeRow{
		Method:       r.token(0, TableMethodDef),
		ImportScope:  r.token(1, TableImportScope),
		VariableList: r.u32(2),
		ConstantList: r.u32(3),
		StartOffset:  r.u32(4),
		Length:       r.u32(5),
	}
	return v, r.err
}

// A LocalVariableRow names a local variable (portable PDB).
type LocalVariableRow struct {
	Attributes uint16 // 1: hidden from the debugger
	Index      uint16 // slot in the signature of the locals
	Name       StringIndex
}

// LocalVariable decodes row rid of the LocalVariable table.
func (md *Metadata) LocalVariable(rid uint32) (LocalVariableRow, error) {
	r := md.row(TableLocalVariable, rid)
	v := LocalVariableRow{Attributes: r.u16(0), Index: r.u16(1), Name: StringIndex(r.u32(2))}
	return v, r.err
}

// A row is an undecoded row. The first failure sticks in err; columns of a row that failed are zero.
type row struct {
	b   []byte // nil after a failure
	t   *table
	off int // of the row in the metadata
	err error
}

// row finds row rid of a table. It checks the rid and that the bytes are there.
func (md *Metadata) row(id TableID, rid uint32) row {
	t := &md.tables[id]
	if rid-1 >= t.rows { // rid 0 wraps around
		return row{err: corruptf(t.off, "row %d of table %s, which has %d", rid, id, t.rows)}
	}
	off := t.off + int(rid-1)*int(t.rowSize)
	end := off + int(t.rowSize)
	if md.available != nil {
		if err := md.need(off, int(t.rowSize)); err != nil {
			return row{err: err}
		}
	}
	return row{b: md.b[off:end:end], t: t, off: off}
}

// u32 reads column i, whatever its width.
func (r *row) u32(i int) uint32 {
	if r.b == nil {
		return 0
	}
	c := r.t.cols[i]
	if c.size == 2 {
		return uint32(binary.LittleEndian.Uint16(r.b[c.off:]))
	}
	return binary.LittleEndian.Uint32(r.b[c.off:])
}

// u16 reads column i, which is two bytes wide.
func (r *row) u16(i int) uint16 { return uint16(r.u32(i)) }

// token reads column i, an index of table id.
func (r *row) token(i int, id TableID) Token {
	v := r.u32(i)
	if v > maxRID {
		r.fail("row %d of table %s can't be", v, id)
		return 0
	}
	return NewToken(id, v)
}

// coded reads column i, a coded index.
func (r *row) coded(i int, c codedIndex) Token {
	v := r.u32(i)
	t, ok := c.decode(v)
	if !ok && r.b != nil {
		r.fail("coded index %#x", v)
	}
	return t
}

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(r.off, format, args...)
	}
}

// A CustomDebugInformationRow is a fact about another row that a compiler added (portable PDB).
type CustomDebugInformationRow struct {
	Parent Token
	Kind   GUIDIndex
	Value  BlobIndex
}

// CustomDebugInformation decodes row rid of the CustomDebugInformation table.
func (md *Metadata) CustomDebugInformation(rid uint32) (CustomDebugInformationRow, error) {
	r := md.row(TableCustomDebugInformation, rid)
	v := CustomDebugInformationRow{Parent: r.coded(0, codedHasCustomDebugInformation), Kind: GUIDIndex(r.u32(1)), Value: BlobIndex(r.u32(2))}
	return v, r.err
}
