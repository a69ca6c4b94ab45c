package process_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo/process"
)

// countThreads has the form of all functions that compute an answer.
func countThreads(ctx context.Context, p *process.Process) (int, error) {
	return process.Answer(ctx, p, func(_ context.Context, c *process.Call) (int, error) {
		list, err := c.ThreadList()
		return len(list), err
	})
}

// Compute an answer about a process.
func ExampleAnswer() {
	d, err := process.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", process.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	n, err := countThreads(context.Background(), d.Default())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n > 1)
	// Output: true
}

// longest returns the longest thread name of a process. It is computed once per process.
var longest = process.PerProcess(func(p *process.Process) (string, error) {
	list, err := p.Threads()
	name := ""
	for i := range list {
		if n, _ := list[i].Name(); len(n) > len(name) {
			name = n
		}
	}
	return name, err
})

// Keep a value with a process.
func ExamplePerProcess() {
	d, err := process.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", process.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	name, err := longest(d.Default())
	fmt.Println(name, err)
	// Output: .NET Timer <nil>
}
