package metadata

import "encoding/binary"

// The decoded rows of the tables. Indexes of one table and coded indexes become tokens. The start of a list
// stays a number, because a list may go through a Ptr table. Section numbers are from ECMA-335.
//
// Each accessor takes a rid, counted from 1. It returns a *FormatError if the table does not have the row or a
// column does not hold a valid token; other columns are still decoded. It returns a *MissingError if the row is
// not in the dump.

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
	return ModuleRow{r.u16(), r.str(), r.guid(), r.guid(), r.guid()}, r.end()
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
	return TypeRefRow{r.token(), r.str(), r.str()}, r.end()
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
	return TypeDefRow{r.u32(), r.str(), r.str(), r.token(), r.u32(), r.u32()}, r.end()
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
	return FieldRow{r.u16(), r.str(), r.blob()}, r.end()
}

// A MethodDefRow defines a method (II.22.26).
type MethodDefRow struct {
	RVA       uint32 // of the body; 0 for a method without IL
	ImplFlags uint16 // MethodImplAttributes, II.23.1.10
	Flags     uint16 // MethodAttributes, II.23.1.11
	Name      StringIndex
	Signature BlobIndex
	ParamList uint32 // first parameter; use Metadata.Params
}

// MethodDef decodes row rid of the MethodDef table.
func (md *Metadata) MethodDef(rid uint32) (MethodDefRow, error) {
	r := md.row(TableMethodDef, rid)
	return MethodDefRow{r.u32(), r.u16(), r.u16(), r.str(), r.blob(), r.u32()}, r.end()
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
	return ParamRow{r.u16(), r.u16(), r.str()}, r.end()
}

// An InterfaceImplRow reports that a type implements an interface (II.22.23).
type InterfaceImplRow struct {
	Class     Token // TypeDef
	Interface Token // TypeDef, TypeRef or TypeSpec
}

// InterfaceImpl decodes row rid of the InterfaceImpl table.
func (md *Metadata) InterfaceImpl(rid uint32) (InterfaceImplRow, error) {
	r := md.row(TableInterfaceImpl, rid)
	return InterfaceImplRow{r.token(), r.token()}, r.end()
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
	return MemberRefRow{r.token(), r.str(), r.blob()}, r.end()
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
	return ConstantRow{ElementType(r.u16()), r.token(), r.blob()}, r.end()
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
	return CustomAttributeRow{r.token(), r.token(), r.blob()}, r.end()
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
	return ClassLayoutRow{r.u16(), r.u32(), r.token()}, r.end()
}

// A FieldLayoutRow fixes the offset of a field (II.22.16).
type FieldLayoutRow struct {
	Offset uint32 // bytes
	Field  Token
}

// FieldLayout decodes row rid of the FieldLayout table.
func (md *Metadata) FieldLayout(rid uint32) (FieldLayoutRow, error) {
	r := md.row(TableFieldLayout, rid)
	return FieldLayoutRow{r.u32(), r.token()}, r.end()
}

// A StandAloneSigRow holds a signature of local variables or of a calli site (II.22.36).
type StandAloneSigRow struct{ Signature BlobIndex }

// StandAloneSig decodes row rid of the StandAloneSig table.
func (md *Metadata) StandAloneSig(rid uint32) (StandAloneSigRow, error) {
	r := md.row(TableStandAloneSig, rid)
	return StandAloneSigRow{r.blob()}, r.end()
}

// A ModuleRefRow names another module or a native library (II.22.31).
type ModuleRefRow struct{ Name StringIndex }

// ModuleRef decodes row rid of the ModuleRef table.
func (md *Metadata) ModuleRef(rid uint32) (ModuleRefRow, error) {
	r := md.row(TableModuleRef, rid)
	return ModuleRefRow{r.str()}, r.end()
}

// A TypeSpecRow holds the signature of a constructed type (II.22.39).
type TypeSpecRow struct{ Signature BlobIndex }

// TypeSpec decodes row rid of the TypeSpec table.
func (md *Metadata) TypeSpec(rid uint32) (TypeSpecRow, error) {
	r := md.row(TableTypeSpec, rid)
	return TypeSpecRow{r.blob()}, r.end()
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
	return ImplMapRow{r.u16(), r.token(), r.str(), r.token()}, r.end()
}

// A FieldRVARow gives the initial value of a static field (II.22.18).
type FieldRVARow struct {
	RVA   uint32
	Field Token
}

// FieldRVA decodes row rid of the FieldRVA table.
func (md *Metadata) FieldRVA(rid uint32) (FieldRVARow, error) {
	r := md.row(TableFieldRVA, rid)
	return FieldRVARow{r.u32(), r.token()}, r.end()
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
	return AssemblyRow{r.u32(), [4]uint16{r.u16(), r.u16(), r.u16(), r.u16()}, r.u32(), r.blob(), r.str(), r.str()}, r.end()
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
	return AssemblyRefRow{[4]uint16{r.u16(), r.u16(), r.u16(), r.u16()}, r.u32(), r.blob(), r.str(), r.str(), r.blob()}, r.end()
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
	return ExportedTypeRow{r.u32(), r.u32(), r.str(), r.str(), r.token()}, r.end()
}

// A NestedClassRow nests a type (II.22.32).
type NestedClassRow struct {
	Nested    Token // TypeDef
	Enclosing Token // TypeDef
}

// NestedClass decodes row rid of the NestedClass table.
func (md *Metadata) NestedClass(rid uint32) (NestedClassRow, error) {
	r := md.row(TableNestedClass, rid)
	return NestedClassRow{r.token(), r.token()}, r.end()
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
	return GenericParamRow{r.u16(), r.u16(), r.token(), r.str()}, r.end()
}

// A MethodSpecRow holds an instantiation of a generic method (II.22.29).
type MethodSpecRow struct {
	Method        Token // MethodDef or MemberRef
	Instantiation BlobIndex
}

// MethodSpec decodes row rid of the MethodSpec table.
func (md *Metadata) MethodSpec(rid uint32) (MethodSpecRow, error) {
	r := md.row(TableMethodSpec, rid)
	return MethodSpecRow{r.token(), r.blob()}, r.end()
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
	return DocumentRow{r.blob(), r.guid(), r.blob(), r.guid()}, r.end()
}

// A MethodDebugInformationRow holds the sequence points of the method with the same rid (portable PDB).
type MethodDebugInformationRow struct {
	Document       Token // nil if the method has no document, or several
	SequencePoints BlobIndex
}

// MethodDebugInformation decodes row rid of the MethodDebugInformation table.
func (md *Metadata) MethodDebugInformation(rid uint32) (MethodDebugInformationRow, error) {
	r := md.row(TableMethodDebugInformation, rid)
	return MethodDebugInformationRow{r.token(), r.blob()}, r.end()
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
	return LocalScopeRow{r.token(), r.token(), r.u32(), r.u32(), r.u32(), r.u32()}, r.end()
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
	return LocalVariableRow{r.u16(), r.u16(), r.str()}, r.end()
}

// A row is an undecoded row. Its methods other than column read one column after the other. err is the first failure;
// columns of a row that failed are zero.
type row struct {
	b    []byte // nil after a failure
	id   TableID
	next int // column that is read next
	t    *table
	off  int // of the row in the metadata
	err  error
}

// row returns row rid of a table. It checks the rid and that the bytes are in the dump.
func (md *Metadata) row(id TableID, rid uint32) row {
	t := &md.tables[id]
	if rid-1 >= t.rows { // rid 0 wraps around
		return row{id: id, err: corruptf(t.off, "row %d of table %s, which has %d", rid, id, t.rows)}
	}
	off := t.off + int(rid-1)*int(t.rowSize)
	end := off + int(t.rowSize)
	if md.available != nil {
		if err := md.need(off, int(t.rowSize)); err != nil {
			return row{id: id, err: err}
		}
	}
	return row{b: md.b[off:end:end], id: id, t: t, off: off}
}

// column returns column i, whatever its width.
func (r *row) column(i int) uint32 {
	if r.b == nil {
		return 0
	}
	c := r.t.cols[i]
	if c.size == 2 {
		return uint32(binary.LittleEndian.Uint16(r.b[c.off:]))
	}
	return binary.LittleEndian.Uint32(r.b[c.off:])
}

// u32 reads a number or the start of a list.
func (r *row) u32() uint32 {
	r.next++
	return r.column(r.next - 1)
}

func (r *row) u16() uint16      { return uint16(r.u32()) }
func (r *row) str() StringIndex { return StringIndex(r.u32()) }
func (r *row) guid() GUIDIndex  { return GUIDIndex(r.u32()) }
func (r *row) blob() BlobIndex  { return BlobIndex(r.u32()) }

// token reads an index of the table, or a coded index, that the schema has for the column.
func (r *row) token() Token {
	c := schema[r.id].cols[r.next]
	v := r.u32()
	switch {
	case c.kind == kindCoded:
		t, ok := codedIndex(c.arg).decode(v)
		if !ok && r.b != nil {
			r.fail("coded index %#x", v)
		}
		return t
	case v > maxRID:
		r.fail("row %d of table %s can't be", v, TableID(c.arg))
		return 0
	}
	return NewToken(TableID(c.arg), v)
}

// end returns the first failure. An accessor calls it when it has read all columns.
func (r *row) end() error { return r.err }

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corruptf(r.off, format, args...)
	}
}

// A CustomDebugInformationRow holds a compiler's additional information about another row (portable PDB).
type CustomDebugInformationRow struct {
	Parent Token
	Kind   GUIDIndex
	Value  BlobIndex
}

// CustomDebugInformation decodes row rid of the CustomDebugInformation table.
func (md *Metadata) CustomDebugInformation(rid uint32) (CustomDebugInformationRow, error) {
	r := md.row(TableCustomDebugInformation, rid)
	return CustomDebugInformationRow{r.token(), r.guid(), r.blob()}, r.end()
}
