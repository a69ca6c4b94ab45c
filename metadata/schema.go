package metadata

// A column describes one column of a table: its kind and, for an index, the table or the coded index that it holds.
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

// schema holds the columns of every table (ECMA-335 II.22; the Ptr tables, ENCLog and ENCMap as in the runtime's
// metamodelcolumndefs.h; portable PDB v1.0 from 0x30).
var schema = [numTables][]column{
	TableModule:                 {u16, str, guid, guid, guid},
	TableTypeRef:                {coded(codedResolutionScope), str, str},
	TableTypeDef:                {u32, str, str, coded(codedTypeDefOrRef), listOf(TableField), listOf(TableMethodDef)},
	TableFieldPtr:               {rowOf(TableField)},
	TableField:                  {u16, str, blob},
	TableMethodPtr:              {rowOf(TableMethodDef)},
	TableMethodDef:              {u32, u16, u16, str, blob, listOf(TableParam)},
	TableParamPtr:               {rowOf(TableParam)},
	TableParam:                  {u16, u16, str},
	TableInterfaceImpl:          {rowOf(TableTypeDef), coded(codedTypeDefOrRef)},
	TableMemberRef:              {coded(codedMemberRefParent), str, blob},
	TableConstant:               {u16, coded(codedHasConstant), blob},
	TableCustomAttribute:        {coded(codedHasCustomAttribute), coded(codedCustomAttributeType), blob},
	TableFieldMarshal:           {coded(codedHasFieldMarshal), blob},
	TableDeclSecurity:           {u16, coded(codedHasDeclSecurity), blob},
	TableClassLayout:            {u16, u32, rowOf(TableTypeDef)},
	TableFieldLayout:            {u32, rowOf(TableField)},
	TableStandAloneSig:          {blob},
	TableEventMap:               {rowOf(TableTypeDef), listOf(TableEvent)},
	TableEventPtr:               {rowOf(TableEvent)},
	TableEvent:                  {u16, str, coded(codedTypeDefOrRef)},
	TablePropertyMap:            {rowOf(TableTypeDef), listOf(TableProperty)},
	TablePropertyPtr:            {rowOf(TableProperty)},
	TableProperty:               {u16, str, blob},
	TableMethodSemantics:        {u16, rowOf(TableMethodDef), coded(codedHasSemantics)},
	TableMethodImpl:             {rowOf(TableTypeDef), coded(codedMethodDefOrRef), coded(codedMethodDefOrRef)},
	TableModuleRef:              {str},
	TableTypeSpec:               {blob},
	TableImplMap:                {u16, coded(codedMemberForwarded), str, rowOf(TableModuleRef)},
	TableFieldRVA:               {u32, rowOf(TableField)},
	TableENCLog:                 {u32, u32},
	TableENCMap:                 {u32},
	TableAssembly:               {u32, u16, u16, u16, u16, u32, blob, str, str},
	TableAssemblyProcessor:      {u32},
	TableAssemblyOS:             {u32, u32, u32},
	TableAssemblyRef:            {u16, u16, u16, u16, u32, blob, str, str, blob},
	TableAssemblyRefProcessor:   {u32, rowOf(TableAssemblyRef)},
	TableAssemblyRefOS:          {u32, u32, u32, rowOf(TableAssemblyRef)},
	TableFile:                   {u32, str, blob},
	TableExportedType:           {u32, u32, str, str, coded(codedImplementation)},
	TableManifestResource:       {u32, u32, str, coded(codedImplementation)},
	TableNestedClass:            {rowOf(TableTypeDef), rowOf(TableTypeDef)},
	TableGenericParam:           {u16, u16, coded(codedTypeOrMethodDef), str},
	TableMethodSpec:             {coded(codedMethodDefOrRef), blob},
	TableGenericParamConstraint: {rowOf(TableGenericParam), coded(codedTypeDefOrRef)},

	TableDocument:               {blob, guid, blob, guid},
	TableMethodDebugInformation: {rowOf(TableDocument), blob},
	TableLocalScope:             {rowOf(TableMethodDef), rowOf(TableImportScope), rowOf(TableLocalVariable), rowOf(TableLocalConstant), u32, u32},
	TableLocalVariable:          {u16, u16, str},
	TableLocalConstant:          {str, blob},
	TableImportScope:            {rowOf(TableImportScope), blob},
	TableStateMachineMethod:     {rowOf(TableMethodDef), rowOf(TableMethodDef)},
	TableCustomDebugInformation: {coded(codedHasCustomDebugInformation), guid, blob},
}

// noTable marks a tag that no table has, and a table without a Ptr table.
const noTable TableID = 0xFF

// ptrTable returns the table that a list goes through when it has rows.
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

// A codedIndex is a column whose low bits select the table (ECMA-335 II.24.2.6).
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

// decode splits a coded index. It reports false when the tag has no table or the rid does not fit a token.
func (c codedIndex) decode(v uint32) (Token, bool) {
	d := &codedIndexes[c]
	tag, rid := v&(1<<d.bits-1), v>>d.bits
	if int(tag) >= len(d.tables) || d.tables[tag] == noTable || rid > maxRID {
		return 0, false
	}
	return NewToken(d.tables[tag], rid), true
}

// encode returns the inverse of decode. It reports false when the index can't hold a token of that table.
func (c codedIndex) encode(t Token) (uint32, bool) {
	d := &codedIndexes[c]
	for tag, id := range d.tables {
		if id == t.Table() && id != noTable {
			return t.Row()<<d.bits | uint32(tag), true
		}
	}
	return 0, false
}
