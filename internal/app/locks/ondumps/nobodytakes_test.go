package ondumps_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/locks"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// A dump with four full collections. The thread that took from "Gone" has ended; from the others code still takes that has an enumerator, a
// thread behind its wait, and a delegate in a static field.
const room = "../../../../testdata/dumps/waits/net10-room/net10-room.dmp.zst"

// fullQueues returns what is said of full collections, by the method that waits for room, with strength and severity in front.
func fullQueues(t *testing.T, d *sosgo.Dump) map[string]string {
	t.Helper()
	says := map[string]string{}
	v, err := d.View("")
	if err != nil {
		return says
	}
	w, err := locks.Waits(t.Context(), v.Process, locks.Options{})
	if err != nil {
		return says
	}
	for i := range w.Verdicts {
		if x := &w.Verdicts[i]; x.Kind == answer.FindingFull && len(x.Sites) > 0 {
			says[x.Sites[0].Method.S] = string(x.Strength) + " " + string(x.Severity) + ": " + x.Text
		}
	}
	return says
}

const noneTakes = "; no thread, suspended method or delegate that can still run takes from it"

// TestNobodyTakes checks that nobody is said to take from a collection only where that is so.
func TestNobodyTakes(t *testing.T) {
	says := fullQueues(t, openCanned(t, room))
	const unknown = "; the dump does not record who takes from it"
	require.Len(t, says, 4, says)
	assert.Contains(t, says["Shop.Room.AddGone"], noneTakes)
	for _, name := range []string{"Passed", "Ahead", "Stored"} {
		assert.Contains(t, says["Shop.Room.Add"+name], unknown, name)
		assert.True(t, strings.HasPrefix(says["Shop.Room.Add"+name], "possible warning: "), "a full queue slows down what adds to it: %s", says["Shop.Room.Add"+name])
	}
}

// TestNobodyTakesInHoles leaves out a page at a time of what shows who takes. A page may have had the root or the object through which code gets at the
// delegate, so nothing is said of the collections from which code still takes.
func TestNobodyTakesInHoles(t *testing.T) {
	d := openCanned(t, room)
	sound := &testdump.Altered{Target: d.Target()}
	whole := sound.Open(t, sosgo.Options{Offline: true})
	statics := []target.Addr{0x7f68a2cd3000, 0x7f68a3230000, 0x7f68a3231000} // what the runtime records of the static field with the delegate
	pages := map[target.Addr]bool{}
	for _, r := range sound.Reads(func() {
		v, err := whole.View("")
		require.NoError(t, err)
		_, err = v.Process.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
	}) {
		pages[r.Start&^0xfff] = true
	}
	list := slices.Sorted(maps.Keys(pages))
	require.NotEmpty(t, list)
	for _, a := range statics {
		require.Contains(t, list, a)
	}
	holes := statics
	for i := 0; i < len(list); i += max(1, len(list)/testcase.Part(t, 80, 16)) {
		holes = append(holes, list[i])
	}
	spoken := 0
	for _, a := range holes {
		hole := target.RangeAt(a, 0x1000)
		says := fullQueues(t, (&testdump.Altered{Target: d.Target(), Holes: []target.Range{hole}}).Open(t, sosgo.Options{Offline: true}))
		for _, name := range []string{"Passed", "Ahead", "Stored"} {
			assert.NotContains(t, says["Shop.Room.Add"+name], noneTakes, "without %v", hole)
		}
		if strings.Contains(says["Shop.Room.AddGone"], noneTakes) {
			spoken++
		}
	}
	t.Logf("nobody takes from one of them, in spite of %d of %d holes", spoken, len(holes))
}
