package sandbox_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/front/sandbox"
)

// Call Enter after opening everything that the program needs.
func ExampleEnter() {
	enter := sandbox.Enter // not called here, since it cannot be undone
	fmt.Println(enter != nil)
	// Output: true
}
