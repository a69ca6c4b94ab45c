package malloc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/image/malloc"
)

// Count the bytes that malloc has allocated in the main arena.
func ExampleAllocator_Chunks() {
	d, err := sosgo.Open("../../../testdata/dumps/native/net10-malloc/net10-malloc.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	a, err := malloc.Open(d.Target(), d.Memory())
	if err != nil {
		log.Fatal(err)
	}
	var bytes uint64
	for c, err := range a.Chunks(context.Background(), &a.Arenas[0]) {
		if err != nil {
			log.Fatal(err)
		}
		if c.State == malloc.ChunkInUse {
			bytes += c.Size
		}
	}
	fmt.Println(len(a.Arenas), "arenas;", bytes, "bytes in use in the first")
	// Output:
	// 9 arenas; 1816400 bytes in use in the first
}
