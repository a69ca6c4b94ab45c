package shapes_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects/shapes"
)

// A Timer is the shape of a System.Threading.Timer with its callback.
type Timer struct {
	_     shapes.Type `of:"System.Threading.TimerQueueTimer"`
	Due   shapes.Int  `field:"_dueTime|m_dueTime"`
	Every shapes.Int  `field:"_period|m_period"`
	Call  shapes.Ref  `field:"_timerCallback|m_timerCallback"`
}

// List all timers of the process.
func Example() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
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
	for timer, err := range shapes.On[*Timer](context.Background(), binder, h, nil, heap.ScanOptions{}) {
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
