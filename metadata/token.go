package metadata

import (
	"fmt"

	"github.com/sosgo/sosgo/target"
)

// A Token names a row of a table: the table in the high byte, the row's number (rid), counted from 1, in the
// low 24 bits (ECMA-335 III.1.9). Row 0 is nil.
type Token uint32

// NewToken makes the token of a row. A rid has 24 bits.
func NewToken(t TableID, rid uint32) Token { return Token(uint32(t)<<24 | rid&maxRID) }

// Table returns the table of the row.
func (t Token) Table() TableID { return TableID(t >> 24) }

// Row returns the rid, counted from 1; 0 is nil.
func (t Token) Row() uint32 { return uint32(t) & maxRID }

// IsNil reports whether the token has no row.
func (t Token) IsNil() bool { return t.Row() == 0 }

// String formats the token as eight hexadecimal digits.
func (t Token) String() string { return fmt.Sprintf("%08x", uint32(t)) }

// maxRID is the largest rid that a token can hold.
const maxRID = 0xFFFFFF

// A TableID numbers a metadata table (ECMA-335 II.22; portable PDB v1.0 for 0x30 and up).
type TableID uint8

// The metadata tables. The Ptr tables exist only in uncompressed (#-) metadata. UserStringHeap is the high byte
// of ldstr tokens, not a table.
const (
	TableModule                 TableID = 0x00
	TableTypeRef                TableID = 0x01
	TableTypeDef                TableID = 0x02
	TableFieldPtr               TableID = 0x03
	TableField                  TableID = 0x04
	TableMethodPtr              TableID = 0x05
	TableMethodDef              TableID = 0x06
	TableParamPtr               TableID = 0x07
	TableParam                  TableID = 0x08
	TableInterfaceImpl          TableID = 0x09
	TableMemberRef              TableID = 0x0A
	TableConstant               TableID = 0x0B
	TableCustomAttribute        TableID = 0x0C
	TableFieldMarshal           TableID = 0x0D
	TableDeclSecurity           TableID = 0x0E
	TableClassLayout            TableID = 0x0F
	TableFieldLayout            TableID = 0x10
	TableStandAloneSig          TableID = 0x11
	TableEventMap               TableID = 0x12
	TableEventPtr               TableID = 0x13
	TableEvent                  TableID = 0x14
	TablePropertyMap            TableID = 0x15
	TablePropertyPtr            TableID = 0x16
	TableProperty               TableID = 0x17
	TableMethodSemantics        TableID = 0x18
	TableMethodImpl             TableID = 0x19
	TableModuleRef              TableID = 0x1A
	TableTypeSpec               TableID = 0x1B
	TableImplMap                TableID = 0x1C
	TableFieldRVA               TableID = 0x1D
	TableENCLog                 TableID = 0x1E
	TableENCMap                 TableID = 0x1F
	TableAssembly               TableID = 0x20
	TableAssemblyProcessor      TableID = 0x21
	TableAssemblyOS             TableID = 0x22
	TableAssemblyRef            TableID = 0x23
	TableAssemblyRefProcessor   TableID = 0x24
	TableAssemblyRefOS          TableID = 0x25
	TableFile                   TableID = 0x26
	TableExportedType           TableID = 0x27
	TableManifestResource       TableID = 0x28
	TableNestedClass            TableID = 0x29
	TableGenericParam           TableID = 0x2A
	TableMethodSpec             TableID = 0x2B
	TableGenericParamConstraint TableID = 0x2C

	TableDocument               TableID = 0x30
	TableMethodDebugInformation TableID = 0x31
	TableLocalScope             TableID = 0x32
	TableLocalVariable          TableID = 0x33
	TableLocalConstant          TableID = 0x34
	TableImportScope            TableID = 0x35
	TableStateMachineMethod     TableID = 0x36
	TableCustomDebugInformation TableID = 0x37

	UserStringHeap TableID = 0x70
)

// numTables is the number of table ids that metadata can have rows for.
const numTables = 0x38

// String returns the table's name in the specification.
func (t TableID) String() string {
	if t == UserStringHeap {
		return "UserString"
	}
	if int(t) < len(schema) && schema[t].name != "" {
		return schema[t].name
	}
	return fmt.Sprintf("Table(%#x)", uint8(t))
}

// A StringIndex is an offset in the #Strings heap, in bytes.
type StringIndex uint32

// A BlobIndex is an offset in the #Blob heap, in bytes.
type BlobIndex uint32

// A GUIDIndex numbers an entry of the #GUID heap, counted from 1; 0 is nil.
type GUIDIndex uint32

// A GUID is an entry of the #GUID heap, stored as in target.GUID.
type GUID = target.GUID
