package stackscan_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
)

// List the strings that the registers and the stack of the first thread refer to.
func ExampleScanner_List() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	scanner, err := d.Scanner()
	if err != nil {
		log.Fatal(err)
	}
	list, err := d.Threads()
	if err != nil {
		log.Fatal(err)
	}
	t := stackwalk.ThreadByIndex(list, 0)
	stack, err := t.Stack(d.Target())
	if err != nil {
		log.Fatal(err)
	}
	var gaps answer.Gaps
	o := stackscan.Options{Ranges: stack.Ranges, Registers: &t.OS.Registers}
	for row, err := range scanner.List(context.Background(), o, &gaps) {
		if err == nil && row.Type.S == "System.String" {
			fmt.Println(row.Slot, row.Object, row.Value)
		}
	}
	// Output:
	// 00007ffd9b33dc40 00007efbcd82b588 "11486"
	// 00007ffd9b33dc80 00007f079cc00a00 "argument string"
	// 00007ffd9b33ddf0 00007efbcd805b80 "zoo"
	// 00007ffd9b33de00 00007efbcd805b80 "zoo"
	// 00007ffd9b33e380 00007efbcd805b80 "zoo"
	// 00007ffd9b33e3a8 00007efbcd805b80 "zoo"
}
