package metadata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFormatTypeIL(t *testing.T) {
	w := newBuilder()
	w.row(TableModule, uint16(0), w.str("m.dll"), uint16(0), uint16(0), uint16(0))
	w.row(TableTypeRef, uint16(1<<2|2), w.str("Exception"), w.str("System")) // of AssemblyRef 1
	w.row(TableTypeRef, uint16(1<<2|3), w.str("Inner"), uint16(0))           // nested in TypeRef 1
	w.row(TableTypeDef, uint32(0), w.str("<Module>"), uint16(0), uint16(0), uint16(1), uint16(1))
	w.row(TableTypeDef, uint32(0), w.str("Outer"), w.str("Ns"), uint16(0), uint16(1), uint16(1))
	w.row(TableTypeDef, uint32(2), w.str("Own`1"), uint16(0), uint16(0), uint16(1), uint16(1))
	w.row(TableAssemblyRef, uint16(1), uint16(0), uint16(0), uint16(0), uint32(0), uint16(0), w.str("System.Runtime"), uint16(0), uint16(0))
	w.row(TableNestedClass, uint16(3), uint16(2))
	md, err := Parse(w.bytes())
	require.NoError(t, err)

	class := func(tok Token) *TypeSig { return &TypeSig{Kind: ElementClass, Token: tok} }
	prim := func(e ElementType) TypeSig { return TypeSig{Kind: e} }
	i4, str := prim(ElementI4), prim(ElementString)
	own := &TypeSig{Kind: ElementValueType, Token: NewToken(TableTypeDef, 3)}
	for want, sig := range map[string]TypeSig{
		"int32":                                  i4,
		"native uint":                            prim(ElementU),
		"class [System.Runtime]System.Exception": *class(NewToken(TableTypeRef, 1)),
		"class [System.Runtime]System.Exception/Inner": *class(NewToken(TableTypeRef, 2)),
		"valuetype [*]Ns.Outer/Own`1":                  *own,
		"valuetype [*]Ns.Outer/Own`1<int32,string>[]":  {Kind: ElementSZArray, Elem: &TypeSig{Kind: ElementGenericInst, Elem: own, Args: []TypeSig{i4, str}}},
		"!0&":              {Kind: ElementByRef, Elem: &TypeSig{Kind: ElementVar}},
		"!!2*":             {Kind: ElementPtr, Elem: &TypeSig{Kind: ElementMVar, Number: 2}},
		"int32[0...,0...]": {Kind: ElementArray, Elem: &i4, Shape: &ArrayShape{Rank: 2, LowerBounds: []int32{0, 0}}},
		"int32[,]":         {Kind: ElementArray, Elem: &i4, Shape: &ArrayShape{Rank: 2}},
		"int32[5...7]":     {Kind: ElementArray, Elem: &i4, Shape: &ArrayShape{Rank: 1, Sizes: []uint32{3}, LowerBounds: []int32{5}}},
		"int32 modreq([System.Runtime]System.Exception)": {Kind: ElementCModReqd, Token: NewToken(TableTypeRef, 1), Elem: &i4},
		"int32 pinned":           {Kind: ElementPinned, Elem: &i4},
		"method int32 *(string)": {Kind: ElementFnPtr, Method: &MethodSig{Return: i4, Params: []TypeSig{str}, Sentinel: -1}},
		"class [?]?":             *class(NewToken(TableTypeSpec, 1)),
		"class [*]?":             *class(NewToken(TableTypeDef, 99)),
	} {
		assert.Equal(t, want, md.FormatTypeIL(&sig))
	}
	vararg := MethodSig{Conv: CallVarArg, Params: []TypeSig{i4, str}, Sentinel: 1}
	assert.Equal(t, "(int32,...,string)", md.FormatParamsIL(&vararg))
	assert.Equal(t, "<int32>", md.FormatArgumentsIL([]TypeSig{i4}))
}
