package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackwalk"
)

// Print the top of a stack with native frames, and with source files and lines where a PDB is found.
func Example_nativeFrames() {
	d, err := sosgo.Open("../../testdata/dumps/net10-crash-nested/net10-crash-nested.dmp.zst", sosgo.Options{Offline: true})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	threads, err := v.Threads()
	if err != nil {
		log.Fatal(err)
	}
	crashed := stackwalk.ThreadByID(threads, 0x3718)
	if crashed == nil {
		log.Fatal("no such thread")
	}
	o := sosgo.StackOptions{Native: true, Source: true, Limit: new(12), Threads: []*stackwalk.Thread{crashed}}
	stacks, err := v.Stacks(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	for frame, err := range stacks.Frames {
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case frame.Kind == answer.FrameNative:
			fmt.Println(frame.NativeName())
		case frame.Kind == answer.FrameExplicit:
			fmt.Println("[" + frame.Class + "]") // the runtime's own
		case frame.File != "":
			fmt.Printf("%s in %s:%d\n", frame.Name(), frame.File, frame.Line)
		default:
			fmt.Println(frame.Name())
		}
	}
	for _, note := range stacks.Noted() {
		fmt.Println("note:", note)
	}
	// Output:
	// libc.so.6+0xd3c17
	// libcoreclr.so+0x63c313
	// libcoreclr.so+0x63999d
	// libcoreclr.so+0x6398c9
	// libcoreclr.so+0x53957e
	// libcoreclr.so+0x5362c6
	// libcoreclr.so+0x535e49
	// libcoreclr.so+0x4ae3df
	// [SoftwareExceptionFrame]
	// Debuggee.Crash.Scenario.Submit(Int32)
	// libcoreclr.so+0x5faade
	// [SoftwareExceptionFrame]
}
