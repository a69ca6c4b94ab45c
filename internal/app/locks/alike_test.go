package locks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestBlockedAlike checks that blocked groups only threads that block at one place, for the same methods, in the same
// way.
func TestBlockedAlike(t *testing.T) {
	g := &grapher{s: &survey{}, rows: map[*stackwalk.Thread]*answer.ThreadWait{}, circled: map[*wait]bool{}}
	add := func(method string, chain string, w wait) *wait {
		w.thread, w.tasks = &stackwalk.Thread{}, []target.Addr{target.Addr(len(g.s.waits) + 1)}
		if chain != "" {
			w.chain = []string{chain}
		}
		g.rows[w.thread] = &answer.ThreadWait{Method: answer.Text{S: method}}
		g.s.waits = append(g.s.waits, &w)
		return &w
	}
	first := add("Shop.Load", "Shop.LoadAsync", wait{})
	second := add("Shop.Load", "Shop.LoadAsync", wait{})
	elsewhere := add("Shop.Save", "Shop.LoadAsync", wait{})
	other := add("Shop.Load", "Shop.SaveAsync", wait{})
	limited := add("Shop.Load", "Shop.LoadAsync", wait{ends: words.EndsAtMost.Of(words.Duration(time.Second))})
	known := add("Shop.Load", "Shop.LoadAsync", wait{runners: []*stackwalk.Thread{{}}})
	nameless := add("", "Shop.LoadAsync", wait{})
	nameless2 := add("", "Shop.LoadAsync", wait{})
	add("Main", "Shop.Main", wait{entry: true})
	circled := add("Shop.Load", "Shop.LoadAsync", wait{})
	g.circled[circled] = true
	third := add("Shop.Load", "Shop.LoadAsync", wait{})

	groups := g.blocked()
	require.Len(t, groups, 7)
	assert.Equal(t, []*wait{first, second, third}, groups[0])
	for i, w := range []*wait{elsewhere, other, limited, known, nameless, nameless2} {
		assert.Equal(t, []*wait{w}, groups[i+1])
	}
}
