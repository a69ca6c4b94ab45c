package crashreport_test

import (
	"fmt"
	"log"
	"os"

	"github.com/sosgo/sosgo/internal/dump/crashreport"
	"github.com/sosgo/sosgo/target"
)

// Read why a process crashed from its crash report.
func ExampleOpen() {
	b, err := os.ReadFile("testdata/net8-x64.crashreport.json")
	if err != nil {
		log.Fatal(err)
	}
	r, err := crashreport.Open(target.BytesSource(b), target.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	x := r.Crash()
	fmt.Printf("%s: thread %#x, %s\n", r.Process().Command, x.ThreadID, x.Exceptions[0].Type)
	for i := range x.Stack {
		fmt.Println(x.Stack[i].Method)
	}
	// Output:
	// Shop: thread 0x4d2, System.InvalidOperationException
	// Shop.Orders.Submit(Int32, System.String)
	// Shop.Program.Main(System.String[])
}
