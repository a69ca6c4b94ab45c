package commands

import (
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// methodRow is one method of a type in JSON.
type methodRow struct {
	Entry      report.Address `json:"entry" doc:"where calls go, 0x0 if the runtime has not made it yet"`
	MethodDesc report.Address `json:"methodDesc" doc:"address of the MethodDesc"`
	Code       string         `json:"code" doc:"\"JIT\", \"PreJIT\" (ahead of time), \"FCALL\" (in the runtime itself) or \"NONE\""`
	Slot       int            `json:"slot" doc:"in the type's table of methods"`
	Name       string         `json:"name,omitempty" doc:"type, name, generic arguments and parameters"`
}

func methodRows(c *cli.Context, rt *dac.Runtime, mt *dac.MethodTable) []methodRow {
	slots, err := methodSlots(rt, mt)
	if err != nil {
		c.Warn(err)
	}
	var out []methodRow
	for _, s := range slots {
		name, err := code.Of(rt).MethodName(s.Method, code.MethodFull)
		if err != nil {
			c.Warn(err)
		}
		out = append(out, methodRow{report.Address(s.Entry), report.Address(s.Method.Addr), compiled(c, rt, s), s.Slot, name})
	}
	return out
}

// printMethodTable prints the methods of a type, as dumpmt -md does.
func printMethodTable(c *cli.Context, mt *dac.MethodTable) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	slots, err := methodSlots(rt, mt)
	if err != nil {
		c.Warn(err)
	}
	c.Printf("--------------------------------------\nMethodDesc Table\n")
	t := report.NewColumnTable(c.Out, 16, 16, 6, -16, 0)
	if err := t.Row("Entry", "MethodDesc", "JIT", "Slot", "Name"); err != nil {
		return err
	}
	for _, s := range slots {
		name, err := code.Of(rt).MethodName(s.Method, code.MethodFull)
		if err := t.Row(report.Hex16(s.Entry), report.Hex16(s.Method.Addr), compiled(c, rt, s), report.Hex16(uint64(s.Slot)), textOr(c, name, err)); err != nil {
			return err
		}
	}
	return nil
}

// methodSlots lists a type's methods in SOS's order: since .NET 9 as the runtime
// has them, and before in the order of their slots.
func methodSlots(rt *dac.Runtime, mt *dac.MethodTable) ([]code.MethodSlot, error) {
	slots, err := code.Of(rt).MethodSlots(mt)
	if !rt.CanonicalForClass() {
		slices.SortStableFunc(slots, func(a, b code.MethodSlot) int { return a.Slot - b.Slot })
	}
	return slots, err
}

// compiled says where the code of a method comes from, in SOS's words.
func compiled(c *cli.Context, rt *dac.Runtime, s code.MethodSlot) string {
	entry, err := code.Of(rt).NativeCode(s.Method)
	if err != nil {
		c.Warn(err)
		return "NONE"
	}
	if kind, ok := codeKind(rt, entry); ok {
		return kind
	}
	if code.Of(rt).HasRuntimeCode(s.Method, entry) {
		return "FCALL"
	}
	return "NONE"
}

// codeKind is SOS's word for where code comes from.
func codeKind(rt *dac.Runtime, entry target.Addr) (string, bool) {
	if entry == 0 {
		return "", false
	}
	kind, err := code.Of(rt).KindAt(entry)
	switch {
	case err != nil || kind == code.Stub:
		return "", false
	case kind == code.ReadyToRun:
		return "PreJIT", true
	}
	return "JIT", true
}
