package elfcore_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/target"
)

// Open an ELF core that was already unpacked, and list its threads.
func ExampleOpen() {
	unpacked, err := dump.Open("../../../testdata/dumps/nativeaot-crash/nativeaot-crash.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer unpacked.Close()
	f, err := elfcore.Open(target.ReaderAtSource(unpacked.Content(), unpacked.Size))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Process().Command, len(f.Notes()), "notes")
	for _, t := range f.Threads() {
		ip, ok := t.Registers.IP()
		fmt.Println(t.ID, ip, ok, "signal", t.Signal)
	}
	// Output:
	// aot 12 notes
	// 24373 00007f99e5225c17 true signal 6
	// 24374 00007f99e51d7f16 true signal 0
	// 24375 00007f99e51d7f16 true signal 0
	// 24376 00007f99e524a2ec true signal 0
}
