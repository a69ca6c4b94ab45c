package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestKickoffName: the method of a state machine by the names of compilers.
func TestKickoffName(t *testing.T) {
	for full, want := range map[string]string{
		"Ns.Type+<Method>d__4":                          "Ns.Type.Method",
		"Ns.Type+<Method>d__4<Ns.Order>":                "Ns.Type.Method<Ns.Order>",
		"Ns.Type<Ns.A+B>+<Method>d__4":                  "Ns.Type<Ns.A+B>.Method",
		"Ns.Type+<>c+<<Method>b__0_1>d":                 "Ns.Type+<>c.<Method>b__0_1",
		"Ns.Type+<<Send>g__Core|83_0>d":                 "Ns.Type.<Send>g__Core|83_0",
		"Ns.Type+<Ns-IFace-Method>d__1":                 "Ns.Type.Ns.IFace.Method",
		"Ns.Type+VB$StateMachine_2_Method":              "Ns.Type.Method",
		"Ns.Type":                                       "Ns.Type",
		"Ns.Type+<Method>c__async0":                     "Ns.Type.Method",
		"Ns.Type+Nested":                                "Ns.Type+Nested",
		"Ns.Type+<Broken":                               "Ns.Type+<Broken",
		"Ns.Type+<>d__1":                                "Ns.Type+<>d__1",
		"Program+work@12":                               "Program+work@12",
		"Ns.Type+<Method>d__4<Ns.List<System.Int32>+X>": "Ns.Type.Method<Ns.List<System.Int32>+X>",
	} {
		assert.Equal(t, want, kickoffName(full), full)
	}
}

// TestVariableName: which variables became fields of those names.
func TestVariableName(t *testing.T) {
	for field, want := range map[string][2]string{
		"<point>5__2": {"point", variableLocal}, "text": {"text", variableParameter}, "<>4__this": {"this", variableThis}, "<>1__state": {}, "<>u__1": {},
		"<>7__wrap1": {}, "<>8__1": {}, "<i>5__2": {"i", variableLocal}, "$State": {}, "$VB$ResumableLocal_x$0": {"x", variableLocal}, "$VB$Me": {"this", variableThis},
		"$VB$Local_y": {"y", variableParameter}, "<broken": {}, "<own>__0": {"own", variableLocal}, "$this": {"this", variableThis}, "$PC": {}, "$awaiter0": {},
	} {
		name, kind := variableName(field)
		assert.Equal(t, want, [2]string{name, kind}, field)
	}
}
