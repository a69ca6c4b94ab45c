package stackexport_test

import (
	"log"
	"os"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/stackexport"
)

// Write the stacks of three threads for a flame graph.
func ExampleFolded() {
	p := answer.NewProfile()
	program := p.Frame(answer.ProfileFrame{Name: "Program.Main()"})
	wait := p.Frame(answer.ProfileFrame{Name: "Monitor.Wait(Object)"})
	parse := p.Frame(answer.ProfileFrame{Name: "Parser.Next()"})
	p.Threads = []answer.ProfileStack{ // frames from the leaf on
		{OSID: 1, Frames: []int{wait, program}},
		{OSID: 2, Frames: []int{parse, program}},
		{OSID: 3, Frames: []int{wait, program}},
	}
	if err := stackexport.Folded(os.Stdout, p, stackexport.FoldedOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Program.Main();Monitor.Wait(Object) 2
	// Program.Main();Parser.Next() 1
}
