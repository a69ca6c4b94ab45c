package sqlpools_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/app/sqlpools"
)

// Mask the secrets in a connection string.
func ExampleMasked() {
	fmt.Println(sqlpools.Masked("Server=db;User ID=app;Password=very secret;Max Pool Size=4"))
	// Output:
	// Server=db;User ID=app;Password=***;Max Pool Size=4
}
