package workers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/workers"
)

func TestLowest(t *testing.T) {
	var none workers.Lowest
	require.NoError(t, none.Err())
	none.Note(3, nil)
	require.NoError(t, none.Err())
	none.Note(math.MaxUint64, fmt.Errorf("the last place"))
	require.EqualError(t, none.Err(), "the last place")

	for range 50 {
		var l workers.Lowest
		var wg sync.WaitGroup
		for range 8 {
			order := rand.Perm(200)
			wg.Go(func() {
				for _, place := range order {
					l.Note(uint64(place), fmt.Errorf("at %d", place))
				}
			})
		}
		wg.Wait()
		assert.EqualError(t, l.Err(), "at 0")
	}
}
