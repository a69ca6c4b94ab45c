package machocore_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/dump/machocore"
	"github.com/sosgo/sosgo/target"
)

// Open a core and list its threads and images. dump.Open opens cores of every kind.
func Example() {
	core, err := machocore.Open(target.BytesSource(small().Bytes()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(core.Platform().OS, core.Process().Command, len(core.Threads()), "threads")
	for _, m := range core.Modules() {
		fmt.Println(m.Base, m.Path)
	}
	// Output:
	// darwin /app/Program 2 threads
	// 0000000100000000 /app/Program
	// 0000000102000000 /app/liba.dylib
	// 0000000200000000 /usr/lib/dyld
	// 0000000300000000 /usr/lib/libz.dylib
}
