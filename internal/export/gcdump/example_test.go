package gcdump_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/gcdump"
	"github.com/sosgo/sosgo/internal/export/pieces"
)

// Write the heap of a dump for PerfView.
func ExampleWrite() {
	d, err := sosgo.Open("../../../testdata/dumps/net8-zoo/net8-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		panic(err)
	}
	g, err := v.Graph(context.Background(), graph.Options{})
	if err != nil {
		panic(err)
	}
	names, err := v.Objects()
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer
	s, err := gcdump.Write(context.Background(), &file, &pieces.Heap{Graph: g, Objects: names}, gcdump.Options{})
	fmt.Println(err, s.Objects+s.Garbage > 1000, file.Len() > 10000)
	// Output: <nil> true true
}
