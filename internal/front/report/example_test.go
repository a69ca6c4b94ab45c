package report_test

import (
	"log"
	"os"

	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Write a table on a page, as the commands do.
func ExamplePage_Table() {
	p := report.NewPage(os.Stdout, false, func(err error) { log.Print(err) })
	t := p.Table(
		report.Column{Name: "MT", Kind: report.Pointer, Fit: true},
		report.Column{Name: "Count", Kind: report.Integer, Fit: true},
		report.Column{Name: "Class Name", Kind: report.TypeName},
	)
	t.Header()
	t.Row(target.Addr(0x7f07a5b48748), 13, "Debuggee.Zoo.Dog")
	t.Row(target.Addr(0x7f07a5a7dd58), 1046, "System.String")
	if err := t.Flush(); err != nil {
		log.Fatal(err) // the first error of all that was written
	}
	// Output:
	// MT Count Class Name
	// 7f07a5b48748    13 Debuggee.Zoo.Dog
	// 7f07a5a7dd58 1,046 System.String
}
