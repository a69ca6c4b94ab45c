package words_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/words"
)

// Make a sentence, and list its arguments with their positions.
func Example() {
	s := words.Starved.Of(words.N(23), words.N(2))
	fmt.Println(s.Text)
	for _, a := range s.Args {
		fmt.Println(a.Name, a.Type, *a.Number, s.Text[a.Start:a.End])
	}
	// Output:
	// the pool is starved: 23 items wait for a worker, and all 2 workers wait for something themselves
	// items count 23 23
	// workers count 2 2
}
