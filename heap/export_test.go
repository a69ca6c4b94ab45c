package heap

import "github.com/sosgo/sosgo/target"

// WithRuns is o with runs of n bytes.
func (o ScanOptions) WithRuns(n target.Addr) ScanOptions {
	o.runSize = n
	return o
}
