package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// List the streams of a minidump.
func Example_minidump() {
	d, err := sosgo.Open("../../testdata/dumps/win-net10-zoo/win-net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	file := d.File()
	m, err := minidump.Open(target.ReaderAtSource(file.Content(), file.Size)) // for a file of your own, an *os.File
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range m.Streams() {
		fmt.Println(s.Name(), s.Size)
	}
	// Output:
	// ThreadList 340
	// ThreadInfoList 460
	// ModuleList 4324
	// Token 744
	// Memory64List 42752
	// MemoryInfoList 24256
	// SystemInfo 56
	// MiscInfo 1364
	// SystemMemoryInfo 524
	// ProcessVmCounters 152
	// ThreadNames 76
}
