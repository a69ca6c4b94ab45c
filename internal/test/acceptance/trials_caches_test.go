package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestCachesWithBounds checks that a cache that is as large as its code lets it be is no finding, and that twins which only grow are.
func TestCachesWithBounds(t *testing.T) {
	p := newTrial(t, "Caches.cs")
	for _, kind := range []string{"Lru", "ConstLru", "Settable", "ByOptions", "Sought", "Swept", "Expiring"} {
		t.Run(kind, func(t *testing.T) { assert.Empty(t, p.triage(t, kind).Findings) })
	}
	for _, kind := range []string{"Grows", "SweptNot", "Sized"} {
		t.Run(kind, func(t *testing.T) { first(t, p.triage(t, kind), answer.FindingHolder, "most of it by 4,000 ") })
	}
}
