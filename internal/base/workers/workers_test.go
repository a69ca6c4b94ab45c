package workers_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/workers"
)

// TestPanicReachesWaiter: without Group the panic would end the test's process.
func TestPanicReachesWaiter(t *testing.T) {
	var g workers.Group
	cause := errors.New("out of bounds")
	done := make(chan bool, 3)
	for i := range 4 {
		g.Go(func() {
			if i == 2 {
				panic(cause)
			}
			done <- true
		})
	}
	defer func() {
		p := workers.Caught(recover())
		assert.ErrorIs(t, p, cause)
		assert.Contains(t, string(p.Stack), "TestPanicReachesWaiter", "where it happened")
		assert.Len(t, done, 3, "the others ran to their end")
	}()
	g.Wait()
	t.Error("Wait returned")
}

func ExampleGroup() {
	var g workers.Group
	sums := make([]int, 3)
	for i := range sums {
		g.Go(func() { sums[i] = i * i })
	}
	g.Wait()
	fmt.Println(sums)
	// Output: [0 1 4]
}
