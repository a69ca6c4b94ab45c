package doctor_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/doctor"
)

// triage is a dump of this project's tests with little more than stacks.
const triage = "../../../testdata/dumps/net10-crash-null-triage/net10-crash-null-triage.dmp.zst"

// Describe which parts are missing in a dump.
func Example() {
	d, err := sosgo.Open(triage, sosgo.Options{NoLocalFiles: true})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range doctor.Of(view.Process, doctor.Options{}).Parts {
		fmt.Printf("%s: %s, %s\n", p.Part, p.State, p.Detail)
	}
	// Output:
	// GC heap: missing, 0 of 19936 bytes in 1 segments; 5 more can't be read
	// thread stacks: whole, 8 of 8 threads
	// metadata: whole, 14 of 14 modules, 0 of them from files
	// precompiled code: in part, 605796 of 705312 bytes of the unwind tables of 10 images
}
