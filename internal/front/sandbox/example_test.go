package sandbox_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/front/sandbox"
)

// Open what is needed, and then nothing more.
func ExampleEnter() {
	enter := sandbox.Enter // not here: there is no way back
	fmt.Println(enter != nil)
	// Output: true
}
