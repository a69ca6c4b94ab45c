package ondumps_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
)

// desk is a dump of Desk.cs.
const desk = "../../../../testdata/dumps/waits/net10-desk/net10-desk.dmp.zst"

// TestDesk: a method that has entered a semaphore goes on while a worker writes to the console for it, also where no frame has a method of a stream, but
// only the call of native code.
func TestDesk(t *testing.T) {
	w := waitsOf(t, desk)
	for i := range w.Verdicts {
		assert.Contains(t, []answer.FindingKind{answer.NoFinding, answer.FindingEntryPoint}, w.Verdicts[i].Kind, w.Verdicts[i].Text)
	}
	waiting := 0
	for i := range w.Operations {
		if o := &w.Operations[i]; o.Name == "Desk.Program.printer.gate" {
			waiting += o.Count
			require.Len(t, o.Holders, 1)
			assert.Equal(t, "Desk.Printer.Print", o.Holders[0].Method.S)
		}
	}
	assert.Equal(t, 4, waiting)
}

// TestStubOfInstance: a stub that the runtime has made for calls of a generic method belongs to the type of the method,
// Desk.Logger<string>, which is not canonical. Stacks go on behind it.
func TestStubOfInstance(t *testing.T) {
	p := view(t, openCanned(t, desk)).Process
	walker, err := p.Walker()
	require.NoError(t, err)
	list, err := p.Threads()
	require.NoError(t, err)
	var names []string
	for i := range list {
		if list[i].OS == nil || list[i].Managed == nil {
			continue
		}
		for f := range walker.Walk(t.Context(), list[i].Managed, list[i].OS.Registers, stackwalk.WalkOptions{}) {
			require.NoError(t, f.Missing())
			md, err := f.Method()
			require.NoError(t, err)
			if f.Kind == stackwalk.FrameManaged {
				name, err := md.Name()
				require.NoError(t, err)
				names = append(names, name)
			}
		}
	}
	at := slices.Index(names, "Stand")
	require.GreaterOrEqual(t, at, 0)
	assert.Equal(t, []string{"Stand", "Log", "IL_STUB_InstantiatingStub", "Note"}, names[at:at+4])
}
