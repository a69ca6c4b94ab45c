package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

// TestMainWaitsForItsEnd checks that nothing is said of a Main that waits for a promise until the program ends, however it calls what waits, and that other threads
// with such waits block, as many as the thread pool counts.
func TestMainWaitsForItsEnd(t *testing.T) {
	p := newTrial(t, "Mains.cs")
	for _, kind := range []string{"call", "result", "delegate", "lambda", "guarded", "async", "foreach", "context", "multi", "reflect", "dynamic", "lazy", "tasks"} {
		t.Run(kind, func(t *testing.T) { assert.Empty(t, p.triage(t, kind).Findings) })
	}
	for kind, says := range map[string]string{"thread": ` "blocker 0", block in Mains.Service.Run`, "pool": "6 threads, the first 8 "} {
		t.Run(kind, func(t *testing.T) { first(t, p.triage(t, kind), answer.FindingBlocked, says) })
	}
}
