package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
)

// List the segments of the heap, the GC handles and the finalizable objects.
func Example_gcHeap() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	h, err := v.Heap()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range h.Segments() {
		fmt.Println(s.Kind, s.Objects.Start, s.Objects.Size())
	}
	where, err := v.Where(ctx, 0x7efbcd80b550)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the dog is in generation", where.Generation)
	handles, err := v.Handles(ctx, heap.HandleStrong, heap.HandlePinned)
	if err != nil {
		log.Fatal(err)
	}
	for handle, err := range handles.Handles {
		if err != nil {
			log.Fatal(err)
		}
		if handle.Type == "Pinned" {
			fmt.Println(handle.Address, handle.ObjectType)
		}
	}
	queue, err := v.Finalizers(ctx, heap.FinalizerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range queue.Queues {
		fmt.Println("ready for finalization:", q.Ready.Count)
	}
	// Output:
	// Pinned 00007efbcb000028 8184
	// Generation2 00007efbcd000028 0
	// Generation1 00007efbcd400028 0
	// Generation0 00007efbcd800028 192672
	// Large 00007efbcdc00028 160056
	// Frozen 00007f079cc00008 19784
	// the dog is in generation 0
	// 00007f08241415f8 System.Object
	// ready for finalization: 0
}
