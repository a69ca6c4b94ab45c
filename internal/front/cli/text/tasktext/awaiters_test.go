package tasktext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// TestAwaitersHaveLines: each method of an asynchronous stack has a line of its own.
func TestAwaitersHaveLines(t *testing.T) {
	for want, w := range map[string]answer.AsyncWaiter{
		"    task 7f15b04d1380 waits asynchronously\n":                                                          {Task: 0x7f15b04d1380},
		"    task 7f15b04d1380 is awaited by A\n":                                                               {Task: 0x7f15b04d1380, Stack: []string{"A"}},
		"    task 7f15b04d1380 is awaited by A\n      which is awaited by B\n      which is awaited by C\x1b\n": {Task: 0x7f15b04d1380, Stack: []string{"A", "B", "C\x1b"}},
		"    task 7f15b04d1380 waits; a thread blocks on it\n":                                                  {Task: 0x7f15b04d1380, Blocked: true, Stack: []string{"A", "B"}},
	} {
		var b strings.Builder
		asyncWaiters(report.NewPage(&b, false, nil), []answer.AsyncWaiter{w})
		assert.Equal(t, strings.ReplaceAll(want, "\x1b", `\x1b`), b.String())
	}
	var b strings.Builder
	lost := answer.AsyncWaiter{Task: 0x10, Abandoned: true}
	asyncWaiters(report.NewPage(&b, false, nil), []answer.AsyncWaiter{lost, {Task: 0x20, Stack: []string{"A"}}, lost})
	assert.Equal(t, "    2 tasks, the first 000000000010, alike: each is awaited by no code\n    task 000000000020 is awaited by A\n", b.String())
}
