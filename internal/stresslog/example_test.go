package stresslog_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/stresslog"
	"github.com/sosgo/sosgo/target"
)

// A plain names nothing.
type plain struct{}

func (plain) Method(target.Addr) (string, error) { return "", target.Unsupportedf("no names") }
func (plain) Code(target.Addr) (string, error)   { return "", target.Unsupportedf("no names") }

// List the messages of the stress log. View.StressLog does so with the names of methods.
func Example() {
	d, err := dump.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open()
	if err != nil {
		log.Fatal(err)
	}
	l, err := stresslog.Open(rt, plain{})
	if err != nil {
		log.Fatal(err)
	}
	a := l.Describe(context.Background(), 0)
	fmt.Println("enabled:", a.Enabled)
	for m, err := range a.Messages {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Seconds, m.Text)
	}
	// Output:
	// enabled: false
}
