package metadata

// A column describes one column of a table. arg is the table, or the coded index, for the kinds that need one.
type column struct {
	kind columnKind
	arg  uint8
}

type columnKind uint8

const (
	kindU16 columnKind = iota
	kindU32
	kindString
	kindGUID
	kindBlob
	kindRow   // rid in table arg
	kindList  // first rid of a run in table arg, or in its Ptr table
	kindCoded // codedIndex arg
)

var (
	u16  = column{kind: kindU16}
	u32  = column{kind: kindU32}
	str  = column{kind: kindString}
	guid = column{kind: kindGUID}
	blob = column{kind: kindBlob}
)

func rowOf(t TableID) column    { return column{kindRow, uint8(t)} }
func listOf(t TableID) column   { return column{kindList, uint8(t)} }
func coded(c codedIndex) column { return column{kindCoded, uint8(c)} }

// maxColumns is the number of columns of the widest tables.
const maxColumns = 9

type cols []column

// schema holds the name and the columns of every table (ECMA-335 II.22; the Ptr tables, ENCLog and ENCMap as in the
// runtime's metamodelcolumndefs.h; portable PDB v1.0 from 0x30).
var schema = [numTables]struct {
	name string
	cols
}{
	TableModule:  {"Module", cols{u16, str, guid, guid, guid}},
	TableTypeRef: {"TypeRef", cols{coded(codedResolutionScope), str, str}},
	TableTypeDef: {"TypeDef", cols{
		u32, str, str, coded(codedTypeDefOrRef), listOf(TableField), listOf(TableMethodDef),
	}},
	TableFieldPtr:      {"FieldPtr", cols{rowOf(TableField)}},
	TableField:         {"Field", cols{u16, str, blob}},
	TableMethodPtr:     {"MethodPtr", cols{rowOf(TableMethodDef)}},
	TableMethodDef:     {"MethodDef", cols{u32, u16, u16, str, blob, listOf(TableParam)}},
	TableParamPtr:      {"ParamPtr", cols{rowOf(TableParam)}},
	TableParam:         {"Param", cols{u16, u16, str}},
	TableInterfaceImpl: {"InterfaceImpl", cols{rowOf(TableTypeDef), coded(codedTypeDefOrRef)}},
	TableMemberRef:     {"MemberRef", cols{coded(codedMemberRefParent), str, blob}},
	TableConstant:      {"Constant", cols{u16, coded(codedHasConstant), blob}},
	TableCustomAttribute: {"CustomAttribute", cols{
		coded(codedHasCustomAttribute), coded(codedCustomAttributeType), blob,
	}},
	TableFieldMarshal:    {"FieldMarshal", cols{coded(codedHasFieldMarshal), blob}},
	TableDeclSecurity:    {"DeclSecurity", cols{u16, coded(codedHasDeclSecurity), blob}},
	TableClassLayout:     {"ClassLayout", cols{u16, u32, rowOf(TableTypeDef)}},
	TableFieldLayout:     {"FieldLayout", cols{u32, rowOf(TableField)}},
	TableStandAloneSig:   {"StandAloneSig", cols{blob}},
	TableEventMap:        {"EventMap", cols{rowOf(TableTypeDef), listOf(TableEvent)}},
	TableEventPtr:        {"EventPtr", cols{rowOf(TableEvent)}},
	TableEvent:           {"Event", cols{u16, str, coded(codedTypeDefOrRef)}},
	TablePropertyMap:     {"PropertyMap", cols{rowOf(TableTypeDef), listOf(TableProperty)}},
	TablePropertyPtr:     {"PropertyPtr", cols{rowOf(TableProperty)}},
	TableProperty:        {"Property", cols{u16, str, blob}},
	TableMethodSemantics: {"MethodSemantics", cols{u16, rowOf(TableMethodDef), coded(codedHasSemantics)}},
	TableMethodImpl: {"MethodImpl", cols{
		rowOf(TableTypeDef), coded(codedMethodDefOrRef), coded(codedMethodDefOrRef),
	}},
	TableModuleRef:              {"ModuleRef", cols{str}},
	TableTypeSpec:               {"TypeSpec", cols{blob}},
	TableImplMap:                {"ImplMap", cols{u16, coded(codedMemberForwarded), str, rowOf(TableModuleRef)}},
	TableFieldRVA:               {"FieldRVA", cols{u32, rowOf(TableField)}},
	TableENCLog:                 {"ENCLog", cols{u32, u32}},
	TableENCMap:                 {"ENCMap", cols{u32}},
	TableAssembly:               {"Assembly", cols{u32, u16, u16, u16, u16, u32, blob, str, str}},
	TableAssemblyProcessor:      {"AssemblyProcessor", cols{u32}},
	TableAssemblyOS:             {"AssemblyOS", cols{u32, u32, u32}},
	TableAssemblyRef:            {"AssemblyRef", cols{u16, u16, u16, u16, u32, blob, str, str, blob}},
	TableAssemblyRefProcessor:   {"AssemblyRefProcessor", cols{u32, rowOf(TableAssemblyRef)}},
	TableAssemblyRefOS:          {"AssemblyRefOS", cols{u32, u32, u32, rowOf(TableAssemblyRef)}},
	TableFile:                   {"File", cols{u32, str, blob}},
	TableExportedType:           {"ExportedType", cols{u32, u32, str, str, coded(codedImplementation)}},
	TableManifestResource:       {"ManifestResource", cols{u32, u32, str, coded(codedImplementation)}},
	TableNestedClass:            {"NestedClass", cols{rowOf(TableTypeDef), rowOf(TableTypeDef)}},
	TableGenericParam:           {"GenericParam", cols{u16, u16, coded(codedTypeOrMethodDef), str}},
	TableMethodSpec:             {"MethodSpec", cols{coded(codedMethodDefOrRef), blob}},
	TableGenericParamConstraint: {"GenericParamConstraint", cols{rowOf(TableGenericParam), coded(codedTypeDefOrRef)}},

	TableDocument:               {"Document", cols{blob, guid, blob, guid}},
	TableMethodDebugInformation: {"MethodDebugInformation", cols{rowOf(TableDocument), blob}},
	TableLocalScope: {"LocalScope", cols{
		rowOf(TableMethodDef), rowOf(TableImportScope), rowOf(TableLocalVariable), rowOf(TableLocalConstant), u32, u32,
	}},
	TableLocalVariable:          {"LocalVariable", cols{u16, u16, str}},
	TableLocalConstant:          {"LocalConstant", cols{str, blob}},
	TableImportScope:            {"ImportScope", cols{rowOf(TableImportScope), blob}},
	TableStateMachineMethod:     {"StateMachineMethod", cols{rowOf(TableMethodDef), rowOf(TableMethodDef)}},
	TableCustomDebugInformation: {"CustomDebugInformation", cols{coded(codedHasCustomDebugInformation), guid, blob}},
}

// noTable marks a tag without a table, and a table without a Ptr table.
const noTable TableID = 0xFF

// ptrTable returns the Ptr table that lists of t go through if it has rows.
func ptrTable(t TableID) TableID {
	switch t {
	case TableField:
		return TableFieldPtr
	case TableMethodDef:
		return TableMethodPtr
	case TableParam:
		return TableParamPtr
	case TableEvent:
		return TableEventPtr
	case TableProperty:
		return TablePropertyPtr
	}
	return noTable
}

// A codedIndex is the type of a column with the table in its low bits (ECMA-335 II.24.2.6).
type codedIndex uint8

const (
	codedTypeDefOrRef codedIndex = iota
	codedHasConstant
	codedHasCustomAttribute
	codedHasFieldMarshal
	codedHasDeclSecurity
	codedMemberRefParent
	codedHasSemantics
	codedMethodDefOrRef
	codedMemberForwarded
	codedImplementation
	codedCustomAttributeType
	codedResolutionScope
	codedTypeOrMethodDef
	codedHasCustomDebugInformation
)

type codedTables struct {
	bits   uint8     // width of the tag
	tables []TableID // by tag
}

var codedIndexes = [...]codedTables{
	codedTypeDefOrRef:        {2, []TableID{TableTypeDef, TableTypeRef, TableTypeSpec}},
	codedHasConstant:         {2, []TableID{TableField, TableParam, TableProperty}},
	codedHasFieldMarshal:     {1, []TableID{TableField, TableParam}},
	codedHasDeclSecurity:     {2, []TableID{TableTypeDef, TableMethodDef, TableAssembly}},
	codedMemberRefParent:     {3, []TableID{TableTypeDef, TableTypeRef, TableModuleRef, TableMethodDef, TableTypeSpec}},
	codedHasSemantics:        {1, []TableID{TableEvent, TableProperty}},
	codedMethodDefOrRef:      {1, []TableID{TableMethodDef, TableMemberRef}},
	codedMemberForwarded:     {1, []TableID{TableField, TableMethodDef}},
	codedImplementation:      {2, []TableID{TableFile, TableAssemblyRef, TableExportedType}},
	codedCustomAttributeType: {3, []TableID{noTable, noTable, TableMethodDef, TableMemberRef, noTable}},
	codedResolutionScope:     {2, []TableID{TableModule, TableModuleRef, TableAssemblyRef, TableTypeRef}},
	codedTypeOrMethodDef:     {1, []TableID{TableTypeDef, TableMethodDef}},
	codedHasCustomAttribute: {5, []TableID{
		TableMethodDef, TableField, TableTypeRef, TableTypeDef, TableParam, TableInterfaceImpl,
		TableMemberRef, TableModule, TableDeclSecurity, TableProperty, TableEvent,
		TableStandAloneSig, TableModuleRef, TableTypeSpec, TableAssembly, TableAssemblyRef,
		TableFile, TableExportedType, TableManifestResource, TableGenericParam,
		TableGenericParamConstraint, TableMethodSpec,
	}},
	codedHasCustomDebugInformation: {5, []TableID{
		TableMethodDef, TableField, TableTypeRef, TableTypeDef, TableParam, TableInterfaceImpl,
		TableMemberRef, TableModule, TableDeclSecurity, TableProperty, TableEvent,
		TableStandAloneSig, TableModuleRef, TableTypeSpec, TableAssembly, TableAssemblyRef,
		TableFile, TableExportedType, TableManifestResource, TableGenericParam,
		TableGenericParamConstraint, TableMethodSpec, TableDocument, TableLocalScope,
		TableLocalVariable, TableLocalConstant, TableImportScope,
	}},
}

// decode splits a coded index. It returns false if the tag has no table or the rid does not fit a token.
func (c codedIndex) decode(v uint32) (Token, bool) {
	d := &codedIndexes[c]
	tag, rid := v&(1<<d.bits-1), v>>d.bits
	if int(tag) >= len(d.tables) || d.tables[tag] == noTable || rid > maxRID {
		return 0, false
	}
	return NewToken(d.tables[tag], rid), true
}

// encode is the inverse of decode. It returns false if the index cannot hold a token of that table.
func (c codedIndex) encode(t Token) (uint32, bool) {
	d := &codedIndexes[c]
	for tag, id := range d.tables {
		if id == t.Table() && id != noTable {
			return t.Row()<<d.bits | uint32(tag), true
		}
	}
	return 0, false
}
