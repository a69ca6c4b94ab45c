package pieces_test

import (
	"context"
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/export/pieces"
)

// Count the objects of each generation with two workers, as an encoder goes over a heap.
func ExampleInOrder() {
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
	h := &pieces.Heap{Graph: g, Objects: names, Jobs: 2}
	all := 0
	err = pieces.InOrder(context.Background(), h, pieces.None, func(_ struct{}, p *pieces.Piece, _ int) (int, error) {
		n := 0
		for o := p.From; o < p.To; o++ {
			if p.Generation(o) <= 2 {
				n++
			}
		}
		return n, nil
	}, func(n int) error { all += n; return nil })
	fmt.Println(err, all > 0, all <= g.Objects())
	// Output: <nil> true true
}
