package metadata

import (
	"strings"
	"sync"
)

// An opcodeInfo describes an opcode.
type opcodeInfo struct {
	name    string
	operand OperandKind
}

// opcodeRuns lists the opcodes (ECMA-335 VI.C.2, III) in runs of consecutive codes with the same kind of
// operand.
var opcodeRuns = [...]struct {
	first   Opcode
	operand OperandKind
	names   string
}{
	{0x00, OperandNone, "nop break ldarg.0 ldarg.1 ldarg.2 ldarg.3 ldloc.0 ldloc.1 ldloc.2 ldloc.3 stloc.0 stloc.1"},
	{0x0C, OperandNone, "stloc.2 stloc.3"},
	{0x0E, OperandVar8, "ldarg.s ldarga.s starg.s ldloc.s ldloca.s stloc.s"},
	{0x14, OperandNone, "ldnull ldc.i4.m1 ldc.i4.0 ldc.i4.1 ldc.i4.2 ldc.i4.3 ldc.i4.4 ldc.i4.5 ldc.i4.6 ldc.i4.7"},
	{0x1E, OperandNone, "ldc.i4.8"},
	{0x1F, OperandInt8, "ldc.i4.s"},
	{0x20, OperandInt32, "ldc.i4"},
	{0x21, OperandInt64, "ldc.i8"},
	{0x22, OperandFloat32, "ldc.r4"},
	{0x23, OperandFloat64, "ldc.r8"},
	{0x25, OperandNone, "dup pop"},
	{0x27, OperandMethod, "jmp call"},
	{0x29, OperandSignature, "calli"},
	{0x2A, OperandNone, "ret"},
	{0x2B, OperandBranch8, "br.s brfalse.s brtrue.s beq.s bge.s bgt.s ble.s blt.s bne.un.s bge.un.s bgt.un.s"},
	{0x36, OperandBranch8, "ble.un.s blt.un.s"},
	{0x38, OperandBranch32, "br brfalse brtrue beq bge bgt ble blt bne.un bge.un bgt.un ble.un blt.un"},
	{0x45, OperandSwitch, "switch"},
	{0x46, OperandNone, "ldind.i1 ldind.u1 ldind.i2 ldind.u2 ldind.i4 ldind.u4 ldind.i8 ldind.i ldind.r4 ldind.r8"},
	{0x50, OperandNone, "ldind.ref stind.ref stind.i1 stind.i2 stind.i4 stind.i8 stind.r4 stind.r8 add sub mul div"},
	{0x5C, OperandNone, "div.un rem rem.un and or xor shl shr shr.un neg not conv.i1 conv.i2 conv.i4 conv.i8"},
	{0x6B, OperandNone, "conv.r4 conv.r8 conv.u4 conv.u8"},
	{0x6F, OperandMethod, "callvirt"},
	{0x70, OperandType, "cpobj ldobj"},
	{0x72, OperandString, "ldstr"},
	{0x73, OperandMethod, "newobj"},
	{0x74, OperandType, "castclass isinst"},
	{0x76, OperandNone, "conv.r.un"},
	{0x79, OperandType, "unbox"},
	{0x7A, OperandNone, "throw"},
	{0x7B, OperandField, "ldfld ldflda stfld ldsfld ldsflda stsfld"},
	{0x81, OperandType, "stobj"},
	{0x82, OperandNone, "conv.ovf.i1.un conv.ovf.i2.un conv.ovf.i4.un conv.ovf.i8.un conv.ovf.u1.un conv.ovf.u2.un"},
	{0x88, OperandNone, "conv.ovf.u4.un conv.ovf.u8.un conv.ovf.i.un conv.ovf.u.un"},
	{0x8C, OperandType, "box newarr"},
	{0x8E, OperandNone, "ldlen"},
	{0x8F, OperandType, "ldelema"},
	{0x90, OperandNone, "ldelem.i1 ldelem.u1 ldelem.i2 ldelem.u2 ldelem.i4 ldelem.u4 ldelem.i8 ldelem.i ldelem.r4"},
	{0x99, OperandNone, "ldelem.r8 ldelem.ref stelem.i stelem.i1 stelem.i2 stelem.i4 stelem.i8 stelem.r4 stelem.r8"},
	{0xA2, OperandNone, "stelem.ref"},
	{0xA3, OperandType, "ldelem stelem unbox.any"},
	{0xB3, OperandNone, "conv.ovf.i1 conv.ovf.u1 conv.ovf.i2 conv.ovf.u2 conv.ovf.i4 conv.ovf.u4 conv.ovf.i8"},
	{0xBA, OperandNone, "conv.ovf.u8"},
	{0xC2, OperandType, "refanyval"},
	{0xC3, OperandNone, "ckfinite"},
	{0xC6, OperandType, "mkrefany"},
	{0xD0, OperandToken, "ldtoken"},
	{0xD1, OperandNone, "conv.u2 conv.u1 conv.i conv.ovf.i conv.ovf.u add.ovf add.ovf.un mul.ovf mul.ovf.un sub.ovf"},
	{0xDB, OperandNone, "sub.ovf.un endfinally"},
	{0xDD, OperandBranch32, "leave"},
	{0xDE, OperandBranch8, "leave.s"},
	{0xDF, OperandNone, "stind.i conv.u"},
	{0xFE00, OperandNone, "arglist ceq cgt cgt.un clt clt.un"},
	{0xFE06, OperandMethod, "ldftn ldvirtftn"},
	{0xFE09, OperandVar16, "ldarg ldarga starg ldloc ldloca stloc"},
	{0xFE0F, OperandNone, "localloc"},
	{0xFE11, OperandNone, "endfilter"},
	{0xFE12, OperandUint8, "unaligned."},
	{0xFE13, OperandNone, "volatile. tail."},
	{0xFE15, OperandType, "initobj constrained."},
	{0xFE17, OperandNone, "cpblk initblk"},
	{0xFE19, OperandUint8, "no."},
	{0xFE1A, OperandNone, "rethrow"},
	{0xFE1C, OperandType, "sizeof"},
	{0xFE1D, OperandNone, "refanytype readonly."},
}

// opcodes returns two tables: opcodes of one byte, and opcodes after the prefix 0xFE by their second byte.
var opcodes = sync.OnceValue(func() *[2][256]opcodeInfo {
	var table [2][256]opcodeInfo
	for _, run := range opcodeRuns {
		for i, name := range strings.Fields(run.names) {
			code := int(run.first) + i
			table[min(1, code>>8)][code&0xFF] = opcodeInfo{name, run.operand}
		}
	}
	return &table
})
