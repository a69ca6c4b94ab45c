package dac

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestMangledNames checks that symbols get names from metadata, and other symbols stay as they are.
func TestMangledNames(t *testing.T) {
	m := mangle(map[target.Addr]nativeDefinition{
		1: {name: "System.Collections.Generic.List`1", assembly: "System.Private.CoreLib"},
		2: {name: "System.Int32", assembly: "System.Private.CoreLib"},
		3: {name: "Contoso.Orders.Depot+Shelf", assembly: "Contoso.Orders"},
		4: {name: "Program", assembly: "aot"},
		5: {name: "A.B_C", assembly: "x"},
		6: {name: "A.B.C", assembly: "x"},
	})
	for mangled, want := range map[string]string{
		"S_P_CoreLib_System_Int32":       "System.Int32",
		"Boxed_S_P_CoreLib_System_Int32": "System.Int32",
		"S_P_CoreLib_System_Collections_Generic_List_1<S_P_CoreLib_System_Int32>":                  "System.Collections.Generic.List<System.Int32>",
		"Contoso_Orders_Contoso_Orders_Depot_Shelf":                                                "Contoso.Orders.Depot+Shelf",
		"Contoso_Orders_Contoso_Orders_Order":                                                      "Contoso.Orders.Order",
		"S_P_CoreLib_System_Collections_Generic_List_1<Contoso_Orders_Contoso_Orders_Order,Other>": "System.Collections.Generic.List<Contoso.Orders.Order, Other>",
		"Other_Thing":     "Other_Thing",
		"x_A_B_C":         "x_A_B_C", // two types share it
		"__Array<Int32>":  "__Array<Int32>",
		"aot_Program___c": "aot_Program___c",
	} {
		symbol := "_ZTV" + strconv.Itoa(len(mangled)) + mangled
		got, ok := vtableType(symbol)
		assert.True(t, ok, symbol)
		assert.Equal(t, want, m.typeName(got), symbol)
	}
	for _, symbol := range []string{"RhpThrowEx", "_ZTV", "_ZTVx", "_ZTV3ab", "_ZTV99999999999999999999a", "_ZTV0"} {
		_, ok := vtableType(symbol)
		assert.False(t, ok, symbol)
	}
	assert.Equal(t, "Program.Main", m.method("aot_Program__Main"))
	assert.Equal(t, "Contoso.Orders.Depot+Shelf..ctor", m.method("Contoso_Orders_Contoso_Orders_Depot_Shelf___ctor"))
	assert.Equal(t, "Other_Thing__Go", m.method("Other_Thing__Go"))
	assert.Equal(t, "RhpThrowEx", m.method("RhpThrowEx"))
}

// TestMangledAlike checks that names mangled alike resolve independently of the order of types.
func TestMangledAlike(t *testing.T) {
	for range 50 { // orders of a map
		m := mangle(map[target.Addr]nativeDefinition{
			1: {name: "A_B.One", assembly: "x"},
			2: {name: "A.B.Two", assembly: "x"},
			3: {name: "A.B.C.D", assembly: "x"},
			4: {name: "A.B_C.D", assembly: "x"},
		})
		require.Equal(t, "A.B.Three", m.typeName("x_A_B_Three"))
		require.Equal(t, "x_A_B_C_D", m.typeName("x_A_B_C_D"))
		require.Equal(t, "A.B.C.E", m.typeName("x_A_B_C_E"))
	}
}
