package objecttext

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// TestCleanupBlocks checks that SOS's table has a row for each block and no row for an unreadable or empty list.
func TestCleanupBlocks(t *testing.T) {
	text := func(sos bool, blocks answer.Maybe[[]target.Addr]) string {
		return page(sos, func(p *report.Page) { cleanupBlocks(p, blocks) })
	}
	const head = "       SyncBlock              RCW              CCW  ComClassFactory\n"
	none, two := answer.Known([]target.Addr{}), answer.Known([]target.Addr{0x7f0012345678, 0x5000})
	assert.Equal(t, head+"SyncBlocks to be cleaned up: 0\n", text(true, none))
	assert.Equal(t, head+
		"    7f0012345678  <not supported>  <not supported>  <not supported>\n"+
		"    000000005000  <not supported>  <not supported>  <not supported>\n"+
		"SyncBlocks to be cleaned up: 2\n", text(true, two))
	assert.Empty(t, text(false, none))
	assert.Equal(t, "2 sync blocks wait to be cleaned up by the finalizer thread\n", text(false, two))
	unread := answer.Of[[]target.Addr](nil, target.ErrNotInDump)
	assert.Empty(t, text(true, unread)+text(false, unread))
}

// TestInterfaces: where there is COM, what waits for its release is not known, and is not called none.
func TestInterfaces(t *testing.T) {
	text := func(com bool) string { return page(true, func(p *report.Page) { sosInterfaces(p, com) }) }
	assert.Contains(t, text(false), "\nMTA Interfaces to be released: 0\n")
	assert.Contains(t, text(true), "\nMTA Interfaces to be released: <not supported>\n")
	assert.NotContains(t, text(true), ": 0")
}
