package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/sorting"
)

type pair struct{ key, place int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// TestSort: lists have the order that package slices gives them, equal elements included where the order is stable.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 12, 13, 100, 5000} {
		given := make([]pair, n)
		for i := range given {
			given[i] = pair{r.IntN(n/3 + 1), i}
		}
		got, want := slices.Clone(given), slices.Clone(given)
		sorting.Stable(got, byKey)
		slices.SortStableFunc(want, byKey)
		assert.Equal(t, want, got, n)
		got = slices.Clone(given)
		sorting.Sort(got, byKey)
		assert.True(t, slices.IsSortedFunc(got, byKey), n)
		assert.ElementsMatch(t, given, got, n)
	}
}

func BenchmarkStable(b *testing.B) {
	given := make([]pair, 1000)
	for i := range given {
		given[i] = pair{i * 7919 % 1000, i}
	}
	for b.Loop() {
		sorting.Stable(slices.Clone(given), byKey)
	}
}

func TestKeys(t *testing.T) {
	assert.Equal(t, []string{"a", "b", "c"}, sorting.Keys(map[string]int{"b": 1, "c": 2, "a": 3}))
	assert.Nil(t, sorting.Keys(map[string]int{}))
}
