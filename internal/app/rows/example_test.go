package rows_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/rows"
	"github.com/sosgo/sosgo/query"
)

// Ask a question about all threads.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := rows.Query(context.Background(), d.Default(), "from threads | where name == 'zoo worker' | select count()", query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range out.Rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Cells[0].Plain())
	}
	// Output: 1
}
