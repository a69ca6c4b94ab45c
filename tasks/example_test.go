package tasks_test

import (
	"fmt"

	"github.com/sosgo/sosgo/tasks"
)

// What the flags of a task say, as a debugger shows them in hexadecimal.
func ExampleFlags() {
	f := tasks.Flags(0x200400)
	fmt.Println(f.Status(), f.Completed(), f.Names())
	// Output:
	// Faulted true [PromiseTask Faulted]
}
