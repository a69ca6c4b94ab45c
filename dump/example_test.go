package dump_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dump"
)

// Open a dump of any system, and list the stored memory that one file is mapped to.
func ExampleOpen() {
	f, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	p := f.Platform()
	fmt.Println(f.Format, f.Compressed, p.OS, p.Arch, len(f.Threads()), "threads")
	for r := range f.Regions() {
		if r.Path == "/app/net10/Debuggee" && r.Stored > 0 {
			fmt.Println(r.Start, r.Prot, r.Stored, "of", r.Size)
		}
	}
	// Output:
	// ELF core zstd linux x64 10 threads
	// 000055790a84d000 r-- 4096 of 4096
	// 000055790a853000 r-- 4096 of 4096
	// 000055790a854190 r-- 3696 of 3696
	// 000055790a85f000 r-- 2736 of 2736
	// 000055790a860000 r-- 4096 of 4096
}
