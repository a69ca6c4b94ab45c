package sorting_test

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/internal/sorting"
)

func Example() {
	names := []string{"Worker", "main", "Finalizer"}
	sorting.Stable(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	fmt.Println(names)
	// Output: [Finalizer main Worker]
}
