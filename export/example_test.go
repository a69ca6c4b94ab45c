package export_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/export"
	"github.com/sosgo/sosgo/query"
)

// Write the tables of a dump as CSV.
func ExampleTables() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	written, err := export.Tables(context.Background(), v.Process, export.TableOptions{Form: export.CSV, Brief: true},
		func(_ string, write func(io.Writer) error) error { return write(io.Discard) })
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range written.Files[:2] {
		fmt.Println(f.Name, f.Rows)
	}
	// Output:
	// dump.csv 1
	// findings.csv 1
}

// Write the rows of a query as CSV.
func ExampleQuery() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	q, err := v.Query(context.Background(), "from objects of Debuggee.Zoo.Dog | select Name, Legs, size | top 2", query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := export.Query(os.Stdout, q, export.QueryOptions{Form: export.CSV}); err != nil {
		log.Fatal(err) // rows are missing
	}
	// Output:
	// Name,Legs,size
	// hidden,4,56
	// hidden,4,56
}
