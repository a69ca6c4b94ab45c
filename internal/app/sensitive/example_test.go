package sensitive_test

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

var scan heap.ScanOptions

func ExampleSettings() {
	m := secrets.NewMasker()
	sensitive.Settings(m, &answer.Process{Environment: []answer.NamedValue{{Name: "DB_PASSWORD", Value: answer.Text{S: "tiger-99"}}}})
	fmt.Println(m.Text("could not log in with tiger-99"))
	// Output: could not log in with <hidden>
}
