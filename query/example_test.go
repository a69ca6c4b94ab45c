package query_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/query"
)

// List the dogs of a program by the colour of their coat.
func Example() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	p, err := rows.Env(view.Process)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	q, err := query.Run(ctx, p, "from objects of Debuggee.Zoo.Animal | group by Coat | select count(), sum(Legs)", query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range q.Rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Cells[2].Plain(), row.Cells[0].Plain(), row.Cells[1].Plain())
	}
	e, err := query.Evaluate(ctx, p, `Debuggee.Zoo.Scenario.Root.Collections.ByName["key4"] + 1`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Values[0].Value.Plain())
	// Output:
	// Blue 13 52
	// 17
}
