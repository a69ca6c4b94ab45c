package examples

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/export"
)

// Write the rows of the process as tables in Parquet, for DuckDB and others.
func Example_tables() {
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
	create := func(name string, write func(io.Writer) error) error {
		return write(io.Discard) // a program would create the file here
	}
	written, err := export.Tables(ctx, v.Process, export.TableOptions{Brief: true}, create)
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range written.Files {
		fmt.Println(file.Name, file.Rows)
	}
	// Output:
	// dump.parquet 1
	// findings.parquet 1
	// types.parquet 205
	// stacks.parquet 3
}
