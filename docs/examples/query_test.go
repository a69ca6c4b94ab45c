package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/query"
)

// Run a query.
func Example_query() {
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
	answer, err := v.Query(ctx, "from strings | where length > 60 && length < 99 | select length, text | top 3", query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range answer.Rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Cells[0].Plain(), row.Cells[1].Plain())
	}
	// Output:
	// 69 System.Runtime.Serialization.EnableUnsafeBinaryFormatterSerialization
	// 68 FACT type Debuggee.Zoo.Delegates+<>c__DisplayClass8_0 0x7f07a5ccdb28
	// 61 FACT type Debuggee.Zoo.Everything+<Count>d__20 0x7f07a5dd99c0
}
