package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// List the runtimes of a process, and look at it as each of them sees it.
func Example_runtimes() {
	d, err := sosgo.Open("../../testdata/dumps/sxs/sxs.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	for _, inst := range d.Runtimes() {
		v, err := d.View(inst.Version()) // the start of the version is enough
		if err != nil {
			log.Fatal(err)
		}
		threads, err := v.Threads()
		if err != nil {
			log.Fatal(err)
		}
		managed := 0
		for _, t := range threads {
			if t.Managed != nil {
				managed++
			}
		}
		fmt.Println(inst.Flavor, inst.Version(), "managed threads:", managed)
	}
	// Output:
	// .NET Core 8.0.3326.52219 managed threads: 2
	// .NET Core 10.0.1426.52326 managed threads: 2
}
