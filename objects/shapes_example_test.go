package objects_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
)

// A Timer is the shape of a System.Threading.Timer with its callback.
type Timer struct {
	_     objects.Shape    `of:"System.Threading.TimerQueueTimer"`
	Due   objects.IntField `field:"_dueTime|m_dueTime"`
	Every objects.IntField `field:"_period|m_period"`
	Call  objects.RefField `field:"_timerCallback|m_timerCallback"`
}

// List all timers of the process.
func ExampleBindObject() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	h, err := view.Heap()
	if err != nil {
		log.Fatal(err)
	}
	binder, err := view.Shapes()
	if err != nil {
		log.Fatal(err)
	}
	for timer, err := range objects.BoundObjects[*Timer](context.Background(), binder, h, nil, heap.ScanOptions{}) {
		if err != nil {
			log.Print(err)
			continue
		}
		due, err := timer.Shape.Due.Uint(timer.At())
		if err != nil {
			log.Fatal(err)
		}
		callback, err := timer.Shape.Call.Object(timer.At())
		if err != nil {
			log.Fatal(err)
		}
		name, _ := binder.Definition(callback.Type)
		fmt.Println(due, name)
	}
	// Output:
	// 100000 System.Threading.TimerCallback
}
